/* learn.c -- rows of features, and classifiers over them. */
/* SPDX-License-Identifier: MIT */
#include "train_translate/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- rows ------------------------------------------------------------------------------------ */

void trl_example_rows_fini(trl_example_rows *r)
{
    trl_free(r->end);
    trl_free(r->feature);
    trl_free(r->key);
    trl_free(r->seen);
    trl_key_index_fini(&r->index);
    *r = (trl_example_rows){0};
}

/* The number of a key, a new one where it has none.  TRL_NO_ID: out of memory. */
static uint32_t number(trl_example_rows *r, uint64_t key)
{
    const uint32_t next = (uint32_t)r->index.n;
    const uint32_t at = trl_key_index_add(&r->index, key, next);
    if (at != next || at == TRL_NO_ID)
        return at;
    uint64_t *keys = trl_reserve(r->key, &r->key_cap, next + (size_t)1, sizeof *keys);
    r->key = keys ? keys : r->key;
    uint32_t *seen = trl_reserve(r->seen, &r->seen_cap, next + (size_t)1, sizeof *seen);
    r->seen = seen ? seen : r->seen;
    if (!keys || !seen)
        return TRL_NO_ID;
    keys[next] = key;
    seen[next] = 0;
    return next;
}

trl_status trl_example_rows_add(trl_example_rows *r, const trl_feature_keys *keys, trl_error *err)
{
    size_t *end = trl_reserve(r->end, &r->end_cap, r->n + 1, sizeof *end);
    r->end = end ? end : r->end;
    uint32_t *feature =
        trl_reserve(r->feature, &r->feature_cap, r->n_active + keys->n, sizeof *feature);
    r->feature = feature ? feature : r->feature;
    if (!end || !feature || r->n + 1 >= UINT32_MAX)
        return trl_fail_mem(err);
    for (size_t k = 0; k < keys->n; k++) {
        const uint32_t f = number(r, keys->key[k]);
        if (f == TRL_NO_ID)
            return trl_fail_mem(err);
        if (r->seen[f] == r->n + 1)
            continue;
        r->seen[f] = (uint32_t)(r->n + 1);
        feature[r->n_active++] = f;
    }
    end[r->n++] = r->n_active;
    return TRL_OK;
}

void trl_learnt_fini(trl_learnt *l)
{
    for (size_t k = 0; l->part && k < l->n; k++)
        trl_boost_part_fini(&l->part[k]);
    trl_free(l->part);
    trl_free(l->key);
    *l = (trl_learnt){0};
}

/* ---- boosted trees --------------------------------------------------------------------------- */

/* The lambda that is best on held-out pairs grows with the number of examples, 0.28 to 0.75 times
 * its cubic root.  Most of the work is done far below: a path goes no further than this.  Few
 * examples cost little, and those of a regular text are best learnt further. */
static double least_lambda(size_t examples)
{
    return (examples < 1000 ? 0.1 : 0.2) * cbrt((double)examples);
}

/* Takes the ensembles out of the model; the names of its features are numbers of rows. */
static trl_status take_parts(trl_learnt *out, trl_boost_model *m, const trl_example_rows *r,
                             trl_error *err)
{
    out->key = trl_alloc(m->names.n + 1, sizeof *out->key);
    if (!out->key)
        return trl_fail_mem(err);
    out->n_keys = m->names.n;
    for (uint32_t f = 0; f < m->names.n; f++) {
        const trl_str s = trl_strview_get(&m->names, f);
        uint32_t x = 0;
        for (size_t k = 0; k < s.n; k++)
            x = 10 * x + (uint32_t)(s.p[k] - '0');
        out->key[f] = r->key[x];
    }
    for (size_t k = 0; k < out->n; k++) {
        out->part[k] = m->part[k];
        m->part[k] = (trl_boost_part){0};
    }
    return TRL_OK;
}

static trl_status learn_boosted(trl_learnt *out, const trl_example_rows *r, const signed char *y,
                                const trl_learn_options *o, trl_error *err)
{
    const trl_boost_examples x = {r->n, r->index.n, r->end, r->feature};
    trl_boost_data *d = NULL;
    trl_boost_model *m = NULL;
    trl_boost_options b = o->boost;
    b.lambda_end = 1e-9;
    b.lambda_least = fmax(o->lambda_end, least_lambda(r->n));
    b.threads = 1;
    trl_status st = trl_boost_data_new(&x, o->memory, &d, err);
    for (size_t k = 0; st == TRL_OK && k < out->n; k++)
        st = trl_boost_data_answer(d, "", y + k * r->n, NULL, err);
    if (st == TRL_OK)
        st = trl_boost_train(d, NULL, &b, &m, err);
    if (st == TRL_OK)
        st = take_parts(out, m, r, err);
    trl_boost_model_free(m);
    trl_boost_data_free(d);
    return st;
}

/* ---- linear models --------------------------------------------------------------------------- */

/* The intercept, then a split for every weight that is not 0. */
static bool make_splits(trl_boost_part *p, const double *w, size_t n)
{
    const trl_boost_node off = {TRL_NO_ID, 0, 0.0};
    bool room = trl_boost_ensemble_node(&p->own, (trl_boost_node){TRL_NO_ID, 0, w[n]}) &&
                trl_boost_ensemble_tree(&p->own);
    for (uint32_t f = 0; room && f < n; f++)
        if (fabs(w[f]) > 1e-6)
            room = trl_boost_ensemble_node(&p->own, (trl_boost_node){f, 2, 0.0}) &&
                   trl_boost_ensemble_node(&p->own, (trl_boost_node){TRL_NO_ID, 0, w[f]}) &&
                   trl_boost_ensemble_node(&p->own, off) && trl_boost_ensemble_tree(&p->own);
    if (!room || !(p->own_point = trl_zalloc(1, sizeof *p->own_point)))
        return false;
    p->n_points = 1;
    p->own_point->trees = p->own.n_trees;
    p->own_point->compound = p->own_point->atomic = p->own.n_trees - 1;
    return true;
}

static trl_status learn_linear(trl_learnt *out, const trl_example_rows *r, const signed char *y,
                               const trl_learn_options *o, trl_error *err)
{
    double *w = trl_alloc64(r->index.n + 65, sizeof *w);
    out->key = trl_alloc(r->index.n + 1, sizeof *out->key);
    trl_status st = w && out->key ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        memcpy(out->key, r->key, r->index.n * sizeof *out->key);
    out->n_keys = r->index.n;
    for (size_t k = 0; st == TRL_OK && k < out->n; k++) {
        const trl_linear_problem p = {.n = r->n,
                                      .n_features = r->index.n,
                                      .end = r->end,
                                      .feature = r->feature,
                                      .y = y + k * r->n,
                                      .c2 = o->c2,
                                      .no_intercept = o->no_intercept};
        st = trl_linear_fit(&p, w, err);
        if (st == TRL_OK && !make_splits(&out->part[k], w, r->index.n))
            st = trl_fail_mem(err);
    }
    trl_free(w);
    return st;
}

trl_status trl_learn(trl_learnt *out, const trl_example_rows *r, const signed char *y,
                     size_t n_classifiers, const trl_learn_options *o, trl_error *err)
{
    *out = (trl_learnt){.part = trl_zalloc(n_classifiers, sizeof *out->part),
                        .n = n_classifiers,
                        .examples = (uint64_t)r->n * n_classifiers};
    trl_status st = out->part ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK)
        st = o->learner == TRL_LEARN_L2 ? learn_linear(out, r, y, o, err)
                                        : learn_boosted(out, r, y, o, err);
    if (st != TRL_OK)
        trl_learnt_fini(out);
    return st;
}
