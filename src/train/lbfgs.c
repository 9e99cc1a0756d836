/* lbfgs.c -- L-BFGS with a Wolfe line search, and OWL-QN.
 *
 * L-BFGS [LN89]: d = -H g, a step t, tried from 1 down, with
 *     F(x + t d) <= F(x) + 1e-4 t g.d      (enough decrease)
 * Our objectives are convex, so s.y > 0 whatever the step.  Only the first step, for which no
 * length is known, is also lengthened until the slope has flattened: g(x + t d).d >= 0.9 g.d.
 *
 * OWL-QN [AG07] for F + c1 ||x||_1: g is replaced by the pseudo-gradient v, the direction is cut
 * to v's orthant, each step is projected onto the orthant of x (of -v where x is 0), and only
 * the decrease is tested.  The pairs (s, y) still come from F alone.  Its tail is long: F falls by
 * little in an iteration, but for as many again.  So with c1 a run that has come to rest must also
 * expect little of them all (converged).
 *
 * [LN89] Liu, Nocedal. On the limited memory BFGS method. Math. Programming 45, 1989.
 * [AG07] Andrew, Gao. Scalable training of L1-regularized log-linear models. ICML 2007.
 */
/* SPDX-License-Identifier: MIT */
#include "train/lbfgs.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "num/orthant_kernel.h"
#include "train/history.h"

#define MAX_TRIALS 40
#define PERIOD_MAX 64
#define AS_MANY_AGAIN 10.0 /* times delta: what as many iterations again may gain, with c1 */

typedef struct run {
    const trl_function *f;
    const trl_lbfgs_options *o;
    trl_pool *pool;
    trl_history h;
    size_t n;
    double *x, *g;          /* accepted point */
    double *xt, *gt;        /* trial point */
    double *v;              /* g, or the pseudo-gradient; the direction d is the history's */
    double F, step, norm_x; /* norm_x: when last computed */
    uint64_t iteration, evaluations;
    double past[PERIOD_MAX]; /* F of earlier iterations, cyclic */
} run;

/* ---- L1 -------------------------------------------------------------------------------------- */

/* sum of c1 |x|. */
static double penalty1(const run *r, const double *x)
{
    return trl_orthant_penalty(r->n, r->o->c1, r->o->scale, x);
}

static void pseudo_gradient(run *r)
{
    trl_orthant_gradient(r->n, r->o->c1, r->o->scale, r->x, r->g, r->v);
}

/* ---- line search ----------------------------------------------------------------------------- */

/* F (with c1) at x + t d into *F; an overflow counts as +inf.  `ready`: xt is that point already.
 */
static trl_status trial(run *r, double t, bool ready, double *F, trl_error *err)
{
    trl_error local;
    if (!ready)
        trl_history_step(&r->h, t, r->x, r->xt);
    if (r->o->c1 > 0.0)
        trl_orthant_project(r->n, r->x, r->v, r->xt);
    r->evaluations++;
    const trl_status st = r->f->eval(r->f->self, r->xt, r->gt, F, &local);
    if (st == TRL_ENUMERIC) {
        *F = HUGE_VAL;
        return TRL_OK;
    }
    if (st == TRL_OK && r->o->c1 > 0.0)
        *F += penalty1(r, r->xt);
    if (st != TRL_OK && err)
        *err = local;
    return st;
}

/* What the slope promises for the projected step. */
static double promised(const run *r)
{
    return trl_orthant_slope(r->n, r->v, r->x, r->xt);
}

/* The minimum of the parabola through F(0), slope(0), F(t), kept well inside (0, t). */
static double shorter(double F0, double slope, double t, double F)
{
    double q = isfinite(F) ? -slope * t * t / (2.0 * (F - F0 - slope * t)) : 0.1 * t;
    if (!(q > 0.1 * t))
        q = 0.1 * t;
    return q < 0.6 * t ? q : 0.6 * t;
}

/* Searches along d; *found says whether one was accepted (in xt, gt, *F). */
static trl_status line_search(run *r, double slope, double *F, bool *found, trl_error *err)
{
    const bool first = r->h.used == 0, ready = !first && r->o->c1 <= 0.0;
    double t = first ? 1.0 / sqrt(-slope) : 1.0;
    double lo = 0.0, hi = HUGE_VAL;
    *found = false;
    for (int k = 0; k < MAX_TRIALS; k++) {
        const trl_status st = trial(r, t, ready && k == 0, F, err);
        if (st != TRL_OK)
            return st;
        const double want = r->o->c1 > 0.0 ? promised(r) : t * slope;
        if (!(*F <= r->F + 1e-4 * want)) {
            hi = t;
            t = lo > 0.0 ? 0.5 * (lo + hi) : shorter(r->F, slope, t, *F);
        } else if (first && r->o->c1 <= 0.0 && trl_history_dot(&r->h, r->gt) < 0.9 * slope) {
            lo = t;
            t = hi < HUGE_VAL ? 0.5 * (lo + hi) : 2.0 * t;
        } else {
            r->step = t;
            *found = true;
            return TRL_OK;
        }
        if (hi - lo < 1e-15 * hi)
            return TRL_OK;
    }
    return TRL_OK;
}

