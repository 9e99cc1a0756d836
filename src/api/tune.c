/* tune.c -- trl_tune: a grid of penalties, trained in order, scored on data that no run has
 * seen. */
/* SPDX-License-Identifier: MIT */
#include "trellis/tune.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "train/optimizers.h"
#include "base/mem.h"
#include "train_chain/held_score.h"
#include "train_graph/graph_held.h"

/* The file of the run before and the best so far are two files, or one. */
typedef struct tuning {
    const trl_tune_options *o;
    double *grid; /* ascending */
    size_t n_grid;
    char *now, *last, *best; /* paths beside the model */
    bool has_last, has_best;
    trl_tune_run winner;
} tuning;

trl_tune_options trl_tune_options_default(void)
{
    return (trl_tune_options){.train = trl_train_options_default(), .hold_out = 10};
}

void trl_tune_default_grid(double c[TRL_TUNE_DEFAULT])
{
    if (!c)
        return;
    for (int k = 0; k < TRL_TUNE_DEFAULT - 1; k++)
        c[k] = pow(10.0, (k - 3) / 3.0);
    c[TRL_TUNE_DEFAULT - 1] = INFINITY;
}

/* ---- before the first run -------------------------------------------------------------------- */

static int ascending(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

static trl_status check(const trl_tune_options *o, trl_error *err)
{
    const trl_train_options *t = &o->train;
    if (t->data || t->dev_data || t->model_out)
        return trl_fail(err, TRL_EINVAL,
                        "tuning reads and writes files: data, dev_data and model_out are for "
                        "trl_train");
    if (!t->model)
        return trl_fail(err, TRL_EINVAL, "no model file is given");
    if (strcmp(t->kind, "chain") != 0 && strcmp(t->kind, "graph") != 0)
        return trl_fail(err, TRL_EINVAL,
                        "tuning is for chains and graphs: of trees, train with a dev set for "
                        "each c2");
    if (t->format > TRL_FORMAT_CRFSUITE && t->format != TRL_FORMAT_GRMM)
        return trl_fail_hint(err,
                             trl_fail(err, TRL_EINVAL, "tuning reads columns and CRFsuite items"),
                             "convert the data first");
    if (t->checkpoint || t->resume || t->patience || t->hold_out)
        return trl_fail(err, TRL_EINVAL, "tuning does not take checkpoints, patience or hold_out");
    for (size_t k = 0; k < t->n_train; k++)
        if (strcmp(t->train[k], "-") == 0)
            return trl_fail(err, TRL_EINVAL,
                            "training data is read once for every run: it cannot be "
                            "standard input");
    if (t->dev && strcmp(t->dev, "-") == 0)
        return trl_fail(err, TRL_EINVAL,
                        "held-out data is read after every run: it cannot be "
                        "standard input");
    if (!t->dev && o->hold_out < 2)
        return trl_fail(err, TRL_EINVAL, "every second sequence at most can be held out");
    if (o->grid && o->n_grid == 0)
        return trl_fail(err, TRL_EINVAL, "the grid is empty");
    for (size_t k = 0; o->grid && k < o->n_grid; k++)
        if (!(o->grid[k] > 0.0))
            return trl_fail(err, TRL_EINVAL, "c must be above 0, or infinite: %g", o->grid[k]);
    return TRL_OK;
}

static char *beside(const char *model, const char *name)
{
    const size_t n = strlen(model) + 60;
    char *path = trl_alloc(n, 1);
    if (path)
        snprintf(path, n, "%s.tune-%ld-%s", model, (long)getpid(), name);
    return path;
}

static trl_status start(tuning *x, trl_error *err)
{
    const trl_tune_options *o = x->o;
    x->n_grid = o->grid ? o->n_grid : TRL_TUNE_DEFAULT;
    x->grid = trl_alloc(x->n_grid, sizeof *x->grid);
    x->now = beside(o->train.model, "now");
    x->last = beside(o->train.model, "last");
    x->best = beside(o->train.model, "best");
    if (!x->grid || !x->now || !x->last || !x->best)
        return trl_fail_mem(err);
    if (o->grid)
        memcpy(x->grid, o->grid, x->n_grid * sizeof *x->grid);
    else
        trl_tune_default_grid(x->grid);
    qsort(x->grid, x->n_grid, sizeof *x->grid, ascending);
    return TRL_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static trl_status move(const char *from, const char *to, trl_error *err)
{
    if (rename(from, to) == 0)
        return TRL_OK;
    const trl_status st = trl_fail(err, TRL_EIO, "cannot rename to %s: %s", to, strerror(errno));
    return trl_fail_where(err, st, from, 0, 0);
}

/* The run just ended is the start of the next one; if it is the best, `best` is a second name
 * of the same file, or, where the file system has none, takes its place. */
static trl_status keep(tuning *x, bool best, trl_error *err)
{
    trl_status st = move(x->now, x->last, err);
    x->has_last = x->has_last || st == TRL_OK;
    if (st != TRL_OK || !best)
        return st;
    unlink(x->best);
    if (link(x->last, x->best) != 0) {
        st = move(x->last, x->best, err);
        x->has_last = false;
    }
    x->has_best = st == TRL_OK;
    return st;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static double measured(const tuning *x, const trl_score_totals *t, bool chunks)
{
    switch (x->o->measure) {
    case TRL_TUNE_GUESS:
        return chunks ? t->f1 : t->accuracy;
    case TRL_TUNE_F1:
        return t->f1;
    case TRL_TUNE_PRECISION:
        return t->precision;
    case TRL_TUNE_RECALL:
        return t->recall;
    case TRL_TUNE_ACCURACY:
        break;
    }
    return t->accuracy;
}

/* trl_train and a score.  A run that fails numerically has no score and no model: the others
 * continue without it. */
static trl_status run_one(tuning *x, const trl_train_options *t, trl_tune_run *run, trl_error *err)
{
    const trl_train_options *o = &x->o->train;
    trl_status st = trl_train(t, &run->result, err);
    if (st == TRL_ENUMERIC) {
        snprintf(run->result.ending, sizeof run->result.ending, "%.79s", err->msg);
        run->score = NAN;
        return TRL_OK;
    }
    const trl_held_data data = o->dev ? (trl_held_data){&o->dev, 1, 1}
                                      : (trl_held_data){o->train, o->n_train, x->o->hold_out};
    if (st == TRL_OK)
        st = (strcmp(o->kind, "graph") == 0 ? trl_graph_held_score : trl_held_score)(
            t->model, &data, &run->held_out, &run->chunks, err);
    if (st == TRL_OK)
        run->score = run->result.dev_score = measured(x, &run->held_out, run->chunks);
    return st;
}

/* Runs start from the weights of the run before; sdca cannot. */
static bool is_warm(const tuning *x)
{
    const char *optimizer = x->o->train.optimizer;
    const trl_optimizer *p = optimizer ? trl_optimizer_find(optimizer) : NULL;
    return !x->o->cold && (!p || p->starts);
}

static trl_status run_grid(tuning *x, trl_error *err)
{
    const trl_tune_options *o = x->o;
    bool stopped = false;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < x->n_grid && !stopped; k++) {
        trl_tune_run run = {.c = x->grid[k]};
        run.c2 = isinf(run.c) ? 0.0 : 0.5 / run.c;
        trl_train_options t = o->train;
        t.dev = NULL;
        t.hold_out = o->train.dev ? 0 : o->hold_out;
        t.c2 = run.c2;
        t.model = x->now;
        if (is_warm(x) && x->has_last)
            t.init = x->last;
        else if (is_warm(x) && x->has_best)
            t.init = x->best;
        st = run_one(x, &t, &run, err);
        if (st == TRL_ECANCEL && x->has_best) { /* before its first iteration was done */
            stopped = true;
            st = TRL_OK;
            break;
        }
        stopped = run.result.stopped;
        run.best = st == TRL_OK && !isnan(run.score) &&
                   (!x->has_best || (!stopped && run.score > x->winner.score));
        if (st == TRL_OK && !isnan(run.score))
            st = keep(x, run.best, err);
        if (run.best)
            x->winner = run;
        if (st == TRL_OK && o->on_run)
            st = o->on_run(o->ctx, &run, err);
    }
    x->winner.result.stopped = stopped;
    if (st == TRL_OK && !x->has_best)
        st = trl_fail(err, TRL_ENUMERIC, "no run of the grid came to an end");
    return st;
}

static trl_status refit(tuning *x, trl_error *err)
{
    const trl_train_options *o = &x->o->train;
    const char **files = trl_alloc(o->n_train + 1, sizeof *files);
    if (!files)
        return trl_fail_mem(err);
    memcpy(files, o->train, o->n_train * sizeof *files);
    files[o->n_train] = o->dev;
    trl_train_options t = *o;
    t.train = files;
    t.n_train = o->n_train + (o->dev != NULL);
    t.dev = NULL;
    t.c2 = x->winner.c2;
    t.model = x->now;
    if (is_warm(x))
        t.init = x->best;
    trl_tune_run run = {.c = x->winner.c, .c2 = x->winner.c2, .refit = true};
    trl_status st = trl_train(&t, &run.result, err);
    trl_free(files);
    if (st == TRL_ECANCEL) { /* the best run's model it is */
        x->winner.result.stopped = true;
        return TRL_OK;
    }
    run.score = NAN;
    if (st == TRL_OK)
        st = move(x->now, x->best, err);
    if (st == TRL_OK && x->o->on_run)
        st = x->o->on_run(x->o->ctx, &run, err);
    x->winner.result.stopped = run.result.stopped;
    return st;
}

trl_status trl_tune(const trl_tune_options *o, trl_tune_run *best, trl_error *err)
{
    if (!o || !o->train.kind || !o->train.objective || !o->train.grade || !o->train.annotate ||
        !o->train.clusters)
        return trl_fail_null(err);
    tuning x = {.o = o};
    trl_status st = check(o, err);
    if (st == TRL_OK)
        st = start(&x, err);
    if (st == TRL_OK)
        st = run_grid(&x, err);
    if (st == TRL_OK && o->refit && !x.winner.result.stopped)
        st = refit(&x, err);
    if (st == TRL_OK)
        st = move(x.best, o->train.model, err);
    char *const path[] = {x.now, x.last, x.best};
    for (size_t k = 0; k < 3; k++) {
        if (path[k])
            unlink(path[k]);
        trl_free(path[k]);
    }
    trl_free(x.grid);
    if (st == TRL_OK && best)
        *best = x.winner;
    return st;
}
