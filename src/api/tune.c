/* tune.c -- trl_tune: settings in order, or by halving, scored on data that no run has seen. */
/* SPDX-License-Identifier: MIT */
#include "trellis/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/train_options.h"
#include "api/tune_search.h"
#include "base/fail.h"
#include "base/mem.h"
#include "options/option_table.h"
#include "train/objectives.h"
#include "train/places.h"
#include "trellis/file.h"

void trl_tune_default_grid(double c[TRL_TUNE_DEFAULT])
{
    if (!c)
        return;
    for (int k = 0; k < TRL_TUNE_DEFAULT - 1; k++)
        c[k] = pow(10.0, (k - 3) / 3.0);
    c[TRL_TUNE_DEFAULT - 1] = INFINITY;
}

size_t trl_tune_settings(const trl_tune_options *o)
{
    trl_tune_options own;
    if (!o || trl_options_copy(trl_tune_option_table(), o, &own, NULL) != TRL_OK)
        return 0;
    o = &own;
    return (o->grid ? o->n_grid : TRL_TUNE_DEFAULT) * (o->c1 ? o->n_c1 : 1) *
           (o->objectives ? o->n_objectives : 1) * (o->templates ? o->n_templates : 1) *
           (o->passes ? o->n_passes : 1) * (o->variants ? o->n_variants : 1);
}

/* ---- before the first run -------------------------------------------------------------------- */

static trl_status take_options(trl_tune_search *s, const trl_tune_options *o, trl_error *err)
{
    trl_status st = trl_options_take(trl_tune_option_table(), o, &s->o, err);
    if (st != TRL_OK)
        return st;
    if (!s->o.train)
        return trl_fail_null(err);
    st = trl_train_options_take(s->o.train, &s->train, err);
    const trl_train_options *t = &s->train;
    if (st == TRL_OK && (!t->kind || !t->objective || !t->grade || !t->annotate || !t->clusters))
        return trl_fail_null(err);
    return st;
}

#define MOST_SETTINGS 10000

static trl_status check_lists(const trl_tune_options *o, trl_error *err)
{
    if ((o->grid && !o->n_grid) || (o->c1 && !o->n_c1) || (o->objectives && !o->n_objectives) ||
        (o->templates && !o->n_templates) || (o->passes && !o->n_passes) ||
        (o->variants && !o->n_variants))
        return trl_fail(err, TRL_EINVAL, "the grid is empty");
    for (size_t k = 0; o->variants && k < o->n_variants; k++)
        if (!o->variants[k])
            return trl_fail_null(err);
    for (size_t k = 0; o->grid && k < o->n_grid; k++)
        if (!(o->grid[k] > 0.0))
            return trl_fail(err, TRL_EINVAL, "c must be above 0, or infinite: %g", o->grid[k]);
    for (size_t k = 0; o->c1 && k < o->n_c1; k++)
        if (!(o->c1[k] >= 0.0) || isinf(o->c1[k]))
            return trl_fail(err, TRL_EINVAL, "c1 must be 0 or more: %g", o->c1[k]);
    for (size_t k = 0; o->passes && k < o->n_passes; k++)
        if (o->passes[k] == 0)
            return trl_fail(err, TRL_EINVAL, "passes must be 1 or more");
    const double n =
        (double)(o->grid ? o->n_grid : TRL_TUNE_DEFAULT) * (double)(o->c1 ? o->n_c1 : 1) *
        (double)(o->passes ? o->n_passes : 1) * (double)(o->objectives ? o->n_objectives : 1) *
        (double)(o->templates ? o->n_templates : 1) * (double)(o->variants ? o->n_variants : 1);
    return n > MOST_SETTINGS
               ? trl_fail(err, TRL_EINVAL, "%.0f settings are more than %d", n, MOST_SETTINGS)
               : TRL_OK;
}

