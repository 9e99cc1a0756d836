/* sag.c -- SAG with non-uniform sampling and a line search for the Lipschitz constants.
 *
 * With f_i = - value_i, m examples seen so far, lambda = 2 c2 / n and s = sum of the stored
 * adjoints (an ascent direction):
 *
 *     w <- (1 - a lambda) w + (a / m) s,        a = 1/2 (1/(L_max + lambda) + 1/(L_mean + lambda))
 *
 * L_i estimates the Lipschitz constant of example i's gradient: doubled while f_i(w - g_i / L_i) >
 * f_i(w) - ||g_i||^2 / (2 L_i), shrunk by 0.9 when the test holds at once; an example that keeps
 * passing is tested more and more rarely.  Half of the examples are drawn uniformly, half in
 * proportion to L_i.  The first pass visits every example once.  Its steps come from few examples
 * and would lead away from good weights: after a warm start the first pass takes no steps.
 */
/* SPDX-License-Identifier: MIT */
#include "train/sag.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/lazy_weights.h"
#include "num/blas1.h"
#include "train/example_passes.h"
#include "train/gradient.h"
#include "train/stored_adjoints.h"

#define MAX_DOUBLINGS 30

typedef struct example_state {
    double L;      /* Lipschitz estimate; 0 before the first visit */
    double value;  /* of f_i when last seen */
    uint32_t skip; /* visits until the next line search */
    uint32_t ease; /* line searches passed in a row */
} example_state;

typedef struct run {
    trl_passes p; /* examples are drawn by L */
    const trl_sag_options *o;
    double *x;
    trl_lazy z;
    example_state *ex; /* [n] */
    double L_max;
    bool warm; /* from given weights: the first pass only looks */
    trl_stored_adjoints stored;
    double *g;    /* [n_weights] dir as a plain vector */
    double *pull; /* [n_weights] the part of dir that pulls far weights to where they were; NULL */
} run;

/* ---- sampling -------------------------------------------------------------------------------- */

static void set_L(run *r, size_t i, double L)
{
    trl_weighted_sampler_add(&r->p.weights, i, L - r->ex[i].L);
    r->ex[i].L = L;
    r->L_max = L > r->L_max ? L : r->L_max;
}

static size_t draw(run *r)
{
    const size_t now = trl_passes_draw(&r->p), from = (size_t)r->p.d->first[r->p.next];
    trl_lazy_prefetch(&r->z, from, (size_t)r->p.d->first[r->p.next + 1] - from);
    return now;
}

/* ---- one example ----------------------------------------------------------------------------- */

/* Scores, value and adjoint of example i at the current weights. */
static trl_status evaluate(run *r, size_t i, trl_tables *s, trl_tables *a, double *value,
                           trl_error *err)
{
    const size_t from = (size_t)r->p.d->first[i], n = (size_t)r->p.d->first[i + 1] - from;
    trl_status st = trl_passes_tables(&r->p, from, n, s, a, err);
    if (st != TRL_OK)
        return st;
    trl_lazy_gather(&r->z, from, s);
    trl_lazy_gather_shared(&r->z, s->shared);
    st = trl_task_prepare(r->p.task, s, err);
    const trl_example e = {i, 0, &r->p.arena, 0};
    if (st == TRL_OK)
        st = r->p.task->evaluate(r->p.task->self, &e, s, a, value, err);
    trl_task_finish(r->p.task, 0, a);
    return st;
}

/* *cell = the difference from what is stored, in whose place it goes. */
static void swap_cell(double *cell, float *stored)
{
    const float now = (float)*cell;
    *cell = (double)now - (double)*stored;
    *stored = now;
}