/* ---- one iteration --------------------------------------------------------------------------- */

/* Sets d and its slope; false when there is no descent left. */
static bool direction(run *r, double *slope)
{
    const bool l1 = r->o->c1 > 0.0;
    for (int attempt = 0; attempt < 2; attempt++) {
        *slope = trl_history_direction(&r->h, r->v, l1 ? NULL : r->x, r->xt);
        if (l1) {
            trl_history_cut(&r->h, r->v);
            *slope = trl_history_dot(&r->h, r->v);
        }
        if (*slope < 0.0)
            return true;
        trl_history_clear(&r->h, r->h.vv); /* no numerical descent: steepest descent instead */
    }
    return false;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

/* Moves to the trial point. */
static void accept(run *r, double F)
{
    const bool l1 = r->o->c1 > 0.0;
    if (l1)
        trl_history_set(&r->h, r->x, r->xt);
    swap(&r->g, &r->gt); /* g new, gt old */
    swap(&r->x, &r->xt);
    if (l1)
        pseudo_gradient(r);
    else
        r->v = r->g;
    trl_history_push(&r->h, l1 ? 1.0 : r->step, r->gt, r->g, r->v);
    r->F = F;
    r->iteration++;
}

/* True when the run ends here, with the reason in *ending. */
static bool converged(run *r, double norm_v, trl_ending *ending)
{
    /* ||x|| costs a sweep and hardly changes: compute it only when it may matter */
    if (norm_v < 2.0 * r->o->epsilon * fmax(1.0, r->norm_x) || r->iteration % 16 == 1) {
        r->norm_x = sqrt(trl_dot(r->pool, r->n, r->x, r->x));
        if (norm_v < r->o->epsilon * fmax(1.0, r->norm_x)) {
            *ending = TRL_END_CONVERGED;
            return true;
        }
    }
    *ending = TRL_END_STALLED;
    const size_t period = r->o->period < PERIOD_MAX ? r->o->period : PERIOD_MAX;
    if (period == 0)
        return false;
    double *slot = &r->past[r->iteration % period];
    const double fall = *slot - r->F, little = r->o->delta * fabs(r->F);
    const bool flat = r->iteration > period && fall < little;
    *slot = r->F;
    /* at this rate, in as many iterations as there were */
    return flat && (r->o->c1 <= 0.0 ||
                    fall * (double)r->iteration / (double)period < AS_MANY_AGAIN * little);
}

/* ---- state ----------------------------------------------------------------------------------- */

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const uint64_t head[2] = {r->iteration, r->evaluations};
    if (r->f->remembers &&
        (!trl_buf_add(out, &r->F, sizeof r->F) || !trl_buf_add(out, r->g, r->n * sizeof *r->g)))
        return false;
    return trl_buf_add(out, head, sizeof head) && trl_buf_add(out, r->past, sizeof r->past) &&
           trl_buf_add(out, &r->norm_x, sizeof r->norm_x) && trl_history_save(&r->h, out);
}

static bool load_state(run *r, const unsigned char *p, size_t n)
{
    uint64_t head[2];
    const size_t fixed = sizeof head + sizeof r->past + sizeof r->norm_x;
    const size_t own = r->f->remembers ? sizeof r->F + r->n * sizeof *r->g : 0;
    if (n < own || n - own < fixed)
        return false;
    if (own) { /* evaluated again, they would be a little different */
        memcpy(&r->F, p, sizeof r->F);
        memcpy(r->g, p + sizeof r->F, own - sizeof r->F);
    }
    p += own;
    n -= own;
    memcpy(head, p, sizeof head);
    memcpy(r->past, p + sizeof head, sizeof r->past);
    memcpy(&r->norm_x, p + sizeof head + sizeof r->past, sizeof r->norm_x);
    p += fixed;
    n -= fixed;
    r->iteration = head[0];
    r->evaluations = head[1];
    return trl_history_load(&r->h, &p, &n) && n == 0;
}

/* Whether the iteration is the last one, and why. */
typedef struct iteration_end {
    bool last;
    trl_ending ending;
} iteration_end;

/* ---- the run --------------------------------------------------------------------------------- */

static trl_status watch(run *r, const trl_watcher *w, double norm_v, const iteration_end *end,
                        bool *stop, trl_error *err)
{
    const trl_iteration it = {.number = r->iteration,
                              .objective = r->F,
                              .exact = true,
                              .descends = true,
                              .gradient = norm_v,
                              .step = r->step,
                              .evaluations = r->evaluations,
                              .x = r->x,
                              .last = end->last,
                              .ending = end->ending};
    return w ? w->watch(w->self, &it, save_state, r, stop, err) : TRL_OK;
}

