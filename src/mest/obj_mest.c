/* obj_mest.c -- M-estimation as two sparse matrix-vector products. */
/* SPDX-License-Identifier: MIT */
#include "mest/obj_mest.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mest/mest_parts.h"
#include "num/blas1.h"

#define JOBS 64 /* pieces of either product; they do not affect the result */

/* ---- lifetime -------------------------------------------------------------------------------- */

/* weight NULL: all 1. */
static trl_status weigh(trl_mest *m, const double *weight, trl_error *err)
{
    const size_t n = m->f.rows.n;
    double total = 0.0;
    m->share = trl_alloc(n, sizeof *m->share);
    m->v = trl_alloc(n, sizeof *m->v);
    if (!m->share || !m->v)
        return trl_fail_mem(err);
    for (size_t i = 0; i < n; i++)
        total += weight ? weight[i] : 1.0;
    if (!(total > 0.0))
        return trl_fail(err, TRL_EINVAL, "all sequences have weight 0");
    for (size_t i = 0; i < n; i++)
        m->share[i] = (weight ? weight[i] : 1.0) / total;
    return TRL_OK;
}

/* Takes ownership of the matrix. */
static trl_status wrap(trl_gold_matrix *f, const double *weight, const double *E, trl_pool *pool,
                       trl_mest **out, trl_error *err)
{
    trl_mest *m = trl_zalloc(1, sizeof *m);
    if (!m) {
        trl_gold_matrix_fini(f);
        return trl_fail_mem(err);
    }
    m->f = *f;
    m->E = E;
    m->pool = pool;
    const trl_status st = weigh(m, weight, err);
    if (st == TRL_OK)
        *out = m;
    else
        trl_mest_free(m);
    return st;
}

trl_status trl_mest_new(const trl_design *d, const trl_corpus *corpus, const double *E,
                        trl_pool *pool, trl_mest **out, trl_error *err)
{
    trl_gold_matrix f;
    const trl_status st = trl_gold_matrix_init(&f, d, corpus, err);
    return st == TRL_OK ? wrap(&f, corpus->weight, E, pool, out, err) : st;
}

trl_status trl_mest_new_listed(const trl_mest_listed *data, trl_pool *pool, trl_mest **out,
                               trl_error *err)
{
    trl_gold_matrix f;
    const trl_status st = trl_gold_matrix_of(&f, data->l, data->n, data->n_weights, err);
    return st == TRL_OK ? wrap(&f, NULL, data->E, pool, out, err) : st;
}

void trl_mest_free(trl_mest *m)
{
    if (!m)
        return;
    trl_gold_matrix_fini(&m->f);
    trl_free(m->share);
    trl_free(m->v);
    trl_free(m);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* The first line whose share of the work begins at or after piece `job` of all work, where begin[i]
 * + i is the work before line i. */
static size_t piece(const trl_sparse_side *s, size_t job)
{
    const uint64_t *begin = s->begin;
    const size_t n = s->n;
    const uint64_t all = begin[n] + n, want = all / JOBS * job + all % JOBS * job / JOBS;
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (begin[mid] + mid < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return job == JOBS ? n : lo;
}

static trl_status run_rows(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_mest *m = ctx;
    const size_t end = piece(&m->f.rows, job + 1);
    for (size_t i = piece(&m->f.rows, job); i < end; i++)
        m->v[i] = m->share[i] > 0.0 ? m->share[i] * exp(-trl_side_dot(&m->f.rows, i, m->w)) : 0.0;
    return TRL_OK;
}

static trl_status run_columns(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_mest *m = ctx;
    const size_t end = piece(&m->f.columns, job + 1);
    for (size_t j = piece(&m->f.columns, job); j < end; j++)
        m->grad[j] = m->E[j] - trl_side_dot(&m->f.columns, j, m->v) + 2.0 * m->c2 * m->w[j];
    return TRL_OK;
}

trl_status trl_mest_rows(trl_mest *m, const double *w, trl_error *err)
{
    m->w = w;
    return trl_pool_run(m->pool, JOBS, run_rows, m, err);
}

trl_status trl_mest_eval(trl_mest *m, const double *w, double c2, double *grad, double *F,
                         trl_error *err)
{
    m->grad = grad;
    m->c2 = c2;
    trl_status st = trl_mest_rows(m, w, err);
    if (st != TRL_OK)
        return st;
    double sum = 0.0, lost = 0.0; /* compensated: thousands of sequences */
    for (size_t i = 0; i < m->f.rows.n; i++) {
        const double y = m->v[i] - lost, t = sum + y;
        lost = t - sum - y;
        sum = t;
    }
    *F = sum + trl_dot(m->pool, m->f.columns.n, w, m->E);
    if (c2 > 0.0)
        *F += c2 * trl_dot(m->pool, m->f.columns.n, w, w);
    if (!isfinite(*F))
        return trl_fail(err, TRL_ENUMERIC, "the objective is not finite");
    st = trl_pool_run(m->pool, JOBS, run_columns, m, err);
    memset(grad + m->f.columns.n, 0, 64 * sizeof *grad);
    return st;
}