/* Replaces the stored adjoint of example i by `a` and adds the difference to dir. */
static void replace_stored(run *r, size_t i, trl_tables *a)
{
    const size_t from = (size_t)r->p.d->first[i];
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        float *row = trl_stored_adjoints_row(&r->stored, k, from);
        float *shared = trl_stored_adjoints_shared(&r->stored, k, i);
        for (size_t t = 0; a->row[k] && t < a->n; t++)
            for (size_t c = t * f->step; c < t * f->step + f->width; c++)
                swap_cell(&a->row[k][c], &row[c]);
        for (size_t c = 0; a->shared[k] && c < f->n_constant; c++)
            if (shared)
                swap_cell(&a->shared[k][f->constant_cell[c]], &shared[c]);
            else
                a->shared[k][f->constant_cell[c]] = a->row[k][f->constant_cell[c]];
    }
    trl_lazy_scatter(&r->z, from, a, false);
}

/* sum over cells of a * (s1 - s0), shared tables included. */
static double inner(const run *r, const trl_tables *a, const trl_tables *s1, const trl_tables *s0)
{
    double sum = 0.0;
    for (size_t k = 0; k < r->p.d->n_families; k++) {
        const trl_family *f = &r->p.d->family[k];
        for (size_t t = 0; a->row[k] && t < a->n; t++)
            for (size_t c = 0; c < f->width; c++) {
                const size_t at = t * f->step + c;
                sum += a->row[k][at] * (s1->row[k][at] - s0->row[k][at]);
            }
        for (size_t c = 0; a->shared[k] && c < f->width; c++)
            sum += a->shared[k][c] * (s1->shared[k][c] - s0->shared[k][c]);
    }
    return sum;
}

/* Where the search starts: an example, its scores, its value. */
typedef struct sag_point {
    size_t i;
    const trl_tables *s0;
    double value;
} sag_point;

/* Tests, and where needed doubles, L for example i, whose scores, adjoint and value are given.
 * The weights are moved by -g/L and back; ||g||^2 falls out of how far the scores moved. */
static trl_status line_search(run *r, const sag_point *at, trl_tables *a, double *L, bool *at_once,
                              trl_error *err)
{
    const size_t from = (size_t)r->p.d->first[at->i];
    *at_once = true;
    for (int k = 0; k < MAX_DOUBLINGS; k++) {
        trl_tables s1, a1;
        double v1;
        const double step = 1.0 / *L;
        trl_tables_scale(r->p.d, a, step);
        trl_lazy_scatter(&r->z, from, a, true);
        const trl_status st = evaluate(r, at->i, &s1, &a1, &v1, err);
        trl_tables_scale(r->p.d, a, -1.0);
        trl_lazy_scatter(&r->z, from, a, true);
        trl_tables_scale(r->p.d, a, -1.0 / step);
        const double norm2 = *L * inner(r, a, &s1, at->s0);
        if (st != TRL_OK)
            return st;
        if (norm2 < 1e-8 || v1 >= at->value + norm2 / (2.0 * *L))
            return TRL_OK;
        *L *= 2.0;
        *at_once = false;
    }
    return TRL_OK;
}

static trl_status maybe_search(run *r, size_t i, trl_tables *s, trl_tables *a, double value,
                               trl_error *err)
{
    example_state *x = &r->ex[i];
    const bool first = x->L == 0.0;
    double L = first ? (r->p.weights.sum > 0.0 ? r->p.weights.sum / (double)r->p.seen : 1.0) : x->L;
    if (!first && x->skip > 0) {
        x->skip--;
        return TRL_OK;
    }
    bool at_once;
    const trl_status st = line_search(r, &(sag_point){i, s, value}, a, &L, &at_once, err);
    if (at_once) {
        L *= first ? 1.0 : 0.9;
        x->ease = x->ease < 20 ? x->ease + 1 : 20;
        x->skip = (1u << (x->ease - 1)) - 1;
    } else {
        x->ease = 0;
    }
    set_L(r, i, L);
    return st;
}

