/* lbfgs.c -- L-BFGS with a Wolfe line search, and OWL-QN.
 *
 * L-BFGS [LN89]: d = -H g, a step t with
 *     F(x + t d) <= F(x) + 1e-4 t g.d      (enough decrease)
 *     g(x + t d).d >= 0.9 g.d              (the slope has flattened)
 *
 * OWL-QN [AG07] for F + c1 ||x||_1: g is replaced by the pseudo-gradient v, the direction is cut
 * to v's orthant, each step is projected onto the orthant of x (of -v where x is 0), and only
 * the decrease is tested.  The pairs (s, y) still come from F alone.
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
#include "train/history.h"

#define MAX_TRIALS 40
#define PERIOD_MAX 64

typedef struct run {
    const trl_function      *f;
    const trl_lbfgs_options *o;
    trl_pool                *pool;
    trl_history              h;
    size_t                   n;
    double                  *x, *g; /* accepted point; x is the caller's */
    double                  *xt, *gt; /* trial point */
    double                  *d, *v; /* direction; v = g, or the pseudo-gradient */
    double                   F, step;
    uint64_t                 iteration, evaluations;
    double                   past[PERIOD_MAX]; /* F of earlier iterations, cyclic */
} run;

/* ---- L1 ----------------------------------------------------------------------------- */

static double norm1(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(x[i]);
    return sum;
}

/* The subgradient of smallest norm: one-sided derivatives where x is 0. */
static void pseudo_gradient(run *r)
{
    const double c1 = r->o->c1;
    for (size_t i = 0; i < r->n; i++) {
        const double g = r->g[i], x = r->x[i];
        if (x > 0.0)
            r->v[i] = g + c1;
        else if (x < 0.0)
            r->v[i] = g - c1;
        else
            r->v[i] = g + c1 < 0.0 ? g + c1 : g - c1 > 0.0 ? g - c1 : 0.0;
    }
}

static void project_trial(run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const double side = r->x[i] != 0.0 ? r->x[i] : -r->v[i];
        if (r->xt[i] * side <= 0.0)
            r->xt[i] = 0.0;
    }
}

/* ---- line search -------------------------------------------------------------------- */

/* F (with c1) at x + t d into *F; an overflow counts as +inf. */
static trl_status trial(run *r, double t, double *F, trl_error *err)
{
    trl_error local;
    trl_step_to(r->pool, r->n, r->x, t, r->d, r->xt);
    if (r->o->c1 > 0.0)
        project_trial(r);
    r->evaluations++;
    const trl_status st = r->f->eval(r->f->self, r->xt, r->gt, F, &local);
    if (st == TRL_ENUMERIC) {
        *F = HUGE_VAL;
        return TRL_OK;
    }
    if (st == TRL_OK && r->o->c1 > 0.0)
        *F += r->o->c1 * norm1(r->n, r->xt);
    if (st != TRL_OK && err)
        *err = local;
    return st;
}

/* v.(xt - x): what the slope promises for the projected step. */
static double promised(const run *r)
{
    double sum = 0.0;
    for (size_t i = 0; i < r->n; i++)
        sum += r->v[i] * (r->xt[i] - r->x[i]);
    return sum;
}

/* The minimum of the parabola through F(0), slope(0), F(t), kept well inside (0, t). */
static double shorter(double F0, double slope, double t, double F)
{
    double q = isfinite(F) ? -slope * t * t / (2.0 * (F - F0 - slope * t)) : 0.1 * t;
    if (!(q > 0.1 * t))
        q = 0.1 * t;
    return q < 0.6 * t ? q : 0.6 * t;
}

/* Searches from step t; *found says whether one was accepted (in xt, gt, *F). */
static trl_status line_search(run *r, double t, double slope, double *F, bool *found,
                              trl_error *err)
{
    double lo = 0.0, hi = HUGE_VAL;
    *found = false;
    for (int k = 0; k < MAX_TRIALS; k++) {
        const trl_status st = trial(r, t, F, err);
        if (st != TRL_OK)
            return st;
        const double want = r->o->c1 > 0.0 ? promised(r) : t * slope;
        if (!(*F <= r->F + 1e-4 * want)) {
            hi = t;
            t = lo > 0.0 ? 0.5 * (lo + hi) : shorter(r->F, slope, t, *F);
        } else if (r->o->c1 <= 0.0 &&
                   trl_dot(r->pool, r->n, r->gt, r->d) < 0.9 * slope) {
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

/* ---- one iteration ------------------------------------------------------------------ */

/* Sets d and its slope; false when there is no descent left. */
static bool direction(run *r, double *slope)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        trl_history_direction(&r->h, r->v, r->d);
        for (size_t i = 0; r->o->c1 > 0.0 && i < r->n; i++)
            if (r->d[i] * r->v[i] >= 0.0)
                r->d[i] = 0.0;
        *slope = trl_dot(r->pool, r->n, r->v, r->d);
        if (*slope < 0.0)
            return true;
        r->h.used = r->h.next = 0; /* numerically lost: steepest descent */
    }
    return false;
}

static void swap(double **a, double **b)
{
    double *t = *a;
    *a = *b;
    *b = t;
}

/* Moves to the trial point.  The caller's x always holds the accepted weights. */
static void accept(run *r, double F)
{
    const bool l1 = r->o->c1 > 0.0;
    if (l1)
        for (size_t i = 0; i < r->n; i++)
            r->d[i] = r->xt[i] - r->x[i];
    swap(&r->g, &r->gt); /* g new, gt old */
    memcpy(r->x, r->xt, r->n * sizeof *r->x);
    if (l1)
        pseudo_gradient(r);
    else
        r->v = r->g;
    trl_history_push(&r->h, l1 ? 1.0 : r->step, r->d, r->gt, r->g, r->v);
    r->F = F;
    r->iteration++;
}

static bool converged(run *r, double norm_v)
{
    const double norm_x = sqrt(trl_dot(r->pool, r->n, r->x, r->x));
    if (norm_v < r->o->epsilon * (norm_x > 1.0 ? norm_x : 1.0))
        return true;
    const size_t period = r->o->period < PERIOD_MAX ? r->o->period : PERIOD_MAX;
    if (period == 0)
        return false;
    double *slot = &r->past[r->iteration % period];
    const bool flat = r->iteration > period && *slot - r->F < r->o->delta * fabs(r->F);
    *slot = r->F;
    return flat;
}

/* ---- state -------------------------------------------------------------------------- */

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const uint64_t head[2] = {r->iteration, r->evaluations};
    return trl_buf_add(out, head, sizeof head) && trl_buf_add(out, r->past, sizeof r->past) &&
           trl_history_save(&r->h, out);
}

