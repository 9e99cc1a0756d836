/* parse_model.c -- models of parsers, as users see them. */
/* SPDX-License-Identifier: MIT */
#include "parser/parse_model.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_dump.h"

/* The root is label 0.  When its own label is also that of an inner node, it stays TOP. */
static trl_status show_labels(trl_parse_model *m, trl_error *err)
{
    const trl_strtab *from = &m->m.fine.labels;
    const trl_str root = {m->m.root.label, strlen(m->m.root.label)};
    const bool own = trl_strtab_find(from, root.p, root.n) == TRL_NO_ID;
    for (uint32_t k = 0; k < from->n; k++) {
        const trl_str s = k == 0 && own ? root : trl_strtab_get(from, k);
        if (trl_strtab_add(&m->labels, s.p, s.n) == TRL_NO_ID)
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static trl_status from_container(trl_container *c, trl_parse_model **out, trl_error *err)
{
    const void *text = "";
    size_t n = 0;
    trl_parse_model *m = trl_zalloc(1, sizeof *m);
    trl_container_find(c, "settings", &text, &n);
    char *settings = m ? trl_strndup(text, n) : NULL;
    if (!settings) {
        trl_container_free(c);
        trl_free(m);
        return trl_fail_mem(err);
    }
    m->file = c;
    m->settings = settings;
    m->is_probability = !strstr(settings, "objective perceptron\n");
    trl_status st = trl_tree_model_load(&m->m, c, err);
    if (st == TRL_OK)
        st = show_labels(m, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_parse_model_free(m);
    return st;
}

trl_status trl_parse_model_open(const char *path, trl_parse_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_open(path, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_map(const char *path, trl_parse_model **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_map(path, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

trl_status trl_parse_model_from_memory(const void *bytes, size_t n, trl_parse_model **out,
                                       trl_error *err)
{
    if ((!bytes && n) || !out)
        return trl_fail_null(err);
    trl_container *c = NULL;
    const trl_status st = trl_container_from_memory(bytes, n, "tree", &c, err);
    return st == TRL_OK ? from_container(c, out, err) : st;
}

void trl_parse_model_free(trl_parse_model *m)
{
    if (!m)
        return;
    trl_tree_model_fini(&m->m);
    trl_strtab_fini(&m->labels);
    trl_container_free(m->file);
    trl_free(m->settings);
    trl_free(m);
}

bool trl_parse_model_has(const trl_parse_model *m, trl_str label)
{
    if (!m || (!label.p && label.n))
        return false;
    return trl_strtab_find(&m->labels, label.p, label.n) != TRL_NO_ID;
}

trl_parse_info trl_parse_model_info(const trl_parse_model *m)
{
    if (!m)
        return (trl_parse_info){.grade = "", .settings = ""};
    static const char *const grades[] = {"generative", "discriminative", "features"};
    return (trl_parse_info){.grade = grades[m->m.grade],
                            .settings = m->settings,
                            .n_states = m->m.fine.n_states,
                            .n_binary = m->m.fine.n_binary,
                            .n_unary = m->m.fine.n_unary,
                            .n_words = m->m.lexicon.words.n,
                            .is_probability = m->is_probability,
                            .n_features = trl_tree_model_active(&m->m, NULL)};
}

trl_status trl_parse_model_describe(const trl_parse_model *m, size_t top, trl_buf *out,
                                    trl_error *err)
{
    if (!m || !out)
        return trl_fail_null(err);
    const void *text = "";
    size_t n = 0;
    if (top == 0)
        return trl_tree_dump_sizes(&m->m, out, err);
    trl_container_find(m->file, "template", &text, &n);
    return m->m.grade == TRL_GRADE_GENERATIVE
               ? TRL_OK
               : trl_tree_dump_top(&m->m, (trl_str){text, n}, top, out, err);
}