static trl_status step(void *self, trl_error *err)
{
    run *r = self;
    trl_tables s, a;
    double value;
    trl_arena_reset(&r->p.arena);
    const size_t i = draw(r);
    trl_status st = evaluate(r, i, &s, &a, &value, err);
    if (st == TRL_OK && !(trl_passes_keep_shared(&r->p, &s) && trl_passes_keep_shared(&r->p, &a)))
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    r->ex[i].value = -value;
    st = maybe_search(r, i, &s, &a, value, err);
    if (st != TRL_OK)
        return st;
    replace_stored(r, i, &a);
    r->p.seen += r->p.seen < r->p.n;
    const double m = (double)r->p.seen, lambda = 2.0 * r->o->c2 / (double)r->p.n;
    const double mean = r->p.weights.sum / m;
    const double alpha = 0.5 * (1.0 / (r->L_max + lambda) + 1.0 / (mean + lambda));
    r->z.m = m;
    if (!r->warm || r->p.pass > 0)
        r->z.time += r->p.damp * alpha;
    return TRL_OK;
}

/* ---- state ----------------------------------------------------------------------------------- */

static trl_passes_state own_state(const run *r)
{
    return (trl_passes_state){.example = r->ex, .example_size = sizeof *r->ex};
}

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const trl_passes_state own = own_state(r);
    return trl_passes_save(&r->p, &own, out) && trl_stored_adjoints_save(&r->stored, out) &&
           trl_buf_add(out, r->g, (size_t)r->p.d->n_weights * sizeof *r->g); /* of the pass' end */
}

