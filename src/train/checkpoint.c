/* checkpoint.c -- progress reports and resumable state.
 *
 * A checkpoint is a container of kind "chkpt":
 *
 *     print   u64 fingerprint of the data, features and options that must not change
 *     progres trl_progress_state
 *     weights double[n_weights]
 *     best    double[n_weights], with a dev set and a score
 *     base    double[n_weights], of a run in stages: what the stage before ended with
 *     state   the optimiser's own
 *     memory  the learner's own (learner.h)
 */
/* SPDX-License-Identifier: MIT */
#include "train/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "num/blas1.h"

/* ---- reports --------------------------------------------------------------------------------- */

/* Iterations left until the objective's relative fall is below delta, if it keeps falling
 * geometrically as in the last two iterations; NaN when unknown. */
static double iterations_left(const trl_progress_state *ps, const trl_train_options *o)
{
    const double now = ps->fall[0], before = ps->fall[1];
    const double end = o->delta / (double)(o->period ? o->period : 1);
    if (!(now > 0.0) || !(before > now) || !(now > end) || !(end > 0.0))
        return NAN;
    return log(now / end) / log(before / now);
}

#define LEAST_SEEN 10 /* iterations before the decrease predicts anything */
#define MOST_AHEAD 9  /* times as many as were made: beyond that it is a mere guess */

/* Seconds left; NaN when unknown. */
static double time_left(const trl_progress_state *ps, const trl_train_options *o, uint64_t done,
                        uint64_t most, double seconds)
{
    const double per = seconds / (double)done;
    double left = iterations_left(ps, o);
    if (done < LEAST_SEEN || left > MOST_AHEAD * (double)done)
        left = NAN;
    if (most >= done && !(left <= (double)(most - done)))
        left = (double)(most - done);
    return left * per;
}

static uint64_t count_active(const double *x, size_t n)
{
    uint64_t active = 0;
    for (size_t k = 0; k < n; k++)
        active += x[k] != 0.0;
    return active;
}

bool trl_report_iteration(trl_progress_state *ps, const trl_session *s, const trl_iteration *it,
                          double dev_score)
{
    const trl_train_options *o = s->o;
    /* the decrease smoothed over about five iterations: single ones vary too much */
    const double fall = it->number > 1 && ps->last_objective > it->objective
                            ? (ps->last_objective - it->objective) / fabs(it->objective)
                            : ps->fall[0];
    ps->fall[1] = ps->fall[0];
    ps->fall[0] = it->number > 2 ? 0.8 * ps->fall[0] + 0.2 * fall : fall;
    ps->last_objective = it->objective;
    char note[160] = "";
    if (s->learner->note)
        s->learner->note(s->learner->self, note, sizeof note);
    if (!o->progress)
        return false;
    const double seconds = trl_clock() - s->started + ps->seconds_before;
    const uint64_t most = ps->most;
    const size_t n = s->learner->n_weights;
    const bool scored = s->learner->scored && !isnan(dev_score);
    const trl_progress p = {.stage = "iteration",
                            .iteration = it->number,
                            .max_iterations = most,
                            .objective = it->objective,
                            .estimated = !it->exact,
                            .gradient = it->gradient,
                            .step = it->step,
                            .dev_score = dev_score,
                            .dev_best = ps->best_score,
                            .seconds = seconds,
                            .seconds_left = time_left(ps, o, it->number, most, seconds),
                            .n_features = s->learner->n_features,
                            .note = *note ? note : NULL,
                            .norm = n ? sqrt(trl_dot(s->pool, n, it->x, it->x)) : 0.0,
                            .n_active = count_active(it->x, n),
                            .dev = scored ? s->learner->scored(s->learner->self) : NULL};
    return o->progress(o->progress_ctx, &p);
}

void trl_report_warning(const trl_session *s, const trl_error *e)
{
    char note[sizeof e->path + sizeof e->msg + 80];
    snprintf(note, sizeof note, "%s: %s: training goes on without this checkpoint", e->path,
             e->msg);
    trl_report_note(s, note);
}

