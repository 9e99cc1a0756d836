/* mest_dual.c -- stochastic dual coordinate ascent. */
/* SPDX-License-Identifier: MIT */
#include "mest/mest_dual.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/rng.h"
#include "mest/mest_parts.h"
#include "num/blas1.h"

typedef struct run {
    trl_mest *m;
    const trl_mest_dual_options *o;
    size_t n;        /* sequences */
    double *a;       /* [n] */
    double *norm2;   /* [n] ||f_i||^2 */
    uint32_t *order; /* [n] */
    trl_rng rng;
    uint64_t pass; /* passes done */
    double *w;
} run;

/* The u with u + s q e^u = b, for s q >= 0.  The left side is convex and grows, so Newton's
 * method comes down to the solution from any start above it; b is one, and for b > 0
 * max(0, log(b / (s q))) is another. */
static double solve(double sq, double b)
{
    double u = b;
    if (b > 0.0 && sq > 0.0) {
        const double other = log(b / sq);
        const double top = other > 0.0 ? other : 0.0;
        u = top < b ? top : b;
    }
    for (int k = 0; k < 50; k++) {
        const double e = sq * exp(u), step = (u + e - b) / (1.0 + e);
        u -= step;
        if (!(fabs(step) > 1e-12 * (1.0 + fabs(u))))
            break;
    }
    return u;
}

static void ascend(run *r, size_t i)
{
    const double s = r->m->share[i], q = r->norm2[i] / (2.0 * r->o->c2);
    if (s <= 0.0)
        return;
    const double z = trl_side_dot(&r->m->f.rows, i, r->w);
    const double a = s * exp(solve(s * q, r->a[i] * q - z));
    trl_side_axpy(&r->m->f.rows, i, (a - r->a[i]) / (2.0 * r->o->c2), r->w);
    r->a[i] = a;
}

static void shuffle(run *r)
{
    for (size_t i = r->n; i > 1; i--) {
        const size_t k = trl_rng_below(&r->rng, i);
        const uint32_t t = r->order[i - 1];
        r->order[i - 1] = r->order[k];
        r->order[k] = t;
    }
}

/* w = w(a), without the rounding errors of thousands of updates. */
static void recompute(run *r)
{
    const trl_sparse_side *columns = &r->m->f.columns;
    for (size_t j = 0; j < columns->n; j++)
        r->w[j] = (trl_side_dot(columns, j, r->a) - r->m->E[j]) / (2.0 * r->o->c2);
}

/* F(w) and D(a); v is overwritten. */
static trl_status values(run *r, double *F, double *D, trl_error *err)
{
    trl_mest *m = r->m;
    const trl_status st = trl_mest_rows(m, r->w, err);
    if (st != TRL_OK)
        return st;
    const double penalty = r->o->c2 * trl_dot(m->pool, m->f.columns.n, r->w, r->w);
    double sum = 0.0, dual = 0.0;
    for (size_t i = 0; i < r->n; i++) {
        sum += m->v[i];
        if (r->a[i] > 0.0)
            dual += r->a[i] - r->a[i] * log(r->a[i] / m->share[i]);
    }
    *F = sum + trl_dot(m->pool, m->f.columns.n, r->w, m->E) + penalty;
    *D = dual - penalty;
    return TRL_OK;
}

static bool save_state(const void *optimizer, trl_buf *out)
{
    const run *r = optimizer;
    return trl_buf_add(out, &r->pass, sizeof r->pass) && trl_buf_add(out, &r->rng, sizeof r->rng) &&
           trl_buf_add(out, r->a, r->n * sizeof *r->a) &&
           trl_buf_add(out, r->order, r->n * sizeof *r->order);
}

