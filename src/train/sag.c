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
#include "base/rng.h"
#include "feature/lazy_weights.h"
#include "num/blas1.h"
#include "train/gradient.h"
#include "train/weighted_sampler.h"

#define MAX_DOUBLINGS 30

typedef struct example_state {
    double L;      /* Lipschitz estimate; 0 before the first visit */
    double value;  /* of f_i when last seen */
    uint32_t skip; /* visits until the next line search */
    uint32_t ease; /* line searches passed in a row */
} example_state;

typedef struct run {
    const trl_design *d;
    const trl_task *task;
    const trl_sag_options *o;
    size_t n;
    trl_lazy z;
    example_state *ex;          /* [n] */
    trl_weighted_sampler sizes; /* of L */
    double L_max;
    double damp, lowest;            /* of steps; least gradient norm so far */
    bool warm;                      /* from given weights: the first pass only looks */
    float *stored_rows;             /* adjoint rows of all tokens, family after family */
    float *stored_shared;           /* [n][shared cells] */
    size_t row_cells, shared_cells; /* per token, per example */
    uint32_t *order;                /* the first pass */
    uint64_t seen, pass, next;
    trl_rng rng;
    trl_arena arena;
    trl_tables scores, adjoint; /* shared tables; rows come from the arena */
    double *past;               /* objective estimates, [period + 1] */
    double *g;                  /* [n_weights] dir as a plain vector */
} run;

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t row_cells(const trl_design *d)
{
    size_t n = 0;
    for (size_t k = 0; k < d->n_families; k++)
        n += d->family[k].has_rows ? d->family[k].width : 0;
    return n;
}

static size_t shared_cells(const trl_design *d)
{
    size_t n = 0;
    for (size_t k = 0; k < d->n_families; k++)
        n += d->family[k].n_constant;
    return n;
}

size_t trl_sag_memory(const trl_design *d)
{
    return (d->n_tokens * row_cells(d) + d->n_sequences * shared_cells(d)) * sizeof(float);
}

/* ---- sampling -------------------------------------------------------------------------------- */

static void set_L(run *r, size_t i, double L)
{
    trl_weighted_sampler_add(&r->sizes, i, L - r->ex[i].L);
    r->ex[i].L = L;
    r->L_max = L > r->L_max ? L : r->L_max;
}

/* The next example.  It is drawn one step ahead, so that its weights can be fetched while the
 * current one is worked on. */
static size_t draw(run *r)
{
    const size_t now = r->next;
    if (r->seen + 1 < r->n)
        r->next = r->order[r->seen + 1];
    else if (trl_rng_unit(&r->rng) < 0.5)
        r->next = trl_rng_below(&r->rng, r->n);
    else
        r->next = trl_weighted_sampler_find(&r->sizes, trl_rng_unit(&r->rng));
    const size_t from = (size_t)r->d->first[r->next];
    trl_lazy_prefetch(&r->z, from, (size_t)r->d->first[r->next + 1] - from);
    return now;
}

/* ---- one example ----------------------------------------------------------------------------- */

/* Scores, value and adjoint of example i at the current weights. */
static trl_status evaluate(run *r, size_t i, trl_tables *s, trl_tables *a, double *value,
                           trl_error *err)
{
    const size_t from = (size_t)r->d->first[i], n = (size_t)r->d->first[i + 1] - from;
    if (!trl_tables_get(r->d, n, &r->arena, s) || !trl_tables_get(r->d, n, &r->arena, a))
        return trl_fail_mem(err);
    for (size_t k = 0; k < r->d->n_families; k++) {
        s->shared[k] = r->scores.shared[k];
        a->shared[k] = r->adjoint.shared[k];
    }
    trl_shared_clear(r->d, a);
    trl_lazy_gather(&r->z, from, s);
    trl_lazy_gather_shared(&r->z, s->shared);
    trl_status st = trl_task_prepare(r->task, s, err);
    if (st == TRL_OK)
        st = r->task->evaluate(r->task->self, i, 0, &r->arena, s, a, value, err);
    trl_task_finish(r->task, 0, a);
    return st;
}

