/* translator.c -- costs of words and nodes, then search. */
/* SPDX-License-Identifier: MIT */
#include "translate/translator.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_tree_translator_init(trl_tree_translator *t, const trl_translate_model *m,
                                    trl_error *err)
{
    *t = (trl_tree_translator){.m = m, .n_mark = m->boost->names.n};
    if (!(t->mark = trl_zalloc(t->n_mark + 1, sizeof *t->mark)))
        return trl_fail_mem(err);
    for (size_t k = 0; k < m->names.labels.n; k++) {
        t->totals[0] += m->order[k].kept;
        t->totals[1] += m->order[k].swapped;
    }
    return TRL_OK;
}

void trl_tree_translator_fini(trl_tree_translator *t)
{
    trl_arena_fini(&t->arena);
    trl_free(t->keys.key);
    trl_free(t->mark);
    *t = (trl_tree_translator){0};
}

/* ---- scores ---------------------------------------------------------------------------------- */

static void mark_keys(trl_tree_translator *t)
{
    if (++t->stamp == 0) { /* once in 2^32 */
        memset(t->mark, 0, (t->n_mark + 1) * sizeof *t->mark);
        t->stamp = 1;
    }
    for (size_t k = 0; k < t->keys.n; k++) {
        const uint32_t f = trl_key_index_find(&t->m->index, t->keys.key[k]);
        if (f != TRL_NO_ID)
            t->mark[f] = t->stamp;
    }
}

bool trl_translator_mark_word(trl_tree_translator *t, const trl_source *s, size_t word)
{
    if (!trl_word_features(s, word, &t->keys))
        return false;
    mark_keys(t);
    return true;
}

bool trl_translator_mark_node(trl_tree_translator *t, const trl_source *s, size_t node)
{
    if (!trl_node_features(s, node, &t->keys))
        return false;
    mark_keys(t);
    return true;
}

static double log_odds(uint64_t yes, uint64_t no)
{
    return log(((double)yes + 0.5) / ((double)no + 0.5));
}

static double score_trees(const trl_tree_translator *t, uint32_t classifier)
{
    const trl_boost_part *p = &t->m->boost->part[classifier];
    double h = 0.0;
    uint64_t begin = 0;
    for (size_t k = 0; k < p->n_trees; k++) {
        const trl_boost_node *tree = p->node + begin, *v = tree;
        while (v->feature != TRL_NO_ID)
            v = t->mark[v->feature] == t->stamp ? v + 1 : tree + v->off;
        h += v->value;
        begin = p->tree_end[k];
    }
    return h;
}

double trl_translator_h(const trl_tree_translator *t, const trl_candidate *x, uint64_t total)
{
    return x->classifier == TRL_NO_ID ? log_odds(x->count, total - x->count)
                                      : score_trees(t, x->classifier);
}

/* What the generative model asks. */
typedef struct joined {
    const trl_translate_model *m;
    const trl_source *s;
} joined;

/* ---- costs ----------------------------------------------------------------------------------- */

#define GENERATIVE_OPTIONS 20 /* the most frequent ones of a word */

/* Words that are not known stay as they are, and cost nothing. */
static double join_cost(const void *ctx, uint32_t word, uint32_t head, uint32_t other)
{
    const joined *x = ctx;
    const trl_translate_model *m = x->m;
    if (other != TRL_NO_ID && other >= m->targets.n)
        return 0.0;
    const double c = trl_generative_word_cost(&m->generative, x->s->word[word], head, other);
    return other == TRL_NO_ID ? trl_null_cost_of(&m->null, c) : c;
}

/* Costs of candidates, and what it costs that the translation is none of them. */
static void add_candidates(const trl_tree_translator *t, uint32_t w, trl_word_option *option,
                           uint32_t *n)
{
    const trl_translate_model *m = t->m;
    const uint64_t begin = trl_candidates_begin(m, w), end = m->candidate_end[w];
    uint64_t total = 0;
    bool null = false;
    for (uint64_t k = begin; k < end; k++)
        total += m->candidate[k].count;
    const bool more = m->total && total && m->total[w] > total;
    const double other = more ? log((double)m->total[w] / (double)total) : 0.0;
    for (uint64_t k = begin; k < end; k++) {
        const trl_candidate *x = &m->candidate[k];
        const double cost = other + trl_inference_cost(trl_translator_h(t, x, total));
        const bool is_null = x->target == TRL_NO_ID;
        option[(*n)++] =
            (trl_word_option){x->target, is_null ? trl_null_cost_of(&m->null, cost) : cost};
        null |= is_null;
    }
    if (!null && m->null.most > 0.0)
        option[(*n)++] = (trl_word_option){TRL_NO_ID, m->null.most};
}