static trl_status load_state(run *r, const void *state, size_t size, trl_error *err)
{
    const size_t head = sizeof r->pass + sizeof r->rng, a = r->n * sizeof *r->a;
    const unsigned char *p = state;
    bool good = size == head + a + r->n * sizeof *r->order;
    if (good) {
        memcpy(&r->pass, p, sizeof r->pass);
        memcpy(&r->rng, p + sizeof r->pass, sizeof r->rng);
        memcpy(r->a, p + head, a);
        memcpy(r->order, p + head + a, r->n * sizeof *r->order);
    }
    for (size_t i = 0; good && i < r->n; i++)
        good = r->order[i] < r->n && r->a[i] >= 0.0 && isfinite(r->a[i]);
    return good ? TRL_OK
                : trl_fail(err, TRL_EMODEL, "the checkpoint does not fit this training run");
}

static trl_status watch(run *r, const trl_watcher *watcher, double F, bool last, bool *stop,
                        trl_error *err)
{
    const trl_iteration it = {.number = r->pass,
                              .objective = F,
                              .exact = true,
                              .gradient = NAN,
                              .step = 1.0,
                              .evaluations = 2 * r->pass,
                              .x = r->w,
                              .last = last,
                              .ending = TRL_END_CONVERGED};
    return watcher ? watcher->watch(watcher->self, &it, save_state, r, stop, err) : TRL_OK;
}

static trl_status iterate(run *r, const trl_watcher *watcher, trl_ending *ending, trl_error *err)
{
    *ending = TRL_END_MAX_ITER;
    while (r->pass < (r->o->max_iter ? r->o->max_iter : TRL_MOST_PASSES)) {
        double F, D;
        bool stop = false;
        trl_status st = TRL_OK;
        shuffle(r);
        for (size_t i = 0; st == TRL_OK && i < r->n; i++) {
            ascend(r, r->order[i]);
            st = trl_watcher_check(watcher, err);
        }
        r->pass++;
        if (st == TRL_OK)
            st = values(r, &F, &D, err);
        if (st != TRL_OK)
            return st;
        const bool done = F - D < r->o->delta * (fabs(F) > 1.0 ? fabs(F) : 1.0);
        if (done)
            recompute(r);
        st = watch(r, watcher, F, done, &stop, err);
        if (st != TRL_OK)
            return st;
        if (done || stop) {
            *ending = done ? TRL_END_CONVERGED : TRL_END_STOPPED;
            return TRL_OK;
        }
    }
    return TRL_OK;
}

static trl_status start(run *r, const void *state, size_t state_size, trl_error *err)
{
    const trl_sparse_side *rows = &r->m->f.rows;
    r->a = trl_alloc(r->n, sizeof *r->a);
    r->norm2 = trl_alloc(r->n, sizeof *r->norm2);
    r->order = trl_alloc(r->n, sizeof *r->order);
    if (!r->a || !r->norm2 || !r->order)
        return trl_fail_mem(err);
    const trl_status st = trl_mest_rows(r->m, r->w, err);
    if (st != TRL_OK)
        return st;
    for (size_t i = 0; i < r->n; i++) {
        r->order[i] = (uint32_t)i;
        r->a[i] = isfinite(r->m->v[i]) ? r->m->v[i] : r->m->share[i];
        r->norm2[i] = (double)(rows->ones[i] - rows->begin[i]);
        for (uint64_t k = 0; k < rows->begin[i + 1] - rows->ones[i]; k++)
            r->norm2[i] += rows->value[rows->other[i] + k] * rows->value[rows->other[i] + k];
    }
    if (state)
        return load_state(r, state, state_size, err);
    recompute(r);
    return TRL_OK;
}

trl_status trl_mest_dual(trl_mest *m, const trl_mest_dual_options *o, const trl_descent *how,
                         trl_error *err)
{
    if (!(o->c2 > 0.0 && isfinite(o->c2)))
        return trl_fail(err, TRL_EINVAL, "the dual of M-estimation needs c2 > 0, not %g", o->c2);
    run r = {.m = m, .o = o, .n = m->f.rows.n, .rng = trl_rng_seed(o->seed), .w = how->x};
    trl_status st = start(&r, how->state, how->state_size, err);
    if (st == TRL_OK)
        st = iterate(&r, how->watcher, how->ending, err);
    trl_free(r.a);
    trl_free(r.norm2);
    trl_free(r.order);
    return st;
}