static trl_status iterate(run *r, const trl_watcher *w, trl_ending *ending, trl_error *err)
{
    for (;;) {
        double slope, F;
        bool found = false, stop = false;
        if (r->o->max_iter && r->iteration >= r->o->max_iter) {
            *ending = TRL_END_MAX_ITER;
            return TRL_OK;
        }
        trl_status st = TRL_OK;
        if (direction(r, &slope))
            st = line_search(r, slope, &F, &found, err);
        if (st == TRL_OK && !found && r->h.used) { /* once more, downhill */
            trl_history_clear(&r->h, r->h.vv);
            if (direction(r, &slope))
                st = line_search(r, slope, &F, &found, err);
        }
        if (st != TRL_OK)
            return st;
        if (!found) {
            *ending = TRL_END_NO_STEP;
            return TRL_OK;
        }
        /* shortened, and F is unchanged: it is exact to the last bit, whatever the gradient says */
        const bool spent = r->step < 1.0 && F >= r->F;
        accept(r, F);
        const double norm_v = sqrt(r->h.vv);
        trl_ending why;
        bool last = converged(r, norm_v, &why);
        if (spent && !last) {
            last = true;
            why = TRL_END_NO_STEP;
        }
        st = watch(r, w, norm_v, &(iteration_end){last, why}, &stop, err);
        if (st != TRL_OK)
            return st;
        if (stop || last) {
            *ending = last ? why : TRL_END_STOPPED;
            return TRL_OK;
        }
    }
}

static trl_status start(run *r, const void *state, size_t state_size, trl_error *err)
{
    if (state && !load_state(r, state, state_size))
        return trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    r->evaluations += !state;
    const bool known = state && r->f->remembers;
    const trl_status st = known ? TRL_OK : r->f->eval(r->f->self, r->x, r->g, &r->F, err);
    if (st != TRL_OK)
        return st;
    if (r->o->c1 > 0.0 && !known)
        r->F += penalty1(r, r->x);
    if (r->o->c1 > 0.0)
        pseudo_gradient(r);
    else
        r->v = r->g;
    if (!state)
        trl_history_clear(&r->h, trl_dot(r->pool, r->n, r->v, r->v));
    return TRL_OK;
}

/* From x by way of o->before, which is evaluated, too, unless that overflows. */
static trl_status start_by(run *r, const double *x, trl_error *err)
{
    double F;
    memcpy(r->x, r->o->before, r->n * sizeof *r->x);
    trl_status st = start(r, NULL, 0, err);
    memcpy(st == TRL_OK ? r->xt : r->x, x, r->n * sizeof *r->x);
    if (st == TRL_ENUMERIC)
        return start(r, NULL, 0, err);
    if (st == TRL_OK)
        st = r->f->eval(r->f->self, r->xt, r->gt, &F, err);
    if (st != TRL_OK)
        return st;
    r->evaluations++;
    r->step = 1.0;
    if (r->o->c1 <= 0.0)
        trl_history_set(&r->h, r->x, r->xt);
    accept(r, r->o->c1 > 0.0 ? F + penalty1(r, r->xt) : F);
    r->iteration = 0;
    return TRL_OK;
}

trl_status trl_lbfgs(const trl_function *f, const trl_lbfgs_options *o, const trl_descent *how,
                     trl_error *err)
{
    run r = {.f = f, .o = o, .pool = how->pool, .n = f->n};
    const size_t room = f->n + 64;
    r.x = trl_alloc64(room, sizeof *r.x);
    r.g = trl_alloc64(room, sizeof *r.g);
    r.xt = trl_alloc64(room, sizeof *r.xt);
    r.gt = trl_alloc64(room, sizeof *r.gt);
    double *pseudo = o->c1 > 0.0 ? trl_alloc64(room, sizeof *pseudo) : NULL;
    r.v = pseudo;
    trl_status st = TRL_OK;
    if (!r.x || !r.g || !r.xt || !r.gt || (o->c1 > 0.0 && !pseudo) ||
        !trl_history_init(&r.h, f->n, o->memory, how->pool))
        st = trl_fail_mem(err);
    const bool began = st == TRL_OK;
    if (began) {
        memcpy(r.x, how->x, f->n * sizeof *r.x);
        memset(r.x + f->n, 0, 64 * sizeof *r.x);
        memset(r.xt + f->n, 0, 64 * sizeof *r.xt);
        st = o->before && !how->state ? start_by(&r, how->x, err)
                                      : start(&r, how->state, how->state_size, err);
    }
    if (st == TRL_OK)
        st = iterate(&r, how->watcher, how->ending, err);
    if (began)
        memcpy(how->x, r.x, f->n * sizeof *r.x);
    trl_history_fini(&r.h);
    trl_free(r.x);
    trl_free(r.g);
    trl_free(r.xt);
    trl_free(r.gt);
    trl_free(pseudo);
    return st;
}
