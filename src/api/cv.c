/* cv.c -- trl_cv: folds, a model for each, means and spreads. */
/* SPDX-License-Identifier: MIT */
#include "trellis/cv.h"

#include <math.h>
#include <string.h>

#include "api/folds.h"
#include "api/held_out.h"
#include "api/train_options.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/mem.h"
#include "options/option_table.h"

typedef struct validation {
    trl_cv_options o;
    trl_train_options train;
    trl_folds folds;
    uint8_t *held;             /* [folds.n] of the fold at work */
    double *value;             /* [folds][TRL_CV_MEASURES] */
    trl_held_counts one, all;  /* of this fold, of all */
    trl_held_measures measure; /* of this fold */
    trl_buf model;
    trl_arena arena;
    uint64_t fold;
} validation;

/* ---- before the first fold ------------------------------------------------------------------- */

static trl_status take_options(validation *x, const trl_cv_options *o, trl_error *err)
{
    const trl_status st = trl_options_take(trl_cv_option_table(), o, &x->o, err);
    if (st != TRL_OK)
        return st;
    if (!x->o.train)
        return trl_fail_null(err);
    return trl_train_options_take(x->o.train, &x->train, err);
}

trl_status trl_cv_check_train(const trl_train_options *t, trl_error *err)
{
    const char *given = t->model || t->model_out || t->rescue ? "a model file"
                        : t->data || t->dev_data              ? "data in memory"
                        : t->checkpoint || t->resume          ? "a checkpoint"
                        : t->hold_out || t->leave_out         ? "hold_out"
                        : t->q0_cache                         ? "q0_cache"
                                                              : NULL;
    if (!t->kind || !t->objective || !t->grade || !t->annotate || !t->clusters)
        return trl_fail_null(err);
    if (given)
        return trl_fail(err, TRL_EINVAL, "%s does not go with cross-validation", given);
    if (t->partial)
        return trl_fail_hint(
            err, trl_fail(err, TRL_EINVAL, "partial labels cannot be scored by cross-validation"),
            "train with them and score on data that is labelled as a whole");
    if (t->n_train == 0)
        return trl_fail(err, TRL_EINVAL, "no training file is given");
    for (size_t k = 0; k < t->n_train; k++) {
        if (!t->train || !t->train[k])
            return trl_fail(err, TRL_EINVAL, "the path of training file %zu is NULL", k + 1);
        if (strcmp(t->train[k], "-") == 0)
            return trl_fail(err, TRL_EINVAL,
                            "the data are read for every fold: they cannot be standard input");
    }
    return TRL_OK;
}

static trl_status check(const validation *x, trl_error *err)
{
    const trl_train_options *t = &x->train;
    if (x->o.documents && x->o.groups)
        return trl_fail(err, TRL_EINVAL, "folds are by documents or by groups, not by both");
    if (x->o.documents && strcmp(t->kind ? t->kind : "", "tree") == 0)
        return trl_fail_hint(err, trl_fail(err, TRL_EINVAL, "treebanks have no marks of documents"),
                             "name the groups of trees in a file instead");
    return trl_cv_check_train(t, err);
}

/* ---- a fold ---------------------------------------------------------------------------------- */

static trl_status give_labels(validation *x, const trl_held_answer *a, trl_error *err)
{
    const size_t layers = a->n_layers ? a->n_layers : 1, n = a->n_layers ? a->n : 1;
    trl_arena_reset(&x->arena);
    trl_str *label = trl_arena_get(&x->arena, n * layers, sizeof *label);
    if (!label)
        return trl_fail_mem(err);
    for (size_t t = 0; t < n; t++)
        for (size_t k = 0; k < layers; k++) {
            const char *s = a->n_layers ? a->predicted[k * n + t] : NULL;
            label[t * layers + k] = s ? (trl_str){s, strlen(s)} : a->predicted_tree;
        }
    const trl_cv_labels labels = {
        .sequence = a->number, .fold = x->fold, .n_tokens = n, .n_layers = layers, .label = label};
    return x->o.on_labels(x->o.ctx, &labels, err);
}

static trl_status take_answer(void *ctx, const trl_held_answer *a, trl_error *err)
{
    validation *x = ctx;
    trl_status st = trl_held_counts_add(&x->one, a, err);
    if (st == TRL_OK)
        st = trl_held_counts_add(&x->all, a, err);
    return st == TRL_OK && x->o.on_labels ? give_labels(x, a, err) : st;
}

