/* tune.c -- all classifiers in one model, and how far along their paths they go. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_translate/train_translate.h"
#include "translate/translator.h"

/* ---- one model ------------------------------------------------------------------------------- */

/* The numbers of a task's features among all names. */
static trl_status name_features(const trl_source_names *names, const trl_learnt *l, trl_strtab *all,
                                uint32_t *number, trl_error *err)
{
    trl_buf name = {0};
    trl_status st = TRL_OK;
    for (size_t f = 0; st == TRL_OK && f < l->n_keys; f++) {
        name.len = 0;
        number[f] = trl_word_key_name(names, l->key[f], &name)
                        ? trl_strtab_add(all, name.data, name.len)
                        : TRL_NO_ID;
        if (number[f] == TRL_NO_ID)
            st = trl_fail_mem(err);
    }
    trl_buf_fini(&name);
    return st;
}

static trl_status take_task(const trl_translate_model *m, trl_learnt *l, const char *name,
                            trl_boost_data *d, trl_boost_part *part, trl_error *err)
{
    uint32_t *number = trl_alloc(l->n_keys + 1, sizeof *number);
    trl_status st =
        number ? name_features(&m->names, l, &d->names, number, err) : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < l->n; k++) {
        trl_boost_part *p = &l->part[k];
        const size_t n = strlen(name);
        trl_free(p->name);
        if (!(p->name = trl_strndup(name, n)))
            st = trl_fail_mem(err);
        for (size_t v = 0; st == TRL_OK && v < p->own.n_nodes; v++)
            if (p->own.node[v].feature != TRL_NO_ID)
                p->own.node[v].feature = number[p->own.node[v].feature];
        if (st == TRL_OK) {
            part[k] = *p;
            *p = (trl_boost_part){0};
        }
        name += n + 1;
    }
    trl_free(number);
    return st;
}

trl_status trl_learnt_merge(trl_translate_model *m, trl_learnt_parts *parts, trl_error *err)
{
    size_t n = 0, at = 0;
    for (size_t k = 0; k < parts->n; k++)
        n += parts->learnt[k].n;
    trl_boost_data d = {.named = true}; /* only the names of features */
    trl_boost_part *part = trl_zalloc(n + 1, sizeof *part);
    trl_status st = part ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < parts->n; k++) {
        st = take_task(m, &parts->learnt[k], parts->name[k].data, &d, part + at, err);
        at += parts->learnt[k].n;
    }
    d.n_features = d.names.n;
    if (st == TRL_OK)
        st = trl_boost_model_make(&d, part, n, &m->boost, err);
    for (size_t k = 0; part && k < n; k++)
        trl_boost_part_fini(&part[k]);
    trl_free(part);
    trl_strtab_fini(&d.names);
    return st;
}

/* ---- the penalty ----------------------------------------------------------------------------- */

#define STEPS 60
#define DECAY 0.8 /* lambdas tried: FIRST, FIRST DECAY, FIRST DECAY^2, ... */
#define FIRST 4096.0

/* Sums of held-out losses by lambda. */
typedef struct losses {
    double sum[STEPS];
    uint64_t n;
} losses;

typedef struct tuning {
    trl_tree_translator t;
    const trl_bitext *text;
    const unsigned char *size; /* [classifiers] */
    double lambda[STEPS];
    losses words[TRL_SIZES], nodes[TRL_SIZES]; /* of classifiers of a size */
} tuning;

/* The last point from k on whose lambda is not below. */
static size_t point_of(const trl_boost_part *p, size_t k, double lambda)
{
    while (k + 1 < p->n_points && p->point[k + 1].lambda >= lambda)
        k++;
    return k;
}

static double tree_value(const trl_tree_translator *t, const trl_boost_part *p, size_t k)
{
    const trl_boost_node *tree = p->node + trl_boost_begin(p->tree_end, k), *v = tree;
    while (v->feature != TRL_NO_ID)
        v = t->mark[v->feature] == t->stamp ? v + 1 : tree + v->off;
    return v->value;
}

/* Adds the loss of one example, whose features are marked, for every lambda. */
static void add_losses(const tuning *x, uint32_t classifier, bool right, losses *l)
{
    const trl_boost_part *p = &x->t.m->boost->part[classifier];
    size_t point = 0, trees = 0;
    double h = 0.0, cost = trl_inference_cost(0.0);
    for (size_t step = 0; step < STEPS; step++) {
        point = point_of(p, point, x->lambda[step]);
        const size_t end = p->n_points ? p->point[point].trees : 0;
        if (trees < end) {
            for (; trees < end; trees++)
                h += tree_value(&x->t, p, trees);
            cost = trl_inference_cost(right ? h : -h);
        }
        l->sum[step] += cost;
    }
    l->n++;
}

