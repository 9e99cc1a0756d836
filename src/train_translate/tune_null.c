/* tune_null.c -- what leaving a word out costs, by translations of the held-out pairs.
 *
 * Classifiers and probabilities are fitted to words one by one; F counts words of whole sentences,
 * and gains by leaving out a word that is probably wrong.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train_translate/train_translate.h"
#include "translate/translator.h"
#include "trellis/translation.h"

/* What is tried, one after the other: the first that is best stays. */
static const double mosts[] = {0.0, 3.0, 2.5, 2.0, 1.75, 1.5, 1.25, 1.0, 0.75};
static const double adds[] = {0.0, 0.25, 0.5, 1.0, 1.5, 2.0};

/* One pair: sizes of matchings, lengths. */
typedef struct matched {
    double size[2];
    size_t n, m;
} matched;

typedef struct trial {
    trl_translate_model *m;
    const trl_tune_text *t;
    trl_pool *pool;
    trl_tree_translator *translator; /* [threads] */
    uint32_t *target;                /* [targets] their numbers in the bitext */
    uint32_t *copy;                  /* [source words] the same words in the target text */
    size_t *held;                    /* [n] pairs */
    matched *matched;                /* [n] */
    size_t n;
} trial;

static void trial_fini(trial *x)
{
    for (size_t k = 0; x->translator && k < trl_pool_threads(x->pool); k++)
        trl_tree_translator_fini(&x->translator[k]);
    trl_free(x->translator);
    trl_free(x->target);
    trl_free(x->copy);
    trl_free(x->held);
    trl_free(x->matched);
}

static uint32_t *numbers_of(const trl_strtab *from, const trl_strtab *to)
{
    uint32_t *out = trl_alloc(from->n + (size_t)1, sizeof *out);
    for (uint32_t k = 0; out && k < from->n; k++) {
        const trl_str s = trl_strtab_get(from, k);
        out[k] = trl_strtab_find(to, s.p, s.n);
    }
    return out;
}

static trl_status trial_init(trial *x, trl_error *err)
{
    const trl_translate_corpus *c = x->t->corpus;
    const trl_strtab *to = &x->t->text->side[1].words;
    const size_t threads = trl_pool_threads(x->pool);
    x->target = numbers_of(&x->m->targets, to);
    x->copy = numbers_of(&x->m->names.words, to);
    x->held = trl_alloc(c->n_held + 1, sizeof *x->held);
    x->matched = trl_zalloc(c->n_held + 1, sizeof *x->matched);
    x->translator = trl_zalloc(threads, sizeof *x->translator);
    if (!x->target || !x->copy || !x->held || !x->matched || !x->translator)
        return trl_fail_mem(err);
    for (size_t k = 0; k < c->n; k++)
        if (c->pair[k].held && c->pair[k].source.n_words)
            x->held[x->n++] = k;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < threads; k++)
        st = trl_tree_translator_init(&x->translator[k], x->m, err);
    return st;
}

static trl_status translate_pair(void *ctx, size_t job, size_t worker, trl_error *err)
{
    trial *x = ctx;
    const trl_side *side = &x->t->text->side[1];
    const trl_source *s = &x->t->corpus->pair[x->held[job]].source;
    const trl_translate_limits limits = {.ratio = 16.0, .most = 40, .nbest = 1}; /* as usual */
    trl_tree_translation out;
    trl_status st = trl_tree_translate(&x->translator[worker], s, &limits, &out, err);
    if (st != TRL_OK)
        return st;
    const trl_transduced *best = out.best;
    for (size_t k = 0; k < best->n; k++) {
        const uint32_t w = best->word[k];
        best->word[k] = w < x->m->targets.n ? x->target[w] : x->copy[s->word[w - x->m->targets.n]];
    }
    matched *to = &x->matched[job];
    to->n = best->n;
    to->m = trl_side_length(side, x->held[job]);
    for (int e = 0; st == TRL_OK && e < 2; e++) {
        const trl_turian_pair p = {best->word, to->n, side->id + trl_side_begin(side, x->held[job]),
                                   to->m, e + 1.0};
        st = trl_turian_size(&p, &to->size[e], NULL, err);
    }
    to->size[1] = sqrt(to->size[1]);
    return st;
}

/* F of all pairs, in percent, for the cost of NULL that the model has now. */
static trl_status score(trial *x, double f[2], trl_error *err)
{
    double size[2] = {0.0, 0.0}, words = 0.0;
    const trl_status st = trl_pool_run(x->pool, x->n, translate_pair, x, err);
    for (size_t k = 0; k < x->n; k++) {
        words += (double)(x->matched[k].n + x->matched[k].m);
        for (int e = 0; e < 2; e++)
            size[e] += x->matched[k].size[e];
    }
    for (int e = 0; e < 2; e++)
        f[e] = words > 0.0 ? 200.0 * size[e] / words : 0.0;
    return st;
}

/* Tries values of one of the two numbers of m->null. */
static trl_status try_values(trial *x, double *number, const double *value, size_t n, double f[2],
                             trl_error *err)
{
    double best = *number, now[2];
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < n; k++) {
        *number = value[k];
        st = score(x, now, err);
        if (st != TRL_OK || !(now[0] + now[1] > f[0] + f[1]))
            continue;
        best = value[k];
        f[0] = now[0];
        f[1] = now[1];
    }
    *number = best;
    return st;
}

trl_status trl_tune_null(trl_translate_model *m, const trl_tune_text *t, trl_pool *pool,
                         trl_train_translate_result *result, trl_error *err)
{
    trial x = {.m = m, .t = t, .pool = pool};
    double f[2] = {-1.0, -1.0};
    m->null = (trl_null_cost){0};
    trl_status st = trial_init(&x, err);
    if (st == TRL_OK)
        st = try_values(&x, &m->null.most, mosts, sizeof mosts / sizeof *mosts, f, err);
    if (st == TRL_OK) /* the first was tried */
        st = try_values(&x, &m->null.add, adds + 1, sizeof adds / sizeof *adds - 1, f, err);
    if (st == TRL_OK) {
        result->held_f[0] = f[0];
        result->held_f[1] = f[1];
    }
    trial_fini(&x);
    return st;
}
