/* train.c -- trl_boost_train: all classifiers of the data, in parallel. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "options/option_table.h"
#include "train_boost/path.h"

#define LEAST_GAIN 1e-4 /* leaves are not fitted more exactly than to a tenth of that */

static trl_status check_options(const trl_boost_data *d, const trl_boost_data *held_out,
                                const trl_boost_options *o, trl_error *err)
{
    if (o->min_gain < LEAST_GAIN && !o->trees) {
        const trl_status st = trl_fail(
            err, TRL_EINVAL, "with a least gain below %g, lambda may never decay", LEAST_GAIN);
        return trl_fail_hint(err, st, "give 'trees' a limit");
    }
    if (trl_boost_columns(d) == 0)
        return trl_fail(err, TRL_EINVAL, "the examples have no answers");
    if (!d->binary && d->class_of && d->classes.n < 2)
        return trl_fail(err, TRL_EINVAL, "all examples are of one class");
    if (held_out && (held_out->n_features != d->n_features ||
                     trl_boost_columns(held_out) != trl_boost_columns(d)))
        return trl_fail(err, TRL_EINVAL, "the held-out examples were not read like the others");
    return TRL_OK;
}

/* ---- classifiers ----------------------------------------------------------------------------- */

/* A classifier and what its rarer answer is worth: the more, the longer it takes. */
typedef struct planned {
    double worth;
    size_t classifier;
} planned;

typedef struct training {
    const trl_boost_data *d, *held_out;
    const trl_boost_options *o;
    trl_boost_part *part;
    size_t n;
    planned *plan;           /* [n] classifiers in the order in which they are handed out */
    trl_boost_helpers share; /* who may help */
    pthread_mutex_t lock;
    bool stop;
} training;

/* One thread at a time; once asked to stop, all classifiers do. */
static bool on_progress(void *ctx, const trl_boost_progress *now)
{
    training *t = ctx;
    pthread_mutex_lock(&t->lock);
    if (!t->stop && t->o->progress)
        t->stop = t->o->progress(t->o->progress_ctx, now);
    const bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return stop;
}

static trl_status set_checkpoint(trl_boost_path *p, const trl_boost_options *o, size_t k,
                                 trl_error *err)
{
    if (!o->checkpoint)
        return TRL_OK;
    const int n = k ? snprintf(p->checkpoint, sizeof p->checkpoint, "%s.%zu", o->checkpoint, k)
                    : snprintf(p->checkpoint, sizeof p->checkpoint, "%s", o->checkpoint);
    if (n < 0 || (size_t)n >= sizeof p->checkpoint)
        return trl_fail(err, TRL_EINVAL, "the name of the checkpoint is too long");
    return TRL_OK;
}

/* The part of a finished path that the model keeps. */
static void keep(trl_boost_path *p, trl_boost_part *part)
{
    part->own = p->t.trees;
    part->own_point = p->point;
    part->n_points = p->n_points;
    part->best = p->best;
    p->t.trees = (trl_boost_ensemble){0};
    p->point = NULL;
    part->own.n_trees = part->own_point[part->best].trees; /* later trees are dropped */
    part->own.n_nodes = trl_boost_begin(part->own.tree_end, part->own.n_trees);
}

static trl_status learn(training *tr, size_t k, trl_error *err)
{
    char scratch[200];
    const char *name = trl_boost_column_name(tr->d, k, scratch, sizeof scratch);
    tr->part[k].name = trl_strndup(name, strlen(name));
    trl_boost_path *p = trl_zalloc(1, sizeof *p);
    if (!tr->part[k].name || !p) {
        trl_free(p);
        return trl_fail_mem(err);
    }
    p->held_out = tr->held_out;
    p->name = tr->part[k].name;
    p->classifiers = tr->n;
    p->progress = on_progress;
    p->progress_ctx = tr;
    p->helpers = &tr->share;
    trl_status st = set_checkpoint(p, tr->o, k, err);
    if (st == TRL_OK)
        st = trl_trainer_init(&p->t, tr->d, k, tr->o, err);
    if (st == TRL_OK)
        st = trl_boost_path_run(p, err);
    if (st == TRL_OK)
        keep(p, &tr->part[k]);
    trl_boost_path_fini(p);
    trl_free(p);
    return st;
}