static trl_status check_files(const trl_tune_options *o, const trl_train_options *t, trl_error *err)
{
    if (!t->model && !o->folds)
        return trl_fail(err, TRL_EINVAL, "no model file is given");
    if (t->n_train == 0)
        return trl_fail(err, TRL_EINVAL, "no training file is given");
    if (t->checkpoint || t->resume || t->patience || t->hold_out || t->leave_out)
        return trl_fail(err, TRL_EINVAL, "tuning does not take checkpoints, patience or hold_out");
    for (size_t k = 0; k < t->n_train; k++)
        if (!t->train || !t->train[k])
            return trl_fail(err, TRL_EINVAL, "the path of training file %zu is NULL", k + 1);
        else if (strcmp(t->train[k], "-") == 0)
            return trl_fail(err, TRL_EINVAL,
                            "training data is read once for every run: it cannot be "
                            "standard input");
    if (t->dev && strcmp(t->dev, "-") == 0)
        return trl_fail(err, TRL_EINVAL,
                        "held-out data is read after every run: it cannot be "
                        "standard input");
    return trl_check_writable(t->model, err);
}

/* Better now than after the runs of those before it. */
static trl_status check_objective(const trl_train_options *t, const char *name, trl_error *err)
{
    const trl_objective *found = NULL;
    const trl_kind kind = strcmp(t->kind, "tree") == 0    ? TRL_KIND_TREE
                          : strcmp(t->kind, "graph") == 0 ? TRL_KIND_GRAPH
                                                          : TRL_KIND_CHAIN;
    return name ? trl_objective_choose(name, kind, &found, err) : trl_fail_null(err);
}

static trl_status check(const trl_tune_search *s, trl_error *err)
{
    const trl_tune_options *o = &s->o;
    const trl_train_options *t = &s->train;
    if (t->data || t->dev_data || t->model_out || t->init_model)
        return trl_fail(err, TRL_EINVAL,
                        "tuning reads and writes files: data, dev_data, model_out and init_model "
                        "are for trl_train");
    if (o->folds && t->dev)
        return trl_fail(err, TRL_EINVAL, "models are scored on dev or on folds, not on both");
    if ((o->documents || o->groups) && !o->folds)
        return trl_fail(err, TRL_EINVAL, "documents and groups go with folds");
    if (o->documents && o->groups)
        return trl_fail(err, TRL_EINVAL, "folds are by documents or by groups, not by both");
    if (t->partial && !t->dev)
        return trl_fail_hint(err,
                             trl_fail(err, TRL_EINVAL,
                                      "partial labels cannot be scored: no part "
                                      "of the training data can be held out"),
                             "score on dev data that is labelled as a whole");
    trl_status st = check_lists(o, err);
    for (size_t k = 0; st == TRL_OK && o->objectives && k < o->n_objectives; k++)
        st = check_objective(t, o->objectives[k], err);
    return st == TRL_OK ? check_files(o, t, err) : st;
}

/* ---- the search ------------------------------------------------------------------------------ */

typedef struct search {
    trl_tune_search s;
    trl_tune_trial *winner; /* NULL: none yet */
    bool stopped;
} search;

static bool better(const search *x, const trl_tune_trial *t)
{
    return !isnan(t->run.score) && (!x->winner || t->run.score > x->winner->run.score);
}

/* The run is over: it may be the best; the caller hears of it. */
static trl_status settle(search *x, trl_tune_trial *t, bool counts, trl_error *err)
{
    t->run.best = counts && better(x, t) && (!x->stopped || !x->winner);
    if (t->run.best) {
        if (x->winner && x->winner != t)
            trl_tune_trial_forget(&x->s, x->winner);
        x->winner = t;
    }
    return x->s.o.on_run ? x->s.o.on_run(x->s.o.ctx, &t->run, err) : TRL_OK;
}

/* From which model a run starts: the last one of its path that has a model. */
static trl_tune_trial *start_of(const search *x, size_t k)
{
    const trl_tune_search *s = &x->s;
    while (!s->trial[k].first)
        if (s->trial[--k].model[0].len)
            return &s->trial[k];
    return NULL;
}

