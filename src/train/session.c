/* session.c -- running an optimiser under supervision. */
/* SPDX-License-Identifier: MIT */
#include "train/session.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/checkpoint.h"
#include "train/gradient.h"
#include "train/outcome.h"

typedef struct run {
    const trl_session *s;
    double *best; /* [n_weights] with a dev set */
    trl_progress_state ps;

    /* Where to go back to when an iteration is cancelled. */
    bool can_return;
    bool on_disk;  /* the checkpoint is of there */
    double *kept;  /* [n_weights], NULL: not needed */
    trl_buf state; /* the optimiser's, for checkpoints */
    double turned; /* trl_clock() after the last iteration */
} run;

size_t trl_session_lanes(const trl_train_options *o)
{
    return o->batch > TRL_LANES_MAX ? (size_t)o->batch : TRL_LANES_MAX;
}

/* ---- after an iteration ---------------------------------------------------------------------- */

/* True after `patience` scores without a better one, once there is one. */
static bool out_of_patience(const run *r)
{
    const uint64_t patience = r->s->o->patience;
    return patience && !isnan(r->ps.best_score) && r->ps.since_best >= patience;
}

static trl_status score(run *r, const trl_iteration *it, double *score, trl_error *err)
{
    const trl_session *s = r->s;
    *score = NAN;
    const trl_learner *l = s->learner;
    if (!l->score)
        return TRL_OK;
    const trl_status st = l->score(l->self, it->x, score, err);
    if (st != TRL_OK || isnan(*score))
        return st;
    if (*score <= r->ps.best_score) {
        r->ps.since_best++;
        return TRL_OK;
    }
    r->ps.best_score = *score; /* the first, or better */
    r->ps.best_iteration = it->number;
    r->ps.best_objective = it->objective;
    r->ps.since_best = 0;
    if (l->steps)
        l->steps->mark(l->self);
    else
        memcpy(r->best, it->x, l->n_weights * sizeof *r->best);
    return TRL_OK;
}

