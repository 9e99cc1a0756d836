/* chart_model.c -- models of chart parsers, as users see them. */
/* SPDX-License-Identifier: MIT */
#include "parser/chart_model.h"

#include <string.h>

#include "base/buf.h"
#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_dump.h"

/* The root is label 0.  When its own label is also that of an inner node, it stays TOP. */
static trl_status show_labels(trl_chart_model *m, trl_error *err)
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

/* Every label with every class of functions. */
static trl_status show_functions(trl_chart_model *m, trl_error *err)
{
    const trl_strview *class = &m->m.functions.class;
    const size_t n = m->labels.n;
    if (!class->n)
        return TRL_OK;
    m->with_function = trl_alloc(n * class->n, sizeof *m->with_function);
    trl_buf name = {0};
    bool ok = m->with_function != NULL;
    for (uint32_t l = 0; ok && l < n; l++)
        for (uint32_t c = 0; ok && c < class->n; c++) {
            const trl_str s = trl_strtab_get(&m->labels, l), f = trl_strview_get(class, c);
            name.len = 0;
            trl_buf_add(&name, s.p, s.n);
            trl_buf_ch(&name, '-');
            trl_buf_add(&name, f.p, f.n);
            const uint32_t id =
                c == 0 || name.failed ? l : trl_strtab_add(&m->labels, name.data, name.len);
            m->with_function[l * class->n + c] = id;
            ok = !name.failed && id != TRL_NO_ID;
        }
    trl_buf_fini(&name);
    return ok ? TRL_OK : trl_fail_mem(err);
}

const char *trl_chart_model_more_tag(size_t k)
{
    static const char *const tags[TRL_MORE_GRAMMARS] = {"more1", "more2"};
    return tags[k];
}

static trl_status match_labels(trl_chart_model *m, size_t k, trl_error *err)
{
    const trl_strtab *from = &m->more[k]->m.fine.labels;
    uint32_t *to = trl_alloc(from->n, sizeof *to);
    if (!to)
        return trl_fail_mem(err);
    for (uint32_t l = 0; l < from->n; l++) {
        const trl_str name = trl_strtab_get(from, l);
        to[l] = trl_strtab_find(&m->m.fine.labels, name.p, name.n);
    }
    m->label_of[k] = to;
    return TRL_OK;
}

static trl_status open_model(trl_container *c, const trl_tree_clusters *lender,
                             trl_chart_model **out, trl_error *err);

/* Models inside the file have none inside them, and the clusters of the first. */
static trl_status load_more(trl_chart_model *m, trl_error *err)
{
    trl_status st = TRL_OK;
    const void *bytes;
    size_t n;
    while (st == TRL_OK && m->n_more < TRL_MORE_GRAMMARS &&
           trl_container_find(m->file, trl_chart_model_more_tag(m->n_more), &bytes, &n)) {
        trl_container *c = NULL;
        const void *inner;
        size_t size;
        st = trl_container_from_memory(bytes, n, "tree", &c, err);
        if (st == TRL_OK && trl_container_find(c, trl_chart_model_more_tag(0), &inner, &size)) {
            trl_container_free(c);
            return trl_container_damaged(m->file, err, "there are grammars inside grammars");
        }
        if (st == TRL_OK)
            st = open_model(c, &m->m.clusters, &m->more[m->n_more], err);
        if (st == TRL_OK && !m->more[m->n_more]->is_probability) {
            trl_chart_model_free(m->more[m->n_more]);
            return trl_container_damaged(m->file, err, "one of its grammars has no probabilities");
        }
        if (st == TRL_OK)
            st = match_labels(m, m->n_more++, err);
    }
    return st;
}

/* lender: whose clusters it has when it has none of its own; outlives it; or NULL. */
static trl_status open_model(trl_container *c, const trl_tree_clusters *lender,
                             trl_chart_model **out, trl_error *err)
{
    const void *text = "";
    size_t n = 0;
    trl_chart_model *m = trl_zalloc(1, sizeof *m);
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
    trl_status st = trl_tree_model_load(&m->m, c, lender, err);
    if (st == TRL_OK)
        st = show_labels(m, err);
    if (st == TRL_OK)
        st = show_functions(m, err);
    if (st == TRL_OK)
        st = load_more(m, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_chart_model_free(m);
    return st;
}

trl_status trl_chart_model_from(trl_container *c, trl_chart_model **out, trl_error *err)
{
    return open_model(c, NULL, out, err);
}

void trl_chart_model_free(trl_chart_model *m)
{
    if (!m)
        return;
    for (size_t k = 0; k < m->n_more; k++) {
        trl_chart_model_free(m->more[k]);
        trl_free(m->label_of[k]);
    }
    trl_tree_model_fini(&m->m);
    trl_strtab_fini(&m->labels);
    trl_free(m->with_function);
    trl_container_free(m->file);
    trl_free(m->settings);
    trl_free(m);
}

/* Function labels are not the chart's: NP-SBJ is none. */
uint32_t trl_chart_model_label(const trl_chart_model *m, trl_str label)
{
    const uint32_t id = trl_strtab_find(&m->labels, label.p, label.n);
    return id < m->m.fine.labels.n ? id : TRL_NO_ID;
}

bool trl_chart_model_has(const trl_chart_model *m, trl_str label)
{
    if (!m || (!label.p && label.n))
        return false;
    return trl_chart_model_label(m, label) != TRL_NO_ID;
}

bool trl_chart_model_has_tag(const trl_chart_model *m, trl_str tag)
{
    return trl_chart_model_has(m, tag) &&
           trl_grammar_has_tag(&m->m.fine, trl_chart_model_label(m, tag));
}

trl_parse_info trl_chart_model_info(const trl_chart_model *m)
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

trl_status trl_chart_model_describe(const trl_chart_model *m, size_t top, trl_buf *out,
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