static trl_status run_all(search *x, trl_error *err)
{
    trl_tune_search *s = &x->s;
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < s->n && !x->stopped; k++) {
        trl_tune_trial *t = &s->trial[k];
        trl_tune_trial *before = trl_tune_search_is_warm(s, t) ? start_of(x, k) : NULL;
        st = trl_tune_search_run(s, t, before, 0, err);
        if (st == TRL_ECANCEL && x->winner && !s->folds.k) { /* before its first iteration */
            x->stopped = true;
            return TRL_OK;
        }
        x->stopped = t->run.result.stopped;
        if (st == TRL_OK)
            st = settle(x, t, true, err);
        for (size_t i = 0; i < k; i++) /* what no later run starts from */
            if (&s->trial[i] != x->winner && (t->model[0].len || s->trial[k].first))
                trl_tune_trial_forget(s, &s->trial[i]);
    }
    return st;
}

/* ---- halving --------------------------------------------------------------------------------- */

#define FIRST_ROUND 10 /* iterations */
#define KEPT 3         /* one in three goes on */

/* Best first; of equally good ones the earlier, and those without a score last. */
static int by_score(const void *va, const void *vb)
{
    const trl_tune_trial *a = *(trl_tune_trial *const *)va, *b = *(trl_tune_trial *const *)vb;
    const bool x = isnan(a->run.score), y = isnan(b->run.score);
    if (x != y)
        return x ? 1 : -1;
    if (!x && a->run.score != b->run.score)
        return a->run.score > b->run.score ? -1 : 1;
    return a < b ? -1 : 1;
}

/* All of alive[n] for so many iterations (0: to their end), from where they were. */
static trl_status run_round(search *x, trl_tune_trial **alive, size_t n, uint64_t iterations,
                            trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t i = 0; st == TRL_OK && i < n && !x->stopped; i++) {
        trl_tune_trial *t = alive[i];
        trl_tune_trial *before = t->model[0].len && trl_tune_search_is_warm(&x->s, t) ? t : NULL;
        const bool capped = iterations && (!t->run.passes || iterations < t->run.passes);
        st = trl_tune_search_run(&x->s, t, before, capped ? iterations : 0, err);
        if (st != TRL_OK)
            break;
        x->stopped = t->run.result.stopped;
        st = settle(x, t, !iterations || x->stopped, err);
        t->run.round++;
    }
    return st;
}

static trl_status halve(search *x, trl_error *err)
{
    size_t n = x->s.n;
    trl_tune_trial **alive = trl_alloc(n, sizeof(trl_tune_trial *));
    trl_status st = alive ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; alive && k < n; k++)
        alive[k] = &x->s.trial[k];
    for (uint64_t iterations = FIRST_ROUND; st == TRL_OK && n > KEPT && !x->stopped;
         iterations *= KEPT) {
        st = run_round(x, alive, n, iterations, err);
        qsort(alive, n, sizeof(trl_tune_trial *), by_score);
        const size_t kept = (n + KEPT - 1) / KEPT;
        for (size_t k = kept; k < n; k++)
            if (alive[k] != x->winner)
                trl_tune_trial_forget(&x->s, alive[k]);
        n = kept;
    }
    if (st == TRL_OK && !x->stopped)
        st = run_round(x, alive, n, 0, err);
    trl_free(alive);
    return st;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The strongest penalty within one standard error: the smallest c, and of these the largest c1. */
static void find_simple(const search *x, trl_tune_run *best)
{
    const trl_tune_search *s = &x->s;
    best->simple_c = best->simple_c1 = best->simple_score = (double)NAN;
    if (!s->folds.k)
        return;
    const double enough = best->score - best->deviation / sqrt((double)s->folds.k);
    for (size_t k = 0; k < s->n; k++) {
        const trl_tune_run *r = &s->trial[k].run;
        if (r->objective != best->objective || s->trial[k].tpl != x->winner->tpl ||
            s->trial[k].variant != x->winner->variant || r->passes != best->passes ||
            r->round < best->round || !(r->score >= enough))
            continue;
        if (isnan(best->simple_c) || r->c < best->simple_c ||
            (r->c == best->simple_c && r->c1 > best->simple_c1)) {
            best->simple_c = r->c;
            best->simple_c1 = r->c1;
            best->simple_score = r->score;
        }
    }
}