static bool load_state(run *r, const unsigned char *p, size_t n)
{
    const trl_passes_state own = own_state(r);
    return trl_passes_load(&r->p, &own, &p, &n) && trl_stored_adjoints_load(&r->stored, &p, &n) &&
           trl_take(&p, &n, r->g, (size_t)r->p.d->n_weights * sizeof *r->g) && n == 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Recomputes running sums, so that a resumed run has the same ones. */
static void settle(run *r)
{
    trl_lazy_flush(&r->z);
    r->L_max = 0.0;
    trl_weighted_sampler_clear(&r->p.weights);
    for (size_t i = 0; i < r->p.n; i++) {
        r->L_max = r->ex[i].L > r->L_max ? r->ex[i].L : r->L_max;
        trl_weighted_sampler_add(&r->p.weights, i, r->ex[i].L);
    }
}

/* Gives far weights back what the common penalty took too much (scaled_values.h): its pull goes to
 * q times the weights x of this pass' end.  A resumed run does the same. */
static void set_pull(run *r, const double *x)
{
    const trl_far_weights *far = r->o->far;
    for (size_t k = 0; far && k < far->n; k++) {
        const uint64_t j = far->weight[k];
        r->pull[j] = 2.0 * r->o->c2 * trl_far_share(far, j) * x[j];
    }
}

static void move_pull(run *r)
{
    const trl_far_weights *far = r->o->far;
    for (size_t k = 0; far && k < far->n; k++)
        r->g[far->weight[k]] -= r->pull[far->weight[k]];
    set_pull(r, r->x);
    for (size_t k = 0; far && k < far->n; k++)
        r->g[far->weight[k]] += r->pull[far->weight[k]];
    if (far)
        trl_lazy_set(&r->z, NULL, r->g);
}

/* dF/dw of one weight at x. */
static double slope(const run *r, size_t j, double x)
{
    const trl_far_weights *far = r->o->far;
    if (!far)
        return 2.0 * r->o->c2 * x - r->g[j];
    return 2.0 * r->o->c2 * x / far->p[j] - far->p[j] * (r->g[j] - r->pull[j]);
}

/* The step is larger than theory allows, because that nearly always works.  Where it does not, the
 * gradient grows: then steps are halved and all L_i are tested again.
 */
static void keep_in_check(run *r, double gradient)
{
    if (r->p.pass > 3 && gradient > 3.0 * r->p.lowest) {
        r->p.damp *= 0.5;
        r->p.lowest = gradient;
        for (size_t i = 0; i < r->p.n; i++)
            r->ex[i].skip = r->ex[i].ease = 0;
    } else if (gradient < r->p.lowest) {
        r->p.lowest = gradient;
    }
}

static trl_status end_pass(void *self, trl_ending *ending, bool *done, bool *stop, trl_error *err)
{
    run *r = self;
    double *x = r->x;
    const size_t n = (size_t)r->p.d->n_weights;
    settle(r);
    r->p.pass++;
    trl_lazy_get(&r->z, x, r->g);
    double F = 0.0, g2 = 0.0;
    for (size_t i = 0; i < r->p.n; i++)
        F += r->ex[i].value;
    const double w2 = trl_far_norm2(r->o->far, n, x);
    F += r->o->c2 * w2;
    for (size_t k = 0; k < n; k++) {
        const double g = slope(r, k, x[k]);
        g2 += g * g;
    }
    move_pull(r);
    keep_in_check(r, sqrt(g2));
    double *past = &r->p.past[r->p.pass % (r->p.period + 1)];
    const double before = r->p.past[(r->p.pass + 1) % (r->p.period + 1)];
    *past = F;
    /* F is made of values from up to many steps ago and may rise: that does not mean it has
     * stalled */
    const bool stalled =
        r->p.period && r->p.pass > r->p.period && fabs(before - F) < r->o->delta * fabs(F);
    const bool small = sqrt(g2) < r->o->epsilon * fmax(1.0, sqrt(w2));
    *done = small || stalled;
    *ending = small ? TRL_END_CONVERGED : TRL_END_STALLED;
    const trl_iteration it = {.number = r->p.pass,
                              .objective = F,
                              .gradient = sqrt(g2),
                              .step = r->p.weights.sum / (double)r->p.n,
                              .evaluations = r->p.pass,
                              .x = x,
                              .last = *done,
                              .ending = *ending};
    const trl_watcher *w = r->p.watcher;
    return w ? w->watch(w->self, &it, save_state, r, stop, err) : TRL_OK;
}

static trl_status run_init(run *r, trl_error *err)
{
    trl_status st = trl_passes_init(&r->p, r->o->seed, err);
    r->ex = trl_zalloc(r->p.n, sizeof *r->ex);
    r->g = trl_alloc((size_t)r->p.d->n_weights, sizeof *r->g);
    if (r->o->far)
        r->pull = trl_zalloc((size_t)r->p.d->n_weights, sizeof *r->pull);
    if (st == TRL_OK && (!r->ex || !r->g || (r->o->far && !r->pull)))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_stored_adjoints_init(&r->stored, r->p.d, NULL, err);
    if (st == TRL_OK)
        st = trl_lazy_init(&r->z, r->p.d, err);
    r->z.lambda = 2.0 * r->o->c2 / (double)r->p.n;
    return st;
}

static void run_fini(run *r)
{
    trl_passes_fini(&r->p);
    trl_free(r->ex);
    trl_free(r->g);
    trl_free(r->pull);
    trl_stored_adjoints_fini(&r->stored);
    trl_lazy_fini(&r->z);
}

trl_status trl_sag(const trl_design *d, const trl_task *task, const trl_sag_options *o,
                   const trl_descent *how, trl_error *err)
{
    run r = {.p = {.d = d,
                   .task = task,
                   .max_iter = o->max_iter,
                   .period = o->period,
                   .uniform = 0.5,
                   .watcher = how->watcher},
             .o = o,
             .x = how->x};
    trl_status st = run_init(&r, err);
    if (st == TRL_OK && how->state && !load_state(&r, how->state, how->state_size))
        st = trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    if (st == TRL_OK) {
        for (uint64_t i = 0; !r.warm && i < d->n_weights; i++)
            r.warm = how->x[i] != 0.0;
        trl_lazy_set(&r.z, how->x, how->state ? r.g : NULL);
        if (how->state)
            set_pull(&r, how->x);
        settle(&r);
        st = trl_passes_run(&r.p, &(trl_passes_fns){step, end_pass}, &r, how->ending, err);
    }
    run_fini(&r);
    return st;
}
