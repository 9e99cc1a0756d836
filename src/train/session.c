/* session.c -- running an optimiser under supervision. */
/* SPDX-License-Identifier: MIT */
#include "train/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/checkpoint.h"
#include "train/gradient.h"
#include "train/lbfgs.h"
#include "train/sag.h"
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

/* ---- options ------------------------------------------------------------------------ */

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

/* ---- watching ----------------------------------------------------------------------- */

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    run *r = self;
    const trl_session *s = r->s;
    double score = NAN;
    if (s->score_dev) {
        const trl_status st = s->score_dev(s->dev, it->x, &score, err);
        if (st != TRL_OK)
            return st;
        if (!(score <= r->ps.best_score)) { /* the first, or better */
            r->ps.best_score = score;
            r->ps.best_iteration = it->number;
            memcpy(r->best, it->x, trl_session_weights(s) * sizeof *r->best);
        } else if (s->o->patience && it->number - r->ps.best_iteration >= s->o->patience) {
            *stop = true;
            r->ps.out_of_patience = true;
        }
    }
    r->ps.iterations = it->number;
    r->ps.objective = it->objective;
    const bool asked = trl_report_iteration(&r->ps, s, it, score);
    if (asked) {
        *stop = true;
        r->ps.asked_to_stop = true;
    }
    const bool due = s->o->checkpoint_every && it->number % s->o->checkpoint_every == 0;
    if (!s->o->checkpoint || !(due || *stop))
        return TRL_OK;
    trl_error failed = {0};
    const trl_status st = trl_checkpoint_write(s, &r->ps, it->x, r->best, save, optimizer, &failed);
    if (st == TRL_EIO) { /* a full disk must not cost the run: the model may have room elsewhere */
        trl_report_warning(s, &failed);
        return TRL_OK;
    }
    if (st != TRL_OK && err)
        *err = failed;
    return st;
}

/* ---- optimisers --------------------------------------------------------------------- */

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
    if (st == TRL_OK)
        st = trl_lbfgs(&f, &lo, r->s->pool, w, c->state, c->state_size, x, ending, err);
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
    const trl_status st =
        trl_sag(r->s->d, r->s->task, &so, w, c->state, c->state_size, x, ending, err);
    if (st != TRL_OK)
        return st;
    return trl_objective_value(r->s->d, r->s->task, r->s->pool, x, o->c2, &r->ps.objective, err);
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
    const trl_status st =
        trl_sdca(r->s->d, r->s->task, &so, w, c->state, c->state_size, x, ending, err);
    if (st != TRL_OK)
        return st;
    return trl_objective_value(r->s->d, r->s->task, r->s->pool, x, o->c2, &r->ps.objective, err);
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
    const trl_status st =
        trl_sgd(r->s->d, r->s->task, &so, r->s->pool, w, c->state, c->state_size, x, ending, err);
    if (st != TRL_OK || perceptron)
        return st;
    /* passes report what their examples cost on the way; this is of the weights that are kept */
    return trl_objective_value(r->s->d, r->s->task, r->s->pool, x, o->c2, &r->ps.objective, err);
}

static void describe_ending(const run *r, trl_ending e, trl_train_result *result)
{
    const char *why = "";
    switch (e) {
    case TRL_END_CONVERGED:
        why = "converged";
        break;
    case TRL_END_MAX_ITER:
        why = "the maximum number of iterations was reached";
        break;
    case TRL_END_NO_STEP:
        why = "no step lowers the objective any further: limit of the precision";
        break;
    case TRL_END_STOPPED:
        why = r->ps.out_of_patience ? "the dev score did not improve any more" : "stopped";
        break;
    }
    snprintf(result->ending, sizeof result->ending, "%s", why);
    result->stopped = r->ps.asked_to_stop;
    result->iterations = r->ps.iterations;
    result->objective = r->ps.objective;
    result->dev_score = r->s->score_dev ? r->ps.best_score : (double)NAN;
}

trl_status trl_session_run(const trl_session *s, bool smooth, double *x, trl_train_result *result,
                           trl_error *err)
{
    run r = {.s = s};
    const char *name = trl_session_optimizer(s->o, smooth);
    const trl_watcher w = {&r, watch};
    trl_checkpoint c = {0};
    trl_ending ending = TRL_END_MAX_ITER;
    trl_status st = TRL_OK;
    r.ps.objective = r.ps.best_score = NAN;
    if (s->score_dev) {
        r.best = trl_alloc(trl_session_weights(s), sizeof *r.best);
        if (!r.best)
            return trl_fail_mem(err);
    }
    if (s->o->resume)
        st = trl_checkpoint_read(s, &r.ps, x, r.best, &c, err);
    if (st == TRL_OK) {
        if (s->solve)
            st = s->solve(s->solver, &w, c.state, c.state_size, x, &ending, err);
        else if (strcmp(name, "sag") == 0)
            st = run_sag(&r, &w, &c, x, &ending, err);
        else if (strcmp(name, "sdca") == 0)
            st = run_sdca(&r, &w, &c, x, &ending, err);
        else if (strcmp(name, "lbfgs") != 0 && strcmp(name, "owlqn") != 0)
            st = run_sgd(&r, name, &w, &c, x, &ending, err);
        else
            st = run_lbfgs(&r, &w, &c, x, &ending, err);
    }
    if (st == TRL_OK) {
        describe_ending(&r, ending, result);
        if (r.best && !isnan(r.ps.best_score))
            memcpy(x, r.best, trl_session_weights(s) * sizeof *x);
    }
    trl_checkpoint_fini(&c);
    trl_free(r.best);
    return st;
}