/* Once more with the chosen setting, on all data; the model takes the best one's place. */
static trl_status refit(search *x, trl_error *err)
{
    const trl_train_options *o = &x->s.train;
    trl_tune_trial *w = x->winner;
    trl_train_options t = trl_tune_search_options(&x->s, w);
    trl_buf model = {0};
    trl_model *start = NULL;
    const char **files = trl_alloc(o->n_train + 1, sizeof *files);
    trl_status st = files ? TRL_OK : trl_fail_mem(err);
    if (files && o->n_train)
        memcpy(files, o->train, o->n_train * sizeof *files);
    if (files)
        files[o->n_train] = o->dev;
    t.train = files;
    t.n_train = o->n_train + (o->dev != NULL);
    t.model_out = &model;
    if (st == TRL_OK && trl_tune_search_is_warm(&x->s, w) && !x->s.folds.k) {
        st = trl_model_from_memory(w->model[0].data, w->model[0].len, &start, err);
        t.init = NULL;
        t.init_model = start;
    }
    trl_tune_run run = w->run;
    run.refit = true;
    run.best = false;
    run.score = (double)NAN;
    if (st == TRL_OK)
        st = trl_train(&t, &run.result, err);
    trl_free(files);
    trl_model_free(start);
    if (st == TRL_ECANCEL && !x->s.folds.k) { /* the best run's model it is */
        trl_buf_fini(&model);
        x->stopped = true;
        return TRL_OK;
    }
    if (st == TRL_OK && x->s.o.on_run)
        st = x->s.o.on_run(x->s.o.ctx, &run, err);
    trl_buf_fini(&w->model[0]);
    w->model[0] = model;
    x->stopped = run.result.stopped;
    return st;
}

static trl_status write_bytes(const char *path, const trl_buf *m, trl_error *err)
{
    trl_writer *w = NULL;
    trl_status st = trl_writer_open(path, &w, err);
    if (st != TRL_OK)
        return st;
    st = trl_writer_put(w, m->data, m->len, err);
    if (st == TRL_OK)
        return trl_writer_commit(w, err);
    trl_writer_abort(w);
    return st;
}

/* Where the model cannot be written it goes to the place of rescue, and that is said. */
static trl_status write_model(const search *x, trl_error *err)
{
    const trl_train_options *t = &x->s.train;
    trl_error second = {0};
    if (!t->model)
        return TRL_OK;
    const trl_status st = write_bytes(t->model, &x->winner->model[0], err);
    if (st == TRL_EIO && t->rescue &&
        write_bytes(t->rescue, &x->winner->model[0], &second) == TRL_OK)
        trl_fail_hint(err, st, "the trained model was saved as %s: move it from there", t->rescue);
    return st;
}

static trl_status search_and_write(search *x, trl_error *err)
{
    trl_tune_search *s = &x->s;
    trl_status st = TRL_OK;
    if (s->o.folds)
        st = trl_folds_make(&s->folds, &s->train,
                            &(trl_folds_options){s->o.folds, s->o.documents, s->o.groups}, err);
    if (st == TRL_OK)
        st = trl_tune_search_init(s, err);
    if (st == TRL_OK)
        st = s->o.halving ? halve(x, err) : run_all(x, err);
    if (st == TRL_OK && !x->winner)
        st = trl_fail(err, TRL_ENUMERIC, "no run of the grid came to an end");
    const bool again = s->o.folds ? s->train.model != NULL : s->o.refit;
    if (st == TRL_OK && again && !x->stopped)
        st = refit(x, err);
    return st == TRL_OK ? write_model(x, err) : st;
}

trl_status trl_tune(const trl_tune_options *o, trl_tune_run *best, trl_error *err)
{
    if (!o)
        return trl_fail_null(err);
    search x = {0};
    trl_status st = take_options(&x.s, o, err);
    if (st == TRL_OK)
        st = check(&x.s, err);
    if (st == TRL_OK)
        st = search_and_write(&x, err);
    if (st == TRL_OK && best) {
        *best = x.winner->run;
        best->result.stopped = x.stopped;
        find_simple(&x, best);
    }
    trl_tune_search_fini(&x.s);
    return st;
}