/* Labels the fold by its model. */
static trl_status answer(validation *x, trl_error *err)
{
    const trl_held_data data = {.paths = x->train.train,
                                .n_paths = x->train.n_train,
                                .format = x->train.format,
                                .which = x->held,
                                .n_which = x->folds.n};
    trl_model *m = NULL;
    trl_status st = trl_model_from_memory(x->model.data, x->model.len, &m, err);
    if (st == TRL_OK)
        st = trl_held_counts_init(&x->one, &x->train, err);
    if (st == TRL_OK)
        st = trl_held_out_run(&x->train, m, &data, take_answer, x, err);
    if (st == TRL_OK)
        x->measure = trl_held_counts_measures(&x->one);
    trl_held_counts_fini(&x->one);
    trl_model_free(m);
    return st;
}

static trl_status run_fold(validation *x, trl_cv_result *result, trl_error *err)
{
    trl_cv_fold f = {.number = x->fold, .folds = x->folds.k, .n_all = x->folds.n};
    trl_train_options t = x->train;
    t.model_out = &x->model;
    t.leave_out = x->held;
    t.n_leave_out = x->folds.n;
    for (size_t k = 0; k < x->folds.n; k++)
        f.n_held += x->held[k] = x->folds.fold[k] == x->fold;
    trl_status st = trl_train(&t, &f.result, err);
    if (st == TRL_OK && f.result.stopped)
        st = trl_fail(err, TRL_ECANCEL, "stopped in fold %llu of %llu",
                      (unsigned long long)x->fold + 1, (unsigned long long)x->folds.k);
    if (st == TRL_OK)
        st = answer(x, err);
    trl_buf_fini(&x->model);
    if (st != TRL_OK)
        return st;
    result->seconds += f.result.seconds;
    memcpy(f.value, x->measure.value, sizeof f.value);
    memcpy(f.name, x->measure.name, sizeof f.name);
    memcpy(x->value + x->fold * TRL_CV_MEASURES, f.value, sizeof f.value);
    return x->o.on_fold ? x->o.on_fold(x->o.ctx, &f, err) : TRL_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

void trl_spread(const double *v, size_t n, size_t stride, double *mean, double *deviation)
{
    double sum = 0.0, squares = 0.0;
    for (size_t k = 0; k < n; k++)
        sum += v[k * stride];
    *mean = sum / (double)n;
    for (size_t k = 0; k < n; k++)
        squares += (v[k * stride] - *mean) * (v[k * stride] - *mean);
    *deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN;
}

static void summarise(const validation *x, trl_cv_result *r)
{
    const trl_held_measures all = trl_held_counts_measures(&x->all);
    r->folds = x->folds.k;
    r->n_units = x->folds.n;
    r->n_groups = x->folds.n_groups;
    r->n_measures = all.n;
    for (size_t k = 0; k < all.n; k++) {
        trl_cv_measure *m = &r->measure[k];
        m->name = all.name[k];
        m->all = all.value[k];
        trl_spread(x->value + k, (size_t)x->folds.k, TRL_CV_MEASURES, &m->mean, &m->deviation);
    }
}

trl_status trl_cv(const trl_cv_options *o, trl_cv_result *result, trl_error *err)
{
    if (!o || !result)
        return trl_fail_null(err);
    validation x = {0};
    trl_cv_result r = {0};
    trl_status st = take_options(&x, o, err);
    if (st == TRL_OK)
        st = check(&x, err);
    if (st == TRL_OK)
        st = trl_folds_make(&x.folds, &x.train,
                            &(trl_folds_options){x.o.folds, x.o.documents, x.o.groups}, err);
    if (st == TRL_OK)
        st = trl_held_counts_init(&x.all, &x.train, err);
    if (st == TRL_OK) {
        x.held = trl_alloc(x.folds.n, 1);
        x.value = trl_alloc((size_t)x.folds.k, TRL_CV_MEASURES * sizeof *x.value);
        st = x.held && x.value ? TRL_OK : trl_fail_mem(err);
    }
    for (x.fold = 0; st == TRL_OK && x.fold < x.folds.k; x.fold++)
        st = run_fold(&x, &r, err);
    if (st == TRL_OK) {
        summarise(&x, &r);
        *result = r;
    }
    trl_held_counts_fini(&x.all);
    trl_folds_fini(&x.folds);
    trl_arena_fini(&x.arena);
    trl_free(x.held);
    trl_free(x.value);
    return st;
}
