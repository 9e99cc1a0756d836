/* session.c -- running an optimiser under supervision. */
/* SPDX-License-Identifier: MIT */
#include "train/session.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/checkpoint.h"
#include "train/gradient.h"
#include "train/lbfgs.h"
#include "train/outcome.h"
#include "train/sag.h"
#include "train/scaling.h"
#include "train/sdca.h"
#include "train/sgd.h"

typedef struct run {
    const trl_session *s;
    trl_gradient *gradient; /* L-BFGS only */
    double *best;           /* [n_weights] with a dev set */
    trl_progress_state ps;
} run;

double trl_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *const optimizers[] = {"lbfgs", "owlqn", "sag",       "sdca",
                                         "sgd",   "asgd",  "perceptron"};
#define OPTIMIZERS                                                                                 \
    "lbfgs, owlqn, sag, sdca, sgd, asgd, perceptron (objective perceptron), dual (m-estimation)"

const char *trl_session_optimizer(const trl_train_options *o, bool smooth)
{
    if (o->optimizer)
        return o->optimizer;
    return smooth ? "lbfgs" : "perceptron";
}

size_t trl_session_lanes(const trl_train_options *o)
{
    return o->batch > TRL_LANES_MAX ? (size_t)o->batch : TRL_LANES_MAX;
}

static trl_status check_ranges(const trl_train_options *o, trl_error *err)
{
    if (!(o->c1 >= 0.0 && isfinite(o->c1)) || !(o->c2 >= 0.0 && isfinite(o->c2)))
        return trl_fail(err, TRL_EINVAL, "c1 and c2 must be finite and not negative: %g, %g", o->c1,
                        o->c2);
    if (!(o->epsilon >= 0.0) || !(o->delta >= 0.0))
        return trl_fail(err, TRL_EINVAL, "epsilon and delta must not be negative: %g, %g",
                        o->epsilon, o->delta);
    if (o->period > 60)
        return trl_fail(err, TRL_EINVAL, "the period must be 0 to 60");
    if (o->memory < 1 || o->memory > 32)
        return trl_fail(err, TRL_EINVAL, "L-BFGS keeps 1 to 32 pairs, not %llu",
                        (unsigned long long)o->memory);
    if (o->batch > TRL_SGD_BATCH_MAX)
        return trl_fail(err, TRL_EINVAL, "a batch has 1 to %d sequences", TRL_SGD_BATCH_MAX);
    if (!(o->eta >= 0.0 && isfinite(o->eta)))
        return trl_fail(err, TRL_EINVAL, "the gain eta must be finite and not negative: %g",
                        o->eta);
    if (o->resume && !o->checkpoint)
        return trl_fail(err, TRL_EINVAL, "resuming needs a checkpoint file");
    if (o->patience && !o->dev)
        return trl_fail(err, TRL_EINVAL, "patience needs a dev set");
    return TRL_OK;
}

/* What an optimiser does not look at is refused rather than ignored. */
static trl_status check_unused(const trl_train_options *o, const char *name, trl_error *err)
{
    const bool gain = strcmp(name, "sgd") == 0 || strcmp(name, "asgd") == 0;
    const bool steps = gain || strcmp(name, "perceptron") == 0;
    if (o->eta > 0.0 && !gain)
        return trl_fail(err, TRL_EINVAL, "eta goes with the optimizers sgd and asgd, not %s", name);
    if (o->batch && !steps)
        return trl_fail(err, TRL_EINVAL,
                        "batch goes with the optimizers sgd, asgd and perceptron, not %s", name);
    return TRL_OK;
}

