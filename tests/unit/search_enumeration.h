/* search_enumeration.h -- the cheapest trees of a sentence by trying all, for test_search.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SEARCH_ENUMERATION_H
#define TRL_TEST_SEARCH_ENUMERATION_H

#include "support.h"

#include <math.h>

#include "base/mem.h"
#include "search/best_first.h"

/* The scores of a span by names of features alone; -INFINITY: not allowed. */
static void plain_scores(const trl_search_model *m, const trl_forest *f, const uint32_t *word,
                         const trl_partial_parse *s, size_t first, size_t last, double *score)
{
    trl_feature_keys keys = {0};
    uint32_t path[8][TRL_PATHS];
    for (size_t k = 0; k < f->n_words; k++)
        trl_search_paths(&m->names, (trl_str){"x", 1}, path[k]); /* there are no clusters */
    const trl_span_view v = {&m->groups, &m->names, f, word, (const uint32_t(*)[TRL_PATHS])path};
    trl_strtab on = {0};
    trl_buf name = {0};
    assert_true(trl_span_features(&v, s, first, last, &keys));
    for (size_t k = 0; k < keys.n; k++) {
        name.len = 0;
        assert_true(trl_feature_key_name(&m->groups, &m->names, keys.key[k], &name));
        assert_true(trl_strtab_add(&on, name.data, name.len) != TRL_NO_ID);
    }
    for (size_t c = 0; c < m->boost->n; c++) {
        const trl_boost_part *p = &m->boost->part[c];
        double h = 0.0;
        for (size_t t = 0; t < p->n_trees; t++) {
            const size_t begin = t ? p->tree_end[t - 1] : 0;
            size_t at = begin;
            while (p->node[at].feature != TRL_NO_ID) {
                const trl_str s2 = trl_strview_get(&m->boost->names, p->node[at].feature);
                at = trl_strtab_find(&on, s2.p, s2.n) != TRL_NO_ID ? at + 1
                                                                   : begin + p->node[at].off;
            }
            h += p->node[at].value;
        }
        const bool allowed =
            (m->label_of[c] != TRL_SEARCH_TOP || (first == 0 && last + 1 == s->n)) &&
            (first != last || trl_unary_allowed(f, s->root[first], m->label_of[c]));
        score[c] = allowed ? h : -(double)INFINITY;
    }
    trl_free(keys.key);
    trl_strtab_fini(&on);
    trl_buf_fini(&name);
}

/* The cheapest trees by trying every derivation that costs less than the worst one kept. */
typedef struct enumeration {
    const trl_search_model *m;
    trl_forest f;
    uint32_t word[8];
    double best[8]; /* ascending */
    size_t want;
    const trl_search_known *known; /* one, or NULL */
} enumeration;

/* Does the tree have an item other than TOP with the label over exactly these words? */
static bool has_constituent(const trl_forest *f, uint32_t item, const trl_search_known *k)
{
    const trl_item *x = &f->item[item];
    if (x->n && x->label != TRL_SEARCH_TOP && x->from == k->from && x->to == k->to &&
        (k->label == TRL_NO_ID || x->label == k->label))
        return true;
    for (uint32_t c = 0; c < x->n; c++)
        if (has_constituent(f, f->child[x->child + c], k))
            return true;
    return false;
}

/* The largest score of a state, and the logarithm of the sum that shares are taken of. */
static double log_sum(const enumeration *e, const trl_partial_parse *s, double *top)
{
    double score[64], sum = TRL_SEARCH_NONE;
    *top = -(double)INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t first = 0; first <= s->newest; first++)
            for (uint32_t last = first; last < s->n; last++) {
                plain_scores(e->m, &e->f, e->word, s, first, last, score);
                for (size_t c = 0; c < e->m->boost->n; c++)
                    if (pass == 0)
                        *top = fmax(*top, score[c]);
                    else if (score[c] >= *top - TRL_SEARCH_UNLIKELY)
                        sum += exp(score[c]);
            }
    return log(sum);
}

static double cost_of(const enumeration *e, double score, double top, double all)
{
    if (!e->m->shares)
        return log(1.0 + exp(-score));
    return score >= top - TRL_SEARCH_UNLIKELY ? all - score : (double)INFINITY;
}

static void try_all(enumeration *e, const trl_partial_parse *s, double so_far)
{
    double score[64];
    assert_true(e->m->boost->n <= 64);
    double top = 0.0;
    const double all = e->m->shares ? log_sum(e, s, &top) : 0.0;
    for (uint32_t first = 0; first <= s->newest; first++)
        for (uint32_t last = first; last < s->n; last++) {
            plain_scores(e->m, &e->f, e->word, s, first, last, score);
            for (size_t c = 0; c < e->m->boost->n; c++) {
                uint32_t root[8];
                const double total = so_far + cost_of(e, score[c], top, all);
                if (!(total < e->best[e->want - 1]))
                    continue;
                const trl_inference x = {first, last, e->m->label_of[c]};
                const size_t items = e->f.n_items, children = e->f.n_children;
                const uint32_t item = trl_forest_add(&e->f, s, x, e->m->heads, &e->m->names.labels);
                const bool obeys = !e->known || x.label != TRL_SEARCH_TOP ||
                                   has_constituent(&e->f, item, e->known) != e->known->forbidden;
                if (e->m->label_of[c] == TRL_SEARCH_TOP) {
                    e->f.n_items = items;
                    e->f.n_children = children;
                    if (!obeys)
                        continue;
                    size_t at = e->want - 1;
                    for (; at && e->best[at - 1] > total; at--)
                        e->best[at] = e->best[at - 1];
                    e->best[at] = total;
                    continue;
                }
                const trl_partial_parse next = trl_partial_after(s, first, last, item, root);
                try_all(e, &next, total);
                e->f.n_items = items;
                e->f.n_children = children;
            }
        }
}

static void check_sentence(const trl_search_model *m, trl_searcher *x, const trl_search_input *in)
{
    const trl_str *word = in->word;
    const size_t n = in->n;
    trl_error err;
    const size_t want = 3;
    enumeration e = {.m = m, .want = want, .known = in->known};
    for (size_t k = 0; k < want; k++)
        e.best[k] = 12.0; /* no further: keeps the enumeration short */
    for (size_t k = 0; k < n; k++)
        e.word[k] = trl_strtab_find(&m->names.words, word[k].p, word[k].n);
    for (size_t k = 0; k < in->n_taggings; k++) {
        uint32_t root[8];
        assert_true(trl_forest_start(&e.f, n, in->tag + k * n));
        const trl_partial_parse s = trl_partial_start(&e.f, 0, root);
        try_all(&e, &s, in->cost ? in->cost[k] : 0.0);
    }
    trl_search_options o = {.nbest = want};
    assert_ok(trl_best_first(x, in, &o, &err));
    assert_true(x->exact);
    for (size_t k = 0; k < want && e.best[k] < 12.0; k++) {
        assert_true(k < x->n_found);
        assert_float_equal(x->found[k].cost, e.best[k], 1e-9);
    }
    o.nbest = 1;
    assert_ok(trl_best_first(x, in, &o, &err));
    assert_true(x->exact && (x->n_found == 1 || (in->known && e.best[0] == 12.0)));
    if (e.best[0] < 12.0)
        assert_float_equal(x->found[0].cost, e.best[0], 1e-9);
    trl_forest_fini(&e.f);
}

#endif
