/* feature_list.c -- lists of features: their files, their scales, their end. */
/* SPDX-License-Identifier: MIT */
#include "feature/feature_list.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

void trl_feature_list_free(trl_feature_list *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_properties; i++) {
        trl_word_regex_free(l->property[i].regex);
        trl_free(l->scale[i].mean);
        trl_free(l->scale[i].factor);
    }
    for (size_t i = 0; i < l->n_lists; i++)
        trl_word_list_fini(&l->list[i].own);
    trl_free(l->property);
    trl_free(l->scale);
    trl_free(l->term);
    trl_free(l->feature);
    trl_free(l->list);
    trl_free(l->column);
    trl_strtab_fini(&l->names);
    trl_buf_fini(&l->text);
    trl_free(l);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The path beside the template, unless it is absolute. */
static bool put_path(const char *name, trl_str path, trl_buf *out)
{
    const char *slash = strrchr(name, '/');
    if (slash && path.p[0] != '/')
        trl_buf_add(out, name, (size_t)(slash - name) + 1);
    for (size_t i = 0; i < path.n; i++) {
        i += path.p[i] == '\\' && i + 1 < path.n;
        trl_buf_ch(out, path.p[i]);
    }
    return trl_buf_ch(out, '\0') && !out->failed;
}

static trl_status open_list(trl_named_list *x, const char *name, trl_error *err)
{
    trl_buf path = {0};
    trl_input *in = NULL;
    trl_status st = put_path(name, x->path, &path) ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_input_open(path.data, &in, err);
    if (st == TRL_EIO)
        trl_fail_hint(err, st, "named in %s:%llu; a path is taken from the template's folder", name,
                      (unsigned long long)x->row);
    if (st == TRL_OK)
        st = trl_word_list_read(&x->own, x->kind, x->folded, in, err);
    x->view = trl_word_list_get(&x->own);
    trl_input_free(in);
    trl_buf_fini(&path);
    return st;
}

trl_status trl_feature_list_open(trl_feature_list *l, const char *name, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < l->n_lists; i++)
        st = open_list(&l->list[i], name, err);
    return st;
}

/* ---- scales ---------------------------------------------------------------------------------- */

bool trl_scale_init(trl_scale *s, size_t width)
{
    s->mean = trl_zalloc(width, sizeof *s->mean);
    s->factor = trl_zalloc(width, sizeof *s->factor);
    s->width = s->mean && s->factor ? width : 0;
    return s->mean && s->factor;
}

void trl_feature_list_learned(trl_feature_list *l)
{
    for (size_t i = 0; i < l->n_properties; i++) {
        trl_scale *s = &l->scale[i];
        for (size_t d = 0; d < s->width; d++) {
            const double variance = s->n ? s->factor[d] / (double)s->n : 0.0;
            s->factor[d] = variance > 0.0 ? 1.0 / sqrt(variance) : 0.0;
            if (!isfinite(s->factor[d]))
                s->factor[d] = 0.0; /* as good as constant */
        }
    }
}