trl_status trl_session_check(const trl_train_options *o, bool smooth, trl_error *err)
{
    const char *name = trl_session_optimizer(o, smooth);
    bool known = false;
    for (size_t k = 0; k < sizeof optimizers / sizeof *optimizers; k++)
        known = known || strcmp(name, optimizers[k]) == 0;
    if (!known)
        return trl_fail(err, TRL_EINVAL, "optimizer '%s' is not known: use one of " OPTIMIZERS,
                        name);
    const bool batch = strcmp(name, "lbfgs") == 0 || strcmp(name, "owlqn") == 0;
    if (o->c1 > 0.0 && !batch)
        return trl_fail(err, TRL_EINVAL,
                        "c1 (L1) needs the optimizer lbfgs (which is OWL-QN then), not %s", name);
    if (strcmp(name, "owlqn") == 0 && o->c1 <= 0.0)
        return trl_fail(err, TRL_EINVAL, "owlqn is for c1 > 0; without L1 use lbfgs");
    const bool sdca = strcmp(name, "sdca") == 0;
    if (sdca && !(o->c2 > 0.0))
        return trl_fail(err, TRL_EINVAL, "the optimizer sdca needs c2 above 0");
    if (!smooth && (batch || sdca || strcmp(name, "sag") == 0))
        return trl_fail(err, TRL_EINVAL,
                        "the perceptron's objective has no gradient for %s: use the optimizer "
                        "perceptron or sgd",
                        name);
    if (smooth && strcmp(name, "perceptron") == 0)
        return trl_fail(err, TRL_EINVAL,
                        "the optimizer perceptron belongs to the objective perceptron");
    const trl_status st = check_ranges(o, err);
    return st == TRL_OK ? check_unused(o, name, err) : st;
}

/* ---- watching -------------------------------------------------------------------------------- */

/* So many iterations without a better score, of which there has been one. */
static bool out_of_patience(const run *r)
{
    const uint64_t patience = r->s->o->patience;
    return patience && !isnan(r->ps.best_score) &&
           r->ps.iterations - r->ps.best_iteration >= patience;
}

static trl_status score(run *r, const trl_iteration *it, double *score, trl_error *err)
{
    const trl_session *s = r->s;
    *score = NAN;
    if (!s->score_dev)
        return TRL_OK;
    const trl_status st = s->score_dev(s->dev, it->x, score, err);
    if (st == TRL_OK && !(*score <= r->ps.best_score)) { /* the first, or better */
        r->ps.best_score = *score;
        r->ps.best_iteration = it->number;
        r->ps.best_objective = it->objective;
        memcpy(r->best, it->x, trl_session_weights(s) * sizeof *r->best);
    }
    return st;
}

static trl_status write_checkpoint(run *r, const trl_iteration *it, trl_state_fn save,
                                   const void *optimizer, trl_error *err)
{
    trl_error failed = {0};
    const trl_status st =
        trl_checkpoint_write(r->s, &r->ps, it->x, r->best, save, optimizer, &failed);
    if (st == TRL_EIO) { /* a full disk must not cost the run: the model may have room elsewhere */
        trl_report_warning(r->s, &failed);
        return TRL_OK;
    }
    if (st != TRL_OK && err)
        *err = failed;
    return st;
}

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    run *r = self;
    const trl_session *s = r->s;
    double dev;
    if (!isfinite(it->objective))
        return trl_fail(err, TRL_ENUMERIC,
                        "training failed: the objective is %g after iteration %llu", it->objective,
                        (unsigned long long)it->number);
    const trl_status st = score(r, it, &dev, err);
    if (st != TRL_OK)
        return st;
    r->ps.iterations = it->number;
    r->ps.objective = it->objective;
    r->ps.gradient = it->gradient;
    r->ps.exact = it->exact;
    r->ps.descends = it->descends;
    r->ps.ended = it->last ? 1 + (uint64_t)it->ending : 0;
    if (out_of_patience(r)) {
        *stop = true;
        r->ps.out_of_patience = 1;
    }
    if (trl_report_iteration(&r->ps, s, it, dev)) {
        *stop = true;
        r->ps.asked_to_stop = 1;
    }
    const bool due = s->o->checkpoint_every && it->number % s->o->checkpoint_every == 0;
    if (!s->o->checkpoint || !(due || *stop || it->last))
        return TRL_OK;
    return write_checkpoint(r, it, save, optimizer, err);
}

/* ---- optimisers ------------------------------------------------------------------------------ */

static trl_status eval(void *self, const double *x, double *g, double *F, trl_error *err)
{
    run *r = self;
    return trl_gradient_eval(r->gradient, x, r->s->o->c2, g, F, err);
}

