/* handover.c -- two optimisers, one after the other. */
/* SPDX-License-Identifier: MIT */
#include "train/handover.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/outcome.h"
#include "train/sdca.h"

#define RISE 1.01 /* of the lowest objective: it swings */
#define EARLY 2   /* passes in which it may */
#define SHORT 0.2 /* mean length of its steps, 1 being the whole way of an example */
#define HALF 0.5  /* of the objective without weights: a point to go on from when it swings, */
#define FAR 0.15  /* and after a pass of short steps */
#define SLOW 100  /* times delta: what half of the passes must have gained, */
#define SLOW4 10  /* and four of them on small examples */
#define SURE 10   /* times delta: the proven distance at which the second one may end */

/* In front of the state of the optimiser at work, which is missing right after the handover. */
typedef struct saved_head {
    uint64_t second; /* the second optimiser is at work, */
    uint64_t before; /* after so many passes of the first one */
    uint64_t afresh; /* which got nowhere */
    uint64_t passed; /* the point before its last pass follows, for the second one */
    double lowest;   /* objective of the first one */
    double measured; /* the true one, when last looked at */
    double gap;      /* and how far above the optimum it was at most; 0: not known */
} saved_head;

typedef struct run {
    const trl_handover *h;
    const trl_fit *fit;
    saved_head head;
    bool over;   /* the first one is to end now */
    bool proven; /* the one at work is to end now: it is at the optimum */
    trl_state_fn save;
    const void *optimizer; /* at work, while it is watched */
    double *before;        /* [n_weights] where a sure one was before its last pass */
} run;

static bool save_state(const void *self, trl_buf *out)
{
    const run *r = self;
    const size_t n = r->fit->learner->n_weights;
    if (!trl_buf_add(out, &r->head, sizeof r->head))
        return false;
    if (!r->over)
        return r->save(r->optimizer, out);
    return !r->head.passed || trl_buf_add(out, r->before, n * sizeof *r->before);
}

static bool load_head(run *r)
{
    if (r->fit->state_size < sizeof r->head)
        return false;
    memcpy(&r->head, r->fit->state, sizeof r->head);
    return r->head.second <= 1 && r->head.afresh <= 1 && r->head.passed <= 1;
}

/* The point before the last pass of the first one, when it comes by: it is where a run is resumed,
 * or follows the head when that pass is done. */
static bool load_before(run *r, trl_fit *own, const double *x)
{
    const size_t size = r->fit->learner->n_weights * sizeof *r->before;
    if (r->head.passed && own->state_size != size)
        return false;
    memcpy(r->before, r->head.passed ? own->state : x, size);
    if (r->head.passed) {
        own->state = NULL;
        own->state_size = 0;
    }
    return true;
}

static trl_status tell(run *r, const trl_iteration *it, trl_state_fn save, const void *optimizer,
                       bool *stop, trl_error *err)
{
    r->save = save;
    r->optimizer = optimizer;
    const trl_watcher *w = r->fit->watcher;
    return w ? w->watch(w->self, it, save_state, r, stop, err) : TRL_OK;
}

/* ---- the first ------------------------------------------------------------------------------- */

static bool is_measured(const run *r, uint64_t pass)
{
    return trl_pass_is_measured(pass, r->fit->learner->fine);
}

/* The true objective.  At rest: is it at the optimum? */
static trl_status look(const run *r, trl_iteration *it, bool *there, trl_error *err)
{
    const trl_fit *fit = r->fit;
    double F, norm;
    const trl_value_point at = {it->x, fit->o->c2, it->last ? HUGE_VAL : DBL_MAX};
    const trl_status st = trl_learner_value(fit->learner, &at, fit->pool, &F, &norm, err);
    if (st != TRL_OK)
        return st;
    it->objective = F;
    it->gradient = norm;
    it->exact = true;
    *there = it->last && !r->h->sure && trl_outcome_is_close(F, norm, fit->o->c2);
    if (it->has_bound && F - it->bound <= SURE * fit->o->delta * fabs(F))
        *there = it->last = true;
    return TRL_OK;
}

/* After pass 16, 32, ... (12, 16, ...): has it come so close that the second one is the cheaper way
 * to the end?  Where the distance is known, it is slow when four passes do not halve that.
 */
static bool is_slow(const run *r, const trl_iteration *now)
{
    if (now->has_bound && r->head.gap > 0.0 && now->number > EARLY * 4)
        return !now->last && now->exact && now->objective - now->bound > 0.5 * r->head.gap;
    return !now->last && is_measured(r, now->number) && now->number > EARLY * 4 &&
           r->head.measured - now->objective <
               (r->fit->learner->fine ? SLOW4 : SLOW) * r->fit->o->delta * fabs(now->objective);
}

static double penalty1(const trl_fit *fit, const double *x)
{
    double sum = 0.0;
    for (size_t k = 0; fit->o->c1 > 0.0 && k < fit->learner->n_weights; k++)
        sum += fabs(x[k]);
    return fit->o->c1 * sum;
}

/* Sums of values from when examples were last seen may lie below the optimum, and of many small
 * examples by more than a hundredth: these swing when they also rise above the true objective. */
static bool swings(const run *r, const trl_iteration *it)
{
    return it->number > EARLY && it->objective > RISE * r->head.lowest &&
           !(r->fit->learner->fine && it->objective < r->head.measured);
}

/* Whether a run that swings or hardly moves is not below this share of the start of all, which the
 * second one makes as much of.  Estimates also rise where they were below the optimum. */