static trl_status run_classifier(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    training *tr = ctx;
    const trl_status st = learn(tr, tr->plan[job].classifier, err);
    atomic_fetch_sub(&tr->share.left, 1);
    return st;
}

/* ---- who comes first ------------------------------------------------------------------------- */

static int longest_first(const void *pa, const void *pb)
{
    const planned *a = pa, *b = pb;
    if (a->worth != b->worth)
        return a->worth < b->worth ? 1 : -1;
    return a->classifier < b->classifier ? -1 : 1;
}

/* A classifier that cannot be learnt is found before the first one is. */
static trl_status plan(training *tr, trl_error *err)
{
    double *v = tr->n > 1 ? trl_alloc(tr->d->n, sizeof *v) : NULL;
    trl_status st = tr->n > 1 && !v ? trl_fail_mem(err) : TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < tr->n; k++) {
        trl_boost_worth w = {0};
        tr->plan[k].classifier = k;
        if (v)
            st = trl_boost_values(tr->d, k, v, &w, err);
        tr->plan[k].worth = w.positive < w.negative ? w.positive : w.negative;
    }
    trl_free(v);
    if (st == TRL_OK)
        qsort(tr->plan, tr->n, sizeof *tr->plan, longest_first);
    return st;
}

/* Several classifiers share the threads one each; those without one help the others. */
static trl_status run_all(training *tr, trl_error *err)
{
    const size_t threads = trl_pool_count(tr->o->threads);
    trl_pool *pool = NULL;
    trl_status st = plan(tr, err);
    if (st != TRL_OK)
        return st;
    if (threads > 1 && tr->n > 1 && !(pool = trl_pool_new(threads)))
        return trl_fail(err, TRL_ENOMEM, "cannot start %zu threads", threads);
    tr->share.threads = threads < TRL_POOL_MOST ? threads : TRL_POOL_MOST;
    atomic_store(&tr->share.left, tr->n);
    if (pool)
        st = trl_pool_run(pool, tr->n, run_classifier, tr, err);
    else
        for (size_t k = 0; st == TRL_OK && k < tr->n; k++)
            st = run_classifier(tr, k, 0, err);
    trl_pool_free(pool);
    return st;
}

trl_status trl_boost_train(const trl_boost_data *d, const trl_boost_data *held_out,
                           const trl_boost_options *options, trl_boost_model **out, trl_error *err)
{
    trl_boost_options o;
    if (!d || !options || !out)
        return trl_fail_null(err);
    trl_status st = trl_options_take(trl_boost_option_table(), options, &o, err);
    if (st == TRL_OK)
        st = check_options(d, held_out, &o, err);
    if (st != TRL_OK)
        return st;
    training tr = {.d = d, .held_out = held_out, .o = &o, .n = trl_boost_columns(d)};
    tr.part = trl_zalloc(tr.n, sizeof *tr.part);
    tr.plan = trl_zalloc(tr.n, sizeof *tr.plan);
    if (!tr.part || !tr.plan || pthread_mutex_init(&tr.lock, NULL) != 0) {
        trl_free(tr.part);
        trl_free(tr.plan);
        return trl_fail_mem(err);
    }
    st = run_all(&tr, err);
    if (st == TRL_OK)
        st = trl_boost_model_make(d, tr.part, tr.n, out, err);
    for (size_t k = 0; k < tr.n; k++)
        trl_boost_part_fini(&tr.part[k]);
    pthread_mutex_destroy(&tr.lock);
    trl_free(tr.part);
    trl_free(tr.plan);
    return st;
}