static trl_status run_lbfgs(run *r, const trl_watcher *w, const trl_checkpoint *c, double *x,
                            trl_ending *ending, trl_error *err)
{
    const trl_train_options *o = r->s->o;
    const trl_function f = {r, (size_t)r->s->d->n_weights, eval};
    const trl_lbfgs_options lo = {.memory = (size_t)o->memory,
                                  .c1 = o->c1,
                                  .max_iter = (size_t)o->max_iter,
                                  .epsilon = o->epsilon,
                                  .period = (size_t)o->period,
                                  .delta = o->delta};
    trl_status st =
        trl_gradient_new(r->s->d, r->s->names, r->s->task, r->s->pool, &r->gradient, err);
    double *scale = NULL;
    if (st == TRL_OK)
        st = trl_scaling_of(r->s->d, o->c2, &scale, err);
    if (st == TRL_OK)
        st = trl_lbfgs_scaled(&f, &lo, scale, r->s->pool, w, c->state, c->state_size, x, ending,
                              err);
    trl_free(scale);
    trl_gradient_free(r->gradient);
    return st;
}

static trl_status run_sag(run *r, const trl_watcher *w, const trl_checkpoint *c, double *x,
                          trl_ending *ending, trl_error *err)
{
    const trl_train_options *o = r->s->o;
    const trl_sag_options so = {.c2 = o->c2,
                                .max_iter = o->max_iter,
                                .epsilon = o->epsilon,
                                .period = o->period < 3 ? o->period : 3,
                                .delta = o->delta,
                                .seed = o->seed};
    return trl_sag(r->s->d, r->s->task, &so, w, c->state, c->state_size, x, ending, err);
}

static trl_status run_sdca(run *r, const trl_watcher *w, const trl_checkpoint *c, double *x,
                           trl_ending *ending, trl_error *err)
{
    const trl_train_options *o = r->s->o;
    const trl_sdca_options so = {.c2 = o->c2,
                                 .max_iter = o->max_iter,
                                 .epsilon = o->epsilon,
                                 .period = o->period < 3 ? o->period : 3,
                                 .delta = o->delta,
                                 .seed = o->seed};
    return trl_sdca(r->s->d, r->s->task, &so, w, c->state, c->state_size, x, ending, err);
}

static trl_status run_sgd(run *r, const char *name, const trl_watcher *w, const trl_checkpoint *c,
                          double *x, trl_ending *ending, trl_error *err)
{
    const trl_train_options *o = r->s->o;
    const bool perceptron = strcmp(name, "perceptron") == 0;
    const trl_sgd_options so = {.c2 = o->c2,
                                .eta = o->eta,
                                .batch = o->batch                   ? o->batch
                                         : strcmp(name, "sgd") == 0 ? 15
                                                                    : 1,
                                .perceptron = perceptron,
                                .averaged = strcmp(name, "sgd") != 0,
                                .max_iter = o->max_iter  ? o->max_iter
                                            : perceptron ? 20
                                                         : 50,
                                .period = perceptron ? 0 : o->period,
                                .delta = o->delta,
                                .seed = o->seed};
    return trl_sgd(r->s->d, r->s->task, &so, r->s->pool, w, c->state, c->state_size, x, ending,
                   err);
}