static trl_status is_lost(const run *r, trl_iteration *now, double share, bool *there, bool *lost,
                          trl_error *err)
{
    double F = NAN, norm;
    const trl_learner *l = r->fit->learner;
    const trl_status at_x = now->exact ? TRL_OK : look(r, now, there, err);
    *lost = true;
    if (at_x != TRL_OK)
        return at_x == TRL_ENUMERIC ? TRL_OK : at_x;
    double *zero = trl_zalloc(l->n_weights + 64, sizeof *zero);
    if (!zero)
        return trl_fail_mem(err);
    const trl_value_point start = {zero, r->fit->o->c2, DBL_MAX};
    const trl_status st = trl_learner_value(l, &start, r->fit->pool, &F, &norm, err);
    *lost = !(now->objective < share * F);
    trl_free(zero);
    return st;
}

static trl_status watch_first(void *self, const trl_iteration *it, trl_state_fn save,
                              const void *optimizer, bool *stop, trl_error *err)
{
    run *r = self;
    trl_iteration now = *it;
    bool there = false;
    const bool measured = it->last || (!r->h->sure && is_measured(r, it->number));
    trl_status st = measured ? look(r, &now, &there, err) : TRL_OK;
    const bool swung = !r->h->sure && swings(r, it);
    const bool creeps = !r->h->sure && it->number == 1 && it->step < SHORT;
    bool nowhere = false;
    if (st == TRL_OK && (swung || creeps))
        st = is_lost(r, &now, creeps ? FAR : HALF, &there, &nowhere, err);
    if (st != TRL_OK)
        return st;
    const bool slow = !r->h->sure && is_slow(r, &now);
    now.objective += penalty1(r->fit, it->x);
    r->head.lowest = fmin(r->head.lowest, it->objective);
    if (now.exact) {
        r->head.measured = now.objective;
        r->head.gap = now.has_bound ? now.objective - now.bound : 0.0;
    }
    r->over = !there && (it->last || creeps || swung || slow || it->number >= r->h->passes);
    now.last = now.last && there;
    r->proven = there && !it->last;
    if (r->proven)
        now.ending = TRL_END_STALLED;
    if (r->over)
        r->head = (saved_head){
            1, it->number, nowhere, r->before != NULL, r->head.lowest, r->head.measured, 0.0};
    else if (r->before)
        memcpy(r->before, it->x, r->fit->learner->n_weights * sizeof *r->before);
    const trl_status told = tell(r, &now, save, optimizer, stop, err);
    if (*stop)
        r->over = r->proven = false;
    *stop = *stop || r->over || r->proven;
    return told;
}

/* ---- the second ------------------------------------------------------------------------------ */

/* It descends from where the first one was, not from the start of the run; and as it may have been
 * there already, it ends when the gradient proves that it is. */
static trl_status watch_second(void *self, const trl_iteration *it, trl_state_fn save,
                               const void *optimizer, bool *stop, trl_error *err)
{
    run *r = self;
    trl_iteration now = *it;
    now.number += r->head.before;
    now.evaluations += r->head.before;
    now.handed_over = r->head.before;
    now.descends = false;
    const double c2 = r->fit->o->c2, most = it->gradient * it->gradient / (4.0 * c2);
    const bool proven = !r->h->sure && !it->last && !r->head.afresh &&
                        most <= SURE * r->fit->o->delta * fabs(it->objective);
    if (proven) {
        now.last = true;
        now.ending = TRL_END_STALLED;
    }
    const trl_status st = tell(r, &now, save, optimizer, stop, err);
    r->proven = proven && !*stop;
    *stop = *stop || proven;
    return st;
}

static trl_status run_second(run *r, trl_fit fit, double *x, trl_ending *ending, trl_error *err)
{
    trl_train_options o = *fit.o;
    const trl_watcher w = {r, watch_second, fit.watcher ? fit.watcher->cancel : NULL};
    if (o.max_iter && o.max_iter <= r->head.before) {
        *ending = TRL_END_MAX_ITER;
        return TRL_OK;
    }
    o.max_iter -= o.max_iter ? r->head.before : 0;
    fit.o = &o;
    fit.watcher = &w;
    r->over = false;
    for (size_t k = 0; !fit.state && r->head.afresh && k < fit.learner->n_weights; k++)
        x[k] = 0.0;
    const trl_status st = r->h->second(&fit, x, ending, err);
    if (st == TRL_OK && r->proven)
        *ending = TRL_END_STALLED;
    return st;
}

static trl_status run_both(run *r, double *x, trl_ending *ending, trl_error *err)
{
    const trl_fit *fit = r->fit;
    trl_fit own = *fit;
    if (fit->state && !load_head(r))
        return trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    own.state_size -= fit->state ? sizeof r->head : 0;
    own.state = own.state_size ? (const char *)fit->state + sizeof r->head : NULL;
    if (r->before && !load_before(r, &own, x))
        return trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    if (!r->head.second) {
        const trl_watcher w = {r, watch_first, fit->watcher ? fit->watcher->cancel : NULL};
        own.watcher = &w;
        const trl_status st = r->h->first(&own, x, ending, err);
        if (st == TRL_OK && r->proven)
            *ending = TRL_END_STALLED;
        if (st != TRL_OK || !r->over)
            return st;
        own.watcher = fit->watcher;
        own.state = NULL;
        own.state_size = 0;
    }
    own.before = own.state ? NULL : r->before;
    r->head.passed = 0;
    return run_second(r, own, x, ending, err);
}

trl_status trl_handover_run(const trl_handover *h, const trl_fit *fit, double *x,
                            trl_ending *ending, trl_error *err)
{
    run r = {.h = h, .fit = fit, .head = {.lowest = HUGE_VAL, .measured = HUGE_VAL}};
    if (h->sure) {
        r.before = trl_alloc(fit->learner->n_weights, sizeof *r.before);
        if (!r.before)
            return trl_fail_mem(err);
    }
    const trl_status st = run_both(&r, x, ending, err);
    trl_free(r.before);
    return st;
}