void trl_report_note(const trl_session *s, const char *note)
{
    if (!s->o->progress)
        return;
    const trl_progress p = {.stage = "warning",
                            .objective = NAN,
                            .gradient = NAN,
                            .dev_score = NAN,
                            .dev_best = NAN,
                            .seconds = trl_clock() - s->started,
                            .seconds_left = NAN,
                            .note = note};
    (void)s->o->progress(s->o->progress_ctx, &p); /* asked again after the next iteration */
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

trl_status trl_checkpoint_write(const trl_session *s, const trl_progress_state *ps, const double *x,
                                const double *best, const trl_buf *state, trl_error *err)
{
    const size_t bytes = s->learner->n_weights * sizeof *x;
    trl_progress_state out = *ps;
    out.seconds_before += trl_clock() - s->started;
    out.asked_to_stop = out.out_of_patience = 0; /* the next run has its own patience */
    trl_container_builder b = {0};
    trl_container_builder_add(&b, "print", &s->fingerprint, sizeof s->fingerprint);
    trl_container_builder_add(&b, "progres", &out, sizeof out);
    trl_container_builder_add(&b, "weights", x, bytes);
    if (best && !isnan(ps->best_score))
        trl_container_builder_add(&b, "best", best, bytes);
    if (s->base)
        trl_container_builder_add(&b, "base", s->base, bytes);
    trl_container_builder_add(&b, "state", state->data, state->len);
    trl_buf memory = {0};
    const trl_learner *l = s->learner;
    const bool ok = !l->memory || l->memory->save(l->self, &memory);
    if (l->memory)
        trl_container_builder_add(&b, "memory", memory.data, memory.len);
    const trl_status st =
        ok ? trl_container_write(&b, "chkpt", s->o->checkpoint, err) : trl_fail_mem(err);
    trl_container_builder_fini(&b);
    trl_buf_fini(&memory);
    return st;
}

static bool copy_section(const trl_container *c, const char *tag, void *to, size_t bytes)
{
    const void *p;
    size_t n;
    if (!trl_container_find(c, tag, &p, &n) || n != bytes)
        return false;
    memcpy(to, p, bytes);
    return true;
}

/* Also false for numbers that no run could have written. */
static bool copy_progress(const trl_container *c, trl_progress_state *ps)
{
    return copy_section(c, "progres", ps, sizeof *ps) && ps->exact <= 1 && ps->descends <= 1 &&
           ps->ended <= TRL_ENDINGS && ps->asked_to_stop <= 1 && ps->out_of_patience <= 1;
}

static bool load_memory(const trl_container *c, const trl_learner *l)
{
    const void *p;
    size_t n;
    return !l->memory ||
           (trl_container_find(c, "memory", &p, &n) && l->memory->load(l->self, p, n));
}

trl_status trl_checkpoint_read(const trl_session *s, trl_progress_state *ps, double *x,
                               double *best, trl_checkpoint *out, trl_error *err)
{
    const size_t bytes = s->learner->n_weights * sizeof *x;
    trl_status st = trl_container_open(s->o->checkpoint, "chkpt", &out->file, err);
    if (st != TRL_OK)
        return st;
    uint64_t print;
    const void *state;
    if (!copy_section(out->file, "print", &print, sizeof print) || print != s->fingerprint) {
        st = trl_fail(err, TRL_EMODEL, "this checkpoint is of a run with other data or options");
        trl_fail_where(err, st, s->o->checkpoint, 0, 0);
        return trl_fail_hint(err, st,
                             "resume with the same files and options, or leave out "
                             "'resume' to start anew");
    }
    if (!copy_progress(out->file, ps) || !copy_section(out->file, "weights", x, bytes) ||
        !trl_container_find(out->file, "state", &state, &out->state_size) ||
        (best && !isnan(ps->best_score) && !copy_section(out->file, "best", best, bytes)) ||
        !load_memory(out->file, s->learner))
        return trl_container_damaged(out->file, err,
                                     "a part of the checkpoint is missing or impossible");
    out->state = state;
    return TRL_OK;
}

trl_status trl_checkpoint_base(const trl_session *s, double *x, bool *found, trl_error *err)
{
    trl_container *c = NULL;
    uint64_t print;
    const trl_status st = trl_container_open(s->o->checkpoint, "chkpt", &c, err);
    if (st != TRL_OK)
        return st;
    *found = copy_section(c, "print", &print, sizeof print) && print == s->fingerprint &&
             copy_section(c, "base", x, s->learner->n_weights * sizeof *x);
    trl_container_free(c);
    return TRL_OK;
}

void trl_checkpoint_fini(trl_checkpoint *c)
{
    trl_container_free(c->file);
    *c = (trl_checkpoint){0};
}