static trl_status run_optimizer(run *r, const char *name, const trl_checkpoint *c, double *x,
                                trl_ending *ending, trl_error *err)
{
    const trl_session *s = r->s;
    const trl_watcher w = {r, watch};
    if (s->solve)
        return s->solve(s->solver, &w, c->state, c->state_size, x, ending, err);
    if (strcmp(name, "sag") == 0)
        return run_sag(r, &w, c, x, ending, err);
    if (strcmp(name, "sdca") == 0)
        return run_sdca(r, &w, c, x, ending, err);
    if (strcmp(name, "lbfgs") != 0 && strcmp(name, "owlqn") != 0)
        return run_sgd(r, name, &w, c, x, ending, err);
    return run_lbfgs(r, &w, c, x, ending, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Of given weights: the objective there, which the run must not end above. */
static trl_status measure_start(run *r, bool smooth, const double *x, trl_error *err)
{
    bool given = false;
    for (size_t k = 0; !given && k < trl_session_weights(r->s); k++)
        given = x[k] != 0.0;
    if (!given || !smooth)
        return TRL_OK;
    trl_standing at;
    const trl_status st = trl_standing_at(r->s, x, DBL_MAX, &at, err);
    r->ps.start = at.objective;
    return st;
}

/* The weights to keep into x, the facts about them and about the last ones into *result. */
static trl_status conclude(run *r, bool smooth, trl_ending ending, double *x,
                           trl_train_result *result, trl_error *err)
{
    const trl_session *s = r->s;
    const size_t n = trl_session_weights(s);
    const bool best = r->best && !isnan(r->ps.best_score), known = r->ps.exact || !smooth;
    const bool other = best && r->ps.best_iteration != r->ps.iterations;
    trl_standing last = {r->ps.objective, r->ps.gradient, sqrt(trl_dot(s->pool, n, x, x))},
                 kept = last;
    trl_status st = TRL_OK;
    if (!known && (!other || ending == TRL_END_CONVERGED || ending == TRL_END_STALLED))
        st = trl_standing_at(s, x, HUGE_VAL, &last, err);
    kept = last;
    if (best)
        memcpy(x, r->best, n * sizeof *x);
    if (other && known)
        kept.objective = r->ps.best_objective;
    else if (other && st == TRL_OK)
        st = trl_standing_at(s, x, DBL_MAX, &kept, err);
    if (st == TRL_OK)
        st = trl_outcome_check(s, &r->ps, x, smooth ? kept.objective : (double)NAN, err);
    if (st != TRL_OK)
        return st;
    trl_outcome_describe(s, ending, &last, r->ps.exact ? r->ps.fall[0] : (double)NAN,
                         result->ending, sizeof result->ending);
    if (ending == TRL_END_STOPPED && r->ps.out_of_patience)
        snprintf(result->ending, sizeof result->ending, "the dev score did not improve any more");
    result->stopped = r->ps.asked_to_stop != 0;
    result->iterations = r->ps.iterations;
    result->saved_iteration = best ? r->ps.best_iteration : r->ps.iterations;
    result->objective = kept.objective;
    result->dev_score = s->score_dev ? r->ps.best_score : (double)NAN;
    return TRL_OK;
}

/* A run that had ended when its checkpoint was written: its ending; else the optimiser goes on. */
static bool has_ended(run *r, trl_ending *ending)
{
    if (r->ps.ended)
        *ending = (trl_ending)(r->ps.ended - 1);
    else if (out_of_patience(r)) {
        *ending = TRL_END_STOPPED;
        r->ps.out_of_patience = 1;
    }
    return r->ps.ended || r->ps.out_of_patience;
}

trl_status trl_session_run(const trl_session *s, bool smooth, double *x, trl_train_result *result,
                           trl_error *err)
{
    run r = {.s = s};
    const char *name = trl_session_optimizer(s->o, smooth);
    trl_checkpoint c = {0};
    trl_ending ending = TRL_END_MAX_ITER;
    trl_status st = TRL_OK;
    r.ps.objective = r.ps.best_score = r.ps.best_objective = r.ps.gradient = r.ps.start = NAN;
    if (s->score_dev) {
        r.best = trl_alloc(trl_session_weights(s), sizeof *r.best);
        if (!r.best)
            return trl_fail_mem(err);
    }
    if (s->o->resume)
        st = trl_checkpoint_read(s, &r.ps, x, r.best, &c, err);
    else
        st = measure_start(&r, smooth, x, err);
    if (st == TRL_OK && !has_ended(&r, &ending))
        st = run_optimizer(&r, name, &c, x, &ending, err);
    if (st == TRL_OK)
        st = conclude(&r, smooth, ending, x, result, err);
    trl_checkpoint_fini(&c);
    trl_free(r.best);
    return trl_outcome_hint(s, st, err);
}