/* Of x and r->state. */
static trl_status write_checkpoint(run *r, const double *x, trl_error *err)
{
    trl_error failed = {0};
    const trl_status st = trl_checkpoint_write(r->s, &r->ps, x, r->best, &r->state, &failed);
    if (st == TRL_EIO) { /* a full disk must not end the run */
        trl_report_warning(r->s, &failed);
        return TRL_OK;
    }
    if (st != TRL_OK && err)
        *err = failed;
    return st;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

/* Seconds.  Iterations that take less are finished, and nothing is kept for them. */
#define SHORT 0.2

static bool can_cancel(const run *r)
{
    return r->s->cancel && r->s->cancel->asked;
}

/* Was the iteration that has just ended long enough for the next one to be cancelled? */
static bool was_long(run *r)
{
    const double now = trl_clock(), took = now - r->turned;
    r->turned = now;
    return can_cancel(r) && took >= SHORT;
}

/* Keeps x to go back to, unless the optimiser will leave it there.  False: there is no memory for
 * it, or no need. */
static bool keep_weights(run *r, const double *x)
{
    const size_t n = r->s->learner->n_weights;
    if (r->s->learner->steps) /* a step that is cancelled has changed nothing */
        return false;
    if (r->s->optimizer->leaves_last)
        return true;
    if (!r->kept)
        r->kept = trl_alloc(n, sizeof *r->kept);
    if (r->kept)
        memcpy(r->kept, x, n * sizeof *r->kept);
    return r->kept != NULL;
}

/* An iteration was cancelled: back to the one before it.  TRL_ECANCEL: there is none. */
static trl_status go_back(run *r, double *x, trl_ending *ending, trl_error *err)
{
    if (!r->can_return)
        return TRL_ECANCEL;
    const trl_learner *l = r->s->learner;
    r->s->cancel->held = true;
    r->ps.asked_to_stop = 1;
    *ending = TRL_END_STOPPED;
    if (r->kept)
        memcpy(x, r->kept, l->n_weights * sizeof *x);
    if (l->steps && r->s->o->checkpoint && !l->steps->save(l->self, &r->state))
        return trl_fail_mem(err);
    return r->on_disk || !r->s->o->checkpoint ? TRL_OK : write_checkpoint(r, x, err);
}

/* ---- watching -------------------------------------------------------------------------------- */

/* Scores the iteration, remembers and reports it. */
static trl_status take_note(run *r, const trl_iteration *it, bool *stop, trl_error *err)
{
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
    r->ps.gap = it->exact && it->has_bound ? it->objective - it->bound : (double)NAN;
    r->ps.exact = it->exact;
    r->ps.descends = it->descends;
    r->ps.handed_over = it->handed_over;
    r->ps.ended = it->last ? 1 + (uint64_t)it->ending : 0;
    if (out_of_patience(r)) {
        *stop = true;
        r->ps.out_of_patience = 1;
    }
    if (trl_report_iteration(&r->ps, r->s, it, dev)) {
        *stop = true;
        r->ps.asked_to_stop = 1;
    }
    return TRL_OK;
}

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    run *r = self;
    const trl_train_options *o = r->s->o;
    trl_iteration now = *it;
    if (o->c2 <= 0.0 && it->objective < r->s->learner->bottom) {
        now.last = *stop = true;
        now.ending = TRL_END_NO_MINIMUM;
    }
    trl_status st = take_note(r, &now, stop, err);
    if (st != TRL_OK)
        return st;
    if (r->s->learner->memory)
        r->s->learner->memory->turn(r->s->learner->self);
    const bool last = *stop || now.last || it->number == r->ps.most;
    const bool due = o->checkpoint_every && it->number % o->checkpoint_every == 0;
    const bool own = r->s->learner->steps, kept = was_long(r) && !last && keep_weights(r, it->x);
    r->can_return = own || kept;
    r->on_disk = false; /* even when it will be: a full disk may have room later */
    r->state.len = 0;
    if (o->checkpoint && (due || last || kept) && !save(optimizer, &r->state))
        return trl_fail_mem(err);
    if (o->checkpoint && (due || last))
        st = write_checkpoint(r, it->x, err);
    if (!kept)
        trl_buf_fini(&r->state);
    if (can_cancel(r))
        r->s->cancel->held = !r->can_return;
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The objective at the given weights, which the run must not end above. */
static trl_status measure_start(run *r, const double *x, trl_error *err)
{
    bool given = false;
    for (size_t k = 0; !given && k < r->s->learner->n_weights; k++)
        given = x[k] != 0.0;
    if (!given || !r->s->learner->smooth)
        return TRL_OK;
    trl_standing at;
    const trl_status st = trl_standing_at(r->s, x, DBL_MAX, &at, err);
    r->ps.start = at.objective;
    return st;
}

/* Once cancelled, nothing that takes as long as an iteration is begun. */
static bool in_a_hurry(const run *r)
{
    return r->ps.asked_to_stop && can_cancel(r) && r->s->cancel->asked(r->s->cancel->ctx);
}

static void give_up_measuring(run *r)
{
    r->ps.asked_to_stop = 1;
    r->s->cancel->held = true;
}

/* F at x and its gradient; NaN when the run was cancelled. */
static trl_status measure(run *r, const double *x, double enough, trl_standing *at, trl_error *err)
{
    const trl_status st = in_a_hurry(r) ? TRL_ECANCEL : trl_standing_at(r->s, x, enough, at, err);
    if (st != TRL_ECANCEL)
        return st;
    give_up_measuring(r);
    at->objective = at->gradient = NAN;
    return TRL_OK;
}

/* As trl_outcome_check, which may have to look at all the data. */
static trl_status check(run *r, const double *x, double F, trl_error *err)
{
    const trl_status st = trl_outcome_check(r->s, &r->ps, x, in_a_hurry(r) ? (double)NAN : F, err);
    if (st != TRL_ECANCEL)
        return st;
    give_up_measuring(r);
    return TRL_OK;
}

/* The weights to keep into x, the facts about them and about the last ones into *result. */
static trl_status conclude(run *r, trl_ending ending, double *x, trl_train_result *result,
                           trl_error *err)
{
    const trl_session *s = r->s;
    const size_t n = s->learner->n_weights;
    const bool smooth = s->learner->smooth;
    const bool best = !isnan(r->ps.best_score), known = r->ps.exact || !smooth;
    const bool other = best && r->ps.best_iteration != r->ps.iterations;
    trl_standing last = {r->ps.objective, r->ps.gradient, sqrt(trl_dot(s->pool, n, x, x)),
                         r->ps.gap},
                 kept = last;
    trl_status st = TRL_OK;
    if (!known && (!other || ending == TRL_END_CONVERGED || ending == TRL_END_STALLED))
        st = measure(r, x, HUGE_VAL, &last, err);
    kept = last;
    if (best && r->best)
        memcpy(x, r->best, n * sizeof *x);
    if (other && known)
        kept.objective = r->ps.best_objective;
    else if (other && st == TRL_OK)
        st = measure(r, x, DBL_MAX, &kept, err);
    if (st == TRL_OK)
        st = check(r, x, smooth ? kept.objective : (double)NAN, err);
    if (st != TRL_OK)
        return st;
    trl_outcome_describe(s, ending, &last, r->ps.exact ? r->ps.fall[0] : (double)NAN,
                         result->ending, sizeof result->ending);
    if (ending == TRL_END_STOPPED && r->ps.out_of_patience)
        snprintf(result->ending, sizeof result->ending, "the dev score did not improve any more");
    if (r->ps.handed_over) {
        const size_t at = strlen(result->ending);
        const trl_optimizer *p = s->optimizer;
        snprintf(result->ending + at, sizeof result->ending - at, " (%s after %llu of %s)",
                 p->then ? p->then : "lbfgs", (unsigned long long)r->ps.handed_over,
                 p->first ? p->first : p->name);
    }
    result->stopped = r->ps.asked_to_stop != 0;
    result->iterations = r->ps.iterations;
    result->saved_iteration = best ? r->ps.best_iteration : r->ps.iterations;
    result->estimated = isnan(kept.objective);
    result->objective = !result->estimated ? kept.objective
                        : other            ? r->ps.best_objective
                                           : r->ps.objective;
    result->dev_score = s->learner->score ? r->ps.best_score : (double)NAN;
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

static trl_status optimize(run *r, const trl_checkpoint *c, double *x, trl_ending *ending,
                           trl_error *err)
{
    const trl_session *s = r->s;
    const trl_watcher watcher = {r, watch, s->cancel};
    const trl_fit fit = {.o = s->o,
                         .learner = s->learner,
                         .pool = s->pool,
                         .watcher = &watcher,
                         .state = c->state,
                         .state_size = c->state_size};
    r->ps.most = trl_optimizer_passes(s->optimizer, &fit);
    trl_status st = s->optimizer->run(&fit, x, ending, err);
    if (st == TRL_ECANCEL)
        st = go_back(r, x, ending, err);
    trl_free(r->kept);
    r->kept = NULL;
    if (r->ps.ended == 1 + (uint64_t)TRL_END_NO_MINIMUM)
        *ending = TRL_END_NO_MINIMUM;
    return st;
}

/* From the checkpoint, the weights given or, of a learner with a state of its own, nothing. */
static trl_status begin(run *r, trl_checkpoint *c, double *x, trl_error *err)
{
    const trl_session *s = r->s;
    const trl_steps *own = s->learner->steps;
    trl_status st = TRL_OK;
    if (s->o->resume)
        st = trl_checkpoint_read(s, &r->ps, x, r->best, c, err);
    if (st == TRL_OK && own)
        st = s->o->resume ? own->load(s->learner->self, c->state, c->state_size, err)
                          : own->begin(s->learner->self, err);
    else if (!s->o->resume)
        st = measure_start(r, x, err);
    if (own)
        r->can_return = true;
    else if (s->o->resume && st == TRL_OK && can_cancel(r))
        r->can_return = r->on_disk = keep_weights(r, x);
    return st;
}

/* The last word of a learner with a state of its own. */
static trl_status end(run *r, trl_error *err)
{
    const trl_learner *l = r->s->learner;
    const trl_iteration it = {.number = r->ps.iterations, .objective = r->ps.objective};
    double last;
    if (!l->steps)
        return TRL_OK;
    const trl_status st = l->steps->end(l->self, err);
    return st == TRL_OK ? score(r, &it, &last, err) : st;
}

trl_status trl_session_run(const trl_session *s, double *x, trl_train_result *result,
                           trl_error *err)
{
    run r = {.s = s};
    trl_checkpoint c = {0};
    trl_ending ending = TRL_END_MAX_ITER;
    r.ps.objective = r.ps.best_score = r.ps.best_objective = r.ps.gradient = r.ps.start = NAN;
    r.ps.gap = NAN;
    if (s->learner->score && !s->learner->steps) {
        r.best = trl_alloc(s->learner->n_weights, sizeof *r.best);
        if (!r.best)
            return trl_fail_mem(err);
    }
    if (s->cancel)
        s->cancel->held = false;
    r.turned = trl_clock();
    trl_status st = begin(&r, &c, x, err);
    if (st == TRL_OK && !has_ended(&r, &ending))
        st = optimize(&r, &c, x, &ending, err);
    if (st == TRL_OK)
        st = end(&r, err);
    if (st == TRL_OK)
        st = conclude(&r, ending, x, result, err);
    trl_checkpoint_fini(&c);
    trl_buf_fini(&r.state);
    trl_free(r.kept);
    trl_free(r.best);
    return trl_outcome_hint(s, st, err);
}

/* ---- two stages ------------------------------------------------------------------------------ */

trl_status trl_session_first(const trl_session *s, uint64_t iterations, double *x, bool *second,
                             trl_train_result *result, trl_error *err)
{
    *second = false;
    const trl_status st = s->o->resume ? trl_checkpoint_base(s, x, second, err) : TRL_OK;
    if (st != TRL_OK || *second)
        return st;
    trl_train_options o = *s->o;
    trl_learner learner = *s->learner;
    trl_session begin = *s;
    o.max_iter = iterations;
    o.patience = 0;
    learner.score = NULL;
    begin.o = &o;
    begin.learner = &learner;
    begin.fingerprint = ~s->fingerprint;
    return trl_session_run(&begin, x, result, err);
}

trl_status trl_session_second(const trl_session *s, bool second, double *x,
                              trl_train_result *result, trl_error *err)
{
    const size_t n = s->learner->n_weights;
    trl_train_options o = *s->o;
    trl_session rest = *s;
    double *base = trl_alloc(n + 1, sizeof *base);
    if (!base)
        return trl_fail_mem(err);
    memcpy(base, x, n * sizeof *base);
    o.resume = second;
    rest.o = &o;
    rest.base = base;
    trl_status st = trl_session_run(&rest, x, result, err);
    if (st == TRL_ECANCEL) { /* in its first iteration: what the first stage gave is kept */
        memcpy(x, base, n * sizeof *base);
        result->stopped = true;
        s->cancel->held = true;
        st = TRL_OK;
    }
    trl_free(base);
    return st;
}