static trl_status held_word(tuning *x, const trl_translate_pair *p, size_t at, trl_error *err)
{
    const trl_translate_model *m = x->t.m;
    const uint32_t w = p->source.word[at];
    const uint64_t begin = trl_candidates_begin(m, w), end = m->candidate_end[w];
    uint32_t target = TRL_NO_ID;
    if (p->target[at] != TRL_NO_ID) {
        const trl_str s = trl_strtab_get(&x->text->side[1].words, p->target[at]);
        if ((target = trl_strtab_find(&m->targets, s.p, s.n)) == TRL_NO_ID)
            target = TRL_NO_ID - 1; /* no candidate of anything */
    }
    if (begin == end || m->candidate[begin].classifier == TRL_NO_ID)
        return TRL_OK;
    if (!trl_translator_mark_word(&x->t, &p->source, at))
        return trl_fail_mem(err);
    for (uint64_t k = begin; k < end; k++) {
        const uint32_t classifier = m->candidate[k].classifier;
        add_losses(x, classifier, m->candidate[k].target == target, &x->words[x->size[classifier]]);
    }
    return TRL_OK;
}

static trl_status held_node(tuning *x, const trl_translate_pair *p, size_t v, trl_error *err)
{
    const uint32_t classifier = x->t.m->order[p->source.node[v].label].classifier;
    if (p->order[v] == TRL_ORDER_FREE || classifier == TRL_NO_ID)
        return TRL_OK;
    if (!trl_translator_mark_node(&x->t, &p->source, v))
        return trl_fail_mem(err);
    add_losses(x, classifier, p->order[v] == TRL_ORDER_SWAPPED, &x->nodes[x->size[classifier]]);
    return TRL_OK;
}

/* The best step for classifiers of a size: the least loss of them and of their neighbours. */
static size_t least(const losses *all, size_t size)
{
    const size_t first = size ? size - 1 : 0, last = size + 1 < TRL_SIZES ? size + 1 : size;
    double best_sum = HUGE_VAL;
    size_t best = 0;
    for (size_t k = 0; k < STEPS; k++) {
        double sum = 0.0;
        for (size_t q = first; q <= last; q++)
            sum += all[q].sum[k];
        if (sum < best_sum) {
            best_sum = sum;
            best = k;
        }
    }
    return best;
}

static void cut_path(trl_boost_part *p, double lambda)
{
    if (!p->n_points)
        return;
    p->best = point_of(p, 0, lambda);
    p->n_trees = p->point[p->best].trees;
}

/* Linear classifiers have one point, and no lambda. */
static bool is_path(const trl_translate_model *m, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (m->boost->part[k].n_points && m->boost->part[k].point[0].lambda > 0.0)
            return true;
    return false;
}

static trl_status held_losses(tuning *x, const trl_translate_corpus *c, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < c->n; k++) {
        const trl_translate_pair *p = &c->pair[k];
        for (size_t at = 0; st == TRL_OK && p->held && at < p->source.n_nodes; at++)
            st = at < p->source.n_words ? held_word(x, p, at, err) : held_node(x, p, at, err);
    }
    return st;
}

static void choose_lambdas(tuning *x, trl_translate_model *m, trl_train_translate_result *result)
{
    const size_t n_words = result->word_classifiers;
    const bool path = is_path(m, n_words);
    double loss = 0.0;
    uint64_t n = 0, n_nodes = 0;
    for (size_t k = 0; k < TRL_SIZES; k++) {
        const double lambda = x->lambda[least(x->words, k)];
        n += x->words[k].n;
        n_nodes += x->nodes[k].n;
        loss += x->words[k].sum[least(x->words, k)];
        if (!path || !x->words[k].n)
            continue;
        if (result->lambda[0] == 0.0 || lambda < result->lambda[0])
            result->lambda[0] = lambda;
        if (lambda > result->lambda[1])
            result->lambda[1] = lambda;
    }
    for (size_t k = 0; n && k < n_words; k++)
        cut_path(&m->boost->part[k], x->lambda[least(x->words, x->size[k])]);
    for (size_t k = n_words; n_nodes && k < m->boost->n; k++)
        cut_path(&m->boost->part[k], x->lambda[least(x->nodes, x->size[k])]);
    if (n)
        result->held_loss = loss / (double)n;
}

trl_status trl_tune_lambda(trl_translate_model *m, const trl_tune_text *t,
                           trl_train_translate_result *result, trl_error *err)
{
    tuning *x = trl_zalloc(1, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    x->text = t->text;
    x->size = t->size;
    for (size_t k = 0; k < STEPS; k++)
        x->lambda[k] = FIRST * pow(DECAY, (double)k);
    trl_status st = trl_tree_translator_init(&x->t, m, err);
    if (st == TRL_OK)
        st = held_losses(x, t->corpus, err);
    if (st == TRL_OK)
        choose_lambdas(x, m, result);
    trl_tree_translator_fini(&x->t);
    trl_free(x);
    return st;
}