static bool add_word(trl_tree_translator *t, const trl_source *s, size_t word,
                     trl_word_option *option, uint32_t *n)
{
    const trl_translate_model *m = t->m;
    const uint32_t w = s->word[word];
    const uint64_t begin = w == TRL_NO_ID ? 0 : trl_candidates_begin(m, w);
    const uint64_t end = w == TRL_NO_ID ? 0 : m->candidate_end[w];
    if (begin == end) { /* unknown: it stays as it is */
        option[(*n)++] = (trl_word_option){(uint32_t)(m->targets.n + word), 0.0};
        return true;
    }
    if (m->is_generative) { /* paid for where heads are joined */
        bool null = !(m->null.most > 0.0);
        for (uint64_t k = begin; k < end && k < begin + GENERATIVE_OPTIONS; k++) {
            option[(*n)++] = (trl_word_option){m->candidate[k].target, 0.0};
            null |= m->candidate[k].target == TRL_NO_ID;
        }
        if (!null)
            option[(*n)++] = (trl_word_option){TRL_NO_ID, 0.0};
        return true;
    }
    if (!trl_translator_mark_word(t, s, word))
        return false;
    add_candidates(t, w, option, n);
    return true;
}

static bool add_node(trl_tree_translator *t, const trl_source *s, size_t v, double cost[2])
{
    const uint32_t label = s->node[v].label;
    const trl_order *o = label == TRL_NO_ID ? NULL : &t->m->order[label];
    double h;
    if (t->m->is_generative) {
        cost[0] = trl_generative_order_cost(&t->m->generative, s, v, false);
        cost[1] = trl_generative_order_cost(&t->m->generative, s, v, true);
        return true;
    }
    if (!o || (!o->kept && !o->swapped)) {
        h = log_odds(t->totals[1], t->totals[0]);
    } else if (o->classifier == TRL_NO_ID) {
        h = log_odds(o->swapped, o->kept);
    } else {
        if (!trl_translator_mark_node(t, s, v))
            return false;
        h = score_trees(t, o->classifier);
    }
    cost[0] = trl_inference_cost(-h);
    cost[1] = trl_inference_cost(h);
    return true;
}

static size_t count_options(const trl_translate_model *m, const trl_source *s)
{
    size_t n = 0;
    for (size_t w = 0; w < s->n_words; w++)
        n += s->word[w] == TRL_NO_ID
                 ? 1
                 : 1 + m->candidate_end[s->word[w]] - trl_candidates_begin(m, s->word[w]);
    return n;
}

trl_status trl_tree_translate(trl_tree_translator *t, const trl_source *s,
                              const trl_translate_limits *limits, trl_tree_translation *out,
                              trl_error *err)
{
    trl_arena_reset(&t->arena);
    trl_word_option *option = trl_arena_get(&t->arena, count_options(t->m, s), sizeof *option);
    uint32_t *end = trl_arena_get(&t->arena, s->n_words, sizeof *end), n = 0;
    double(*order)[2] = trl_arena_get(&t->arena, s->n_nodes, sizeof *order);
    bool room = option && end && order;
    for (size_t w = 0; room && w < s->n_words; w++) {
        room = add_word(t, s, w, option, &n);
        end[w] = n;
    }
    for (size_t v = s->n_words; room && v < s->n_nodes; v++)
        room = add_node(t, s, v, order[v]);
    if (!room)
        return trl_fail_mem(err);
    const joined pair = {t->m, s};
    const trl_transducer x = {.s = s,
                              .option = option,
                              .option_end = end,
                              .order = (const double(*)[2])order,
                              .join = t->m->is_generative ? join_cost : NULL,
                              .join_ctx = &pair,
                              .ratio = limits->ratio,
                              .most = limits->most,
                              .nbest = limits->nbest};
    trl_transduced *best = NULL;
    size_t n_best = 0;
    const trl_status st = trl_transduce(&x, &t->arena, &best, &n_best, err);
    *out = (trl_tree_translation){option, end, x.order, best, n_best};
    return st;
}