/* Replaces the stored adjoint of example i by `a` and adds the difference to dir. */
static void replace_stored(run *r, size_t i, trl_tables *a)
{
    const size_t from = (size_t)r->d->first[i];
    float *kept = r->stored_rows + from * r->row_cells;
    for (size_t k = 0; k < r->d->n_families; k++) {
        const trl_family *f = &r->d->family[k];
        for (size_t t = 0; a->row[k] && t < a->n; t++, kept += f->width) {
            double *row = a->row[k] + t * f->step;
            for (size_t c = 0; c < f->width; c++) {
                const float now = (float)row[c];
                row[c] = (double)now - (double)kept[c];
                kept[c] = now;
            }
        }
    }
    kept = r->stored_shared + i * r->shared_cells;
    for (size_t k = 0; k < r->d->n_families; k++) {
        const trl_family *f = &r->d->family[k];
        for (size_t c = 0; a->shared[k] && c < f->n_constant; c++, kept++) {
            double *cell = &a->shared[k][f->constant_cell[c]];
            const float now = (float)*cell;
            *cell = (double)now - (double)*kept;
            *kept = now;
        }
    }
    trl_lazy_scatter(&r->z, from, a, false);
}

/* sum over cells of a * (s1 - s0), shared tables included. */
static double inner(const run *r, const trl_tables *a, const trl_tables *s1, const trl_tables *s0)
{
    double sum = 0.0;
    for (size_t k = 0; k < r->d->n_families; k++) {
        const trl_family *f = &r->d->family[k];
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

/* Copies the shared tables into the arena: evaluate reuses r->scores and r->adjoint. */
static bool keep_shared(run *r, trl_tables *t)
{
    for (size_t k = 0; k < r->d->n_families; k++) {
        if (!t->shared[k])
            continue;
        double *copy = trl_arena_get(&r->arena, r->d->family[k].step, sizeof *copy);
        if (!copy)
            return false;
        memcpy(copy, t->shared[k], r->d->family[k].step * sizeof *copy);
        t->shared[k] = copy;
    }
    return true;
}

/* Tests, and where needed doubles, L for example i, whose scores, adjoint and value are given.
 * The weights are moved by -g/L and back; ||g||^2 falls out of how far the scores moved. */
static trl_status line_search(run *r, size_t i, const trl_tables *s0, trl_tables *a, double value,
                              double *L, bool *at_once, trl_error *err)
{
    const size_t from = (size_t)r->d->first[i];
    *at_once = true;
    for (int k = 0; k < MAX_DOUBLINGS; k++) {
        trl_tables s1, a1;
        double v1;
        const double step = 1.0 / *L;
        trl_tables_scale(r->d, a, step);
        trl_lazy_scatter(&r->z, from, a, true);
        const trl_status st = evaluate(r, i, &s1, &a1, &v1, err);
        trl_tables_scale(r->d, a, -1.0);
        trl_lazy_scatter(&r->z, from, a, true);
        trl_tables_scale(r->d, a, -1.0 / step);
        const double norm2 = *L * inner(r, a, &s1, s0);
        if (st != TRL_OK)
            return st;
        if (norm2 < 1e-8 || v1 >= value + norm2 / (2.0 * *L))
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
    double L = first ? (r->sizes.sum > 0.0 ? r->sizes.sum / (double)r->seen : 1.0) : x->L;
    if (!first && x->skip > 0) {
        x->skip--;
        return TRL_OK;
    }
    bool at_once;
    const trl_status st = line_search(r, i, s, a, value, &L, &at_once, err);
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

static trl_status step(run *r, trl_error *err)
{
    trl_tables s, a;
    double value;
    trl_arena_reset(&r->arena);
    const size_t i = draw(r);
    trl_status st = evaluate(r, i, &s, &a, &value, err);
    if (st == TRL_OK && !(keep_shared(r, &s) && keep_shared(r, &a)))
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    r->ex[i].value = -value;
    st = maybe_search(r, i, &s, &a, value, err);
    if (st != TRL_OK)
        return st;
    replace_stored(r, i, &a);
    r->seen += r->seen < r->n;
    const double m = (double)r->seen, lambda = 2.0 * r->o->c2 / (double)r->n;
    const double mean = r->sizes.sum / m;
    const double alpha = 0.5 * (1.0 / (r->L_max + lambda) + 1.0 / (mean + lambda));
    r->z.m = m;
    if (!r->warm || r->pass > 0)
        r->z.time += r->damp * alpha;
    return TRL_OK;
}

/* ---- state ----------------------------------------------------------------------------------- */

typedef struct saved_head {
    uint64_t n, n_weights, n_tokens, seen, pass, next;
    double damp, lowest;
    trl_rng rng;
} saved_head;

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    const saved_head h = {r->n,    r->d->n_weights, r->d->n_tokens, r->seen, r->pass,
                          r->next, r->damp,         r->lowest,      r->rng};
    return trl_buf_add(out, &h, sizeof h) && trl_buf_add(out, r->ex, r->n * sizeof *r->ex) &&
           trl_buf_add(out, r->past, (r->o->period + 1) * sizeof *r->past) &&
           trl_buf_add(out, r->stored_rows,
                       r->d->n_tokens * r->row_cells * sizeof *r->stored_rows) &&
           trl_buf_add(out, r->stored_shared, r->n * r->shared_cells * sizeof *r->stored_shared) &&
           trl_buf_add(out, r->g, (size_t)r->d->n_weights * sizeof *r->g); /* of the pass' end */
}

static bool load_state(run *r, const unsigned char *p, size_t n)
{
    saved_head h;
    if (!trl_take(&p, &n, &h, sizeof h) || h.n != r->n || h.n_weights != r->d->n_weights ||
        h.n_tokens != r->d->n_tokens || h.seen > r->n || h.next >= r->n)
        return false;
    r->seen = h.seen;
    r->pass = h.pass;
    r->next = h.next;
    r->damp = h.damp;
    r->lowest = h.lowest;
    r->rng = h.rng;
    return trl_take(&p, &n, r->ex, r->n * sizeof *r->ex) &&
           trl_take(&p, &n, r->past, (r->o->period + 1) * sizeof *r->past) &&
           trl_take(&p, &n, r->stored_rows,
                    r->d->n_tokens * r->row_cells * sizeof *r->stored_rows) &&
           trl_take(&p, &n, r->stored_shared, r->n * r->shared_cells * sizeof *r->stored_shared) &&
           trl_take(&p, &n, r->g, (size_t)r->d->n_weights * sizeof *r->g) && n == 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Recomputes running sums, so that a resumed run has the same ones. */
static void settle(run *r)
{
    trl_lazy_flush(&r->z);
    r->L_max = 0.0;
    trl_weighted_sampler_clear(&r->sizes);
    for (size_t i = 0; i < r->n; i++) {
        r->L_max = r->ex[i].L > r->L_max ? r->ex[i].L : r->L_max;
        trl_weighted_sampler_add(&r->sizes, i, r->ex[i].L);
    }
}

/* The step is larger than theory allows, because that nearly always works.  Where it does not, the
 * gradient grows: then steps are halved and all L_i are tested again.
 */
static void keep_in_check(run *r, double gradient)
{
    if (r->pass > 3 && gradient > 3.0 * r->lowest) {
        r->damp *= 0.5;
        r->lowest = gradient;
        for (size_t i = 0; i < r->n; i++)
            r->ex[i].skip = r->ex[i].ease = 0;
    } else if (gradient < r->lowest) {
        r->lowest = gradient;
    }
}

static trl_status end_pass(run *r, const trl_watcher *w, double *x, trl_ending *ending, bool *done,
                           bool *stop, trl_error *err)
{
    const size_t n = (size_t)r->d->n_weights;
    settle(r);
    r->pass++;
    trl_lazy_get(&r->z, x, r->g);
    double F = 0.0, g2 = 0.0;
    for (size_t i = 0; i < r->n; i++)
        F += r->ex[i].value;
    const double w2 = trl_dot(NULL, n, x, x);
    F += r->o->c2 * w2;
    for (size_t k = 0; k < n; k++) {
        const double g = 2.0 * r->o->c2 * x[k] - r->g[k];
        g2 += g * g;
    }
    keep_in_check(r, sqrt(g2));
    double *past = &r->past[r->pass % (r->o->period + 1)];
    const double before = r->past[(r->pass + 1) % (r->o->period + 1)];
    *past = F;
    /* F is made of values from up to many steps ago and may rise: that does not mean it has
     * stalled */
    const bool stalled =
        r->o->period && r->pass > r->o->period && fabs(before - F) < r->o->delta * fabs(F);
    const bool small = sqrt(g2) < r->o->epsilon * fmax(1.0, sqrt(w2));
    *done = small || stalled;
    *ending = small ? TRL_END_CONVERGED : TRL_END_STALLED;
    const trl_iteration it = {.number = r->pass,
                              .objective = F,
                              .gradient = sqrt(g2),
                              .step = r->sizes.sum / (double)r->n,
                              .evaluations = r->pass,
                              .x = x,
                              .last = *done,
                              .ending = *ending};
    return w ? w->watch(w->self, &it, save_state, r, stop, err) : TRL_OK;
}

static trl_status passes(run *r, const trl_watcher *w, double *x, trl_ending *ending,
                         trl_error *err)
{
    for (bool done = false, stop = false;;) {
        if (!done)
            *ending = stop ? TRL_END_STOPPED : TRL_END_MAX_ITER;
        if (done || stop || r->pass >= (r->o->max_iter ? r->o->max_iter : TRL_MOST_PASSES))
            return TRL_OK;
        for (size_t k = 0; k < r->n; k++) {
            const trl_status st = step(r, err);
            if (st != TRL_OK)
                return st;
        }
        const trl_status st = end_pass(r, w, x, ending, &done, &stop, err);
        if (st != TRL_OK)
            return st;
    }
}

static trl_status run_init(run *r, trl_error *err)
{
    r->row_cells = row_cells(r->d);
    r->shared_cells = shared_cells(r->d);
    r->ex = trl_zalloc(r->n, sizeof *r->ex);
    r->order = trl_alloc(r->n, sizeof *r->order);
    r->past = trl_zalloc(r->o->period + 1, sizeof *r->past);
    r->g = trl_alloc((size_t)r->d->n_weights, sizeof *r->g);
    r->stored_rows = trl_zalloc(r->d->n_tokens * r->row_cells, sizeof *r->stored_rows);
    r->stored_shared = trl_zalloc(r->n * r->shared_cells + 1, sizeof *r->stored_shared);
    if (!trl_weighted_sampler_init(&r->sizes, r->n) || !r->ex || !r->order || !r->past || !r->g ||
        !r->stored_rows || !r->stored_shared)
        return trl_fail_mem(err);
    trl_rng shuffle = r->rng;
    for (size_t i = 0; i < r->n; i++) {
        const size_t j = trl_rng_below(&shuffle, i + 1);
        r->order[i] = r->order[j];
        r->order[j] = (uint32_t)i;
    }
    r->next = r->order[0];
    trl_status st = trl_lazy_init(&r->z, r->d, err);
    r->z.lambda = 2.0 * r->o->c2 / (double)r->n;
    if (st == TRL_OK)
        st = trl_shared_new(r->d, &r->scores, err);
    if (st == TRL_OK)
        st = trl_shared_new(r->d, &r->adjoint, err);
    return st;
}

static void run_fini(run *r)
{
    trl_free(r->ex);
    trl_weighted_sampler_fini(&r->sizes);
    trl_free(r->order);
    trl_free(r->past);
    trl_free(r->g);
    trl_free(r->stored_rows);
    trl_free(r->stored_shared);
    trl_lazy_fini(&r->z);
    trl_shared_free(&r->scores);
    trl_shared_free(&r->adjoint);
    trl_arena_fini(&r->arena);
}

trl_status trl_sag(const trl_design *d, const trl_task *task, const trl_sag_options *o,
                   const trl_watcher *watcher, const void *state, size_t state_size, double *x,
                   trl_ending *ending, trl_error *err)
{
    run r = {.d = d, .task = task, .o = o, .n = d->n_sequences, .damp = 1.0, .lowest = HUGE_VAL};
    r.rng = trl_rng_seed(o->seed);
    trl_status st = run_init(&r, err);
    if (st == TRL_OK && state && !load_state(&r, state, state_size))
        st = trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
    if (st == TRL_OK) {
        for (uint64_t i = 0; !r.warm && i < d->n_weights; i++)
            r.warm = x[i] != 0.0;
        trl_lazy_set(&r.z, x, state ? r.g : NULL);
        settle(&r);
        st = passes(&r, watcher, x, ending, err);
    }
    run_fini(&r);
    return st;
}
