/* features_io.c -- word lists and scales of templates, to and from a container. */
/* SPDX-License-Identifier: MIT */
#include "model/features_io.h"

#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "model/strtab_io.h"

/* "wlists" */
typedef struct list_head {
    uint32_t kind, width;
} list_head;

static void make_tag(char tag[9], char what, size_t k)
{
    snprintf(tag, 9, "w%c%02zu", what, k % 100);
}

/* ---- writing --------------------------------------------------------------------------------- */

static trl_status save_list(const trl_named_list *x, size_t k, trl_container_builder *b,
                            trl_error *err)
{
    char tag[9];
    make_tag(tag, 'k', k);
    trl_status st = trl_strtab_save(&x->own.key, tag, b, err);
    if (x->kind == TRL_VECTORS) {
        make_tag(tag, 'v', k);
        trl_container_builder_add(b, tag, x->own.vector,
                                  x->own.key.n * x->own.width * sizeof *x->own.vector);
        return st;
    }
    make_tag(tag, 'n', k);
    if (st == TRL_OK)
        st = trl_strtab_save(&x->own.name, tag, b, err);
    make_tag(tag, 'i', k);
    trl_container_builder_add(b, tag, x->own.id, x->own.key.n * sizeof *x->own.id);
    return st;
}

static trl_status save_scales(const trl_feature_list *l, trl_container_builder *b, trl_error *err)
{
    trl_buf out = {0};
    for (size_t k = 0; k < l->n_properties; k++) {
        const trl_scale *s = &l->scale[k];
        const double width = (double)s->width;
        if (!l->property[k].dense)
            continue;
        trl_buf_add(&out, &width, sizeof width);
        if (s->width) {
            trl_buf_add(&out, s->mean, s->width * sizeof *s->mean);
            trl_buf_add(&out, s->factor, s->width * sizeof *s->factor);
        }
    }
    if (out.failed) {
        trl_buf_fini(&out);
        return trl_fail_mem(err);
    }
    trl_container_builder_give(b, "scales", out.data, out.len);
    return TRL_OK;
}

trl_status trl_features_save(const trl_feature_list *l, trl_container_builder *b, trl_error *err)
{
    trl_status st = TRL_OK;
    if (l->n_lists) {
        list_head *head = trl_alloc(l->n_lists, sizeof *head);
        if (!head)
            return trl_fail_mem(err);
        for (size_t k = 0; k < l->n_lists; k++)
            head[k] = (list_head){(uint32_t)l->list[k].kind, (uint32_t)l->list[k].own.width};
        trl_container_builder_give(b, "wlists", head, l->n_lists * sizeof *head);
    }
    for (size_t k = 0; st == TRL_OK && k < l->n_lists; k++)
        st = save_list(&l->list[k], k, b, err);
    return st == TRL_OK && l->learns ? save_scales(l, b, err) : st;
}

/* ---- loading --------------------------------------------------------------------------------- */

static trl_status load_vectors(trl_word_list_view *v, size_t k, const trl_container *c,
                               trl_error *err)
{
    char tag[9];
    const void *p;
    size_t n, want;
    make_tag(tag, 'v', k);
    const trl_status st = trl_container_array(c, tag, sizeof(float), &p, &n, err);
    if (st != TRL_OK)
        return st;
    v->vector = p;
    bool good = v->width > 0 && !__builtin_mul_overflow(v->key.n, v->width, &want) && n == want;
    for (size_t i = 0; good && i < n; i++)
        good = isfinite(v->vector[i]);
    return good ? TRL_OK : trl_container_damaged(c, err, "its vectors are none");
}

static trl_status load_ids(trl_word_list_view *v, size_t k, const trl_container *c, trl_error *err)
{
    char tag[9];
    const void *p = NULL;
    size_t n = 0;
    make_tag(tag, 'n', k);
    trl_status st = trl_strview_load(c, tag, &v->name, err);
    make_tag(tag, 'i', k);
    if (st == TRL_OK)
        st = trl_container_array(c, tag, sizeof *v->id, &p, &n, err);
    if (st != TRL_OK)
        return st;
    v->id = p;
    bool good = n == v->key.n;
    for (size_t i = 0; good && i < n; i++)
        good = v->id[i] <= v->name.n;
    return good ? TRL_OK : trl_container_damaged(c, err, "a list of words is none");
}

static trl_status load_list(trl_named_list *x, size_t k, const list_head *head,
                            const trl_container *c, trl_error *err)
{
    char tag[9];
    make_tag(tag, 'k', k);
    if (head->kind != (uint32_t)x->kind)
        return trl_container_damaged(c, err, "lists of words differ from the template");
    x->view.width = head->width;
    const trl_status st = trl_strview_load(c, tag, &x->view.key, err);
    if (st != TRL_OK)
        return st;
    return x->kind == TRL_VECTORS ? load_vectors(&x->view, k, c, err)
                                  : load_ids(&x->view, k, c, err);
}

/* One scale from *p on, of which *n numbers are left. */
static trl_status load_scale(trl_scale *s, const double **p, size_t *n, const trl_container *c,
                             trl_error *err)
{
    const double width = *n ? **p : -1.0;
    if (!(width >= 0.0 && width <= (double)((*n - 1) / 2)) || width != floor(width))
        return trl_container_damaged(c, err, "its scales are none");
    const size_t w = (size_t)width;
    if (w && !trl_scale_init(s, w))
        return trl_fail_mem(err);
    bool good = true;
    for (size_t d = 0; d < w; d++) {
        s->mean[d] = (*p)[1 + d];
        s->factor[d] = (*p)[1 + w + d];
        good = good && isfinite(s->mean[d]) && isfinite(s->factor[d]);
    }
    *p += 1 + 2 * w;
    *n -= 1 + 2 * w;
    return good ? TRL_OK : trl_container_damaged(c, err, "its scales are none");
}

static trl_status load_scales(trl_feature_list *l, const trl_container *c, trl_error *err)
{
    const void *bytes;
    size_t n;
    trl_status st = trl_container_array(c, "scales", sizeof(double), &bytes, &n, err);
    const double *p = bytes;
    for (size_t k = 0; st == TRL_OK && k < l->n_properties; k++) {
        const trl_property *q = &l->property[k];
        if (!q->dense)
            continue;
        st = load_scale(&l->scale[k], &p, &n, c, err);
        if (st == TRL_OK && q->fn == TRL_FN_LIST && l->scale[k].width &&
            l->scale[k].width != l->list[q->list].view.width)
            st = trl_container_damaged(c, err, "scales and vectors differ in width");
    }
    return st == TRL_OK && n ? trl_container_damaged(c, err, "there are too many scales") : st;
}

trl_status trl_features_load(trl_feature_list *l, const trl_container *c, trl_error *err)
{
    const void *head = NULL;
    size_t n = 0;
    trl_status st = TRL_OK;
    if (l->n_lists)
        st = trl_container_array(c, "wlists", sizeof(list_head), &head, &n, err);
    if (st == TRL_OK && n != l->n_lists)
        st = trl_container_damaged(c, err, "lists of words differ from the template");
    for (size_t k = 0; st == TRL_OK && k < l->n_lists; k++)
        st = load_list(&l->list[k], k, (const list_head *)head + k, c, err);
    return st == TRL_OK && l->learns ? load_scales(l, c, err) : st;
}