static bool load_state(run *r, const unsigned char *p, size_t n)
{
    uint64_t head[2];
    if (n < sizeof head + sizeof r->past)
        return false;
    memcpy(head, p, sizeof head);
    memcpy(r->past, p + sizeof head, sizeof r->past);
    p += sizeof head + sizeof r->past;
    n -= sizeof head + sizeof r->past;
    r->iteration = head[0];
    r->evaluations = head[1];
    return trl_history_load(&r->h, &p, &n) && n == 0;
}

/* ---- the run ------------------------------------------------------------------------ */

static trl_status watch(run *r, const trl_watcher *w, double norm_v, bool *stop, trl_error *err)
{
    const trl_iteration it = {.number = r->iteration,
                              .objective = r->F,
                              .exact = true,
                              .gradient = norm_v,
                              .step = r->step,
                              .evaluations = r->evaluations,
                              .x = r->x};
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
            st = line_search(r, r->h.used ? 1.0 : 1.0 / sqrt(-slope), slope, &F, &found, err);
        if (st == TRL_OK && !found && r->h.used) { /* once more, downhill */
            r->h.used = r->h.next = 0;
            if (direction(r, &slope))
                st = line_search(r, 1.0 / sqrt(-slope), slope, &F, &found, err);
        }
        if (st != TRL_OK)
            return st;
        if (!found) {
            *ending = TRL_END_NO_STEP;
            return TRL_OK;
        }
        accept(r, F);
        const double norm_v = sqrt(trl_dot(r->pool, r->n, r->v, r->v));
        const bool done = converged(r, norm_v);
        st = watch(r, w, norm_v, &stop, err);
        if (st != TRL_OK)
            return st;
        if (stop || done) {
            *ending = done ? TRL_END_CONVERGED : TRL_END_STOPPED;
            return TRL_OK;
        }
    }
}

static trl_status start(run *r, const void *state, size_t state_size, trl_error *err)
{
    if (state && !load_state(r, state, state_size))
        return trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    r->evaluations += !state;
    trl_status st = r->f->eval(r->f->self, r->x, r->g, &r->F, err);
    if (st != TRL_OK)
        return st;
    if (r->o->c1 > 0.0) {
        r->F += r->o->c1 * norm1(r->n, r->x);
        pseudo_gradient(r);
    } else {
        r->v = r->g;
    }
    return TRL_OK;
}

trl_status trl_lbfgs(const trl_function *f, const trl_lbfgs_options *o, trl_pool *pool,
                     const trl_watcher *watcher, const void *state, size_t state_size, double *x,
                     trl_ending *ending, trl_error *err)
{
    run r = {.f = f, .o = o, .pool = pool, .n = f->n, .x = x};
    const size_t room = f->n + 64;
    r.g = trl_alloc64(room, sizeof *r.g);
    r.xt = trl_alloc64(room, sizeof *r.xt);
    r.gt = trl_alloc64(room, sizeof *r.gt);
    r.d = trl_alloc64(room, sizeof *r.d);
    double *pseudo = o->c1 > 0.0 ? trl_alloc64(room, sizeof *pseudo) : NULL;
    r.v = pseudo;
    trl_status st = TRL_OK;
    if (!r.g || !r.xt || !r.gt || !r.d || (o->c1 > 0.0 && !pseudo) ||
        !trl_history_init(&r.h, f->n, o->memory, pool))
        st = trl_fail_mem(err);
    if (st == TRL_OK) {
        memset(r.xt + f->n, 0, 64 * sizeof *r.xt);
        st = start(&r, state, state_size, err);
    }
    if (st == TRL_OK)
        st = iterate(&r, watcher, ending, err);
    trl_history_fini(&r.h);
    trl_free(r.g);
    trl_free(r.xt);
    trl_free(r.gt);
    trl_free(r.d);
    trl_free(pseudo);
    return st;
}
