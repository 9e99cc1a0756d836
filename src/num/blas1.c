/* blas1.c -- long vectors. */
/* SPDX-License-Identifier: MIT */
#include "num/blas1.h"

#include "base/mem.h"
#include "num/simd.h"

TRL_CLONES double trl_dot_piece(size_t n, const double *x, const double *y)
{
    trl_v8 a = {0}, b = {0};
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        a += *(const trl_v8 *)(x + i) * *(const trl_v8 *)(y + i);
        b += *(const trl_v8 *)(x + i + 8) * *(const trl_v8 *)(y + i + 8);
    }
    a += b;
    double sum = trl_v8_sum(&a);
    for (; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

typedef struct dot_job {
    size_t n;
    const double *x, *y;
    double *part; /* [pieces] */
} dot_job;

static trl_status dot_run(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    dot_job *d = ctx;
    const size_t from = job * TRL_PIECE;
    const size_t n = d->n - from < TRL_PIECE ? d->n - from : TRL_PIECE;
    d->part[job] = trl_dot_piece(n, d->x + from, d->y + from);
    return TRL_OK;
}

double trl_dot(trl_pool *pool, size_t n, const double *x, const double *y)
{
    const size_t pieces = (n + TRL_PIECE - 1) / TRL_PIECE;
    double sum = 0.0, *part = NULL;
    if (pool && trl_pool_threads(pool) > 1 && pieces > 4)
        part = trl_alloc(pieces, sizeof *part); /* no memory: the caller does it alone */
    if (part) {
        dot_job d = {n, x, y, part};
        trl_pool_run_all(pool, pieces, dot_run, &d);
        for (size_t k = 0; k < pieces; k++)
            sum += part[k];
        trl_free(part);
        return sum;
    }
    for (size_t k = 0; k < pieces; k++) {
        const size_t from = k * TRL_PIECE;
        sum += trl_dot_piece(n - from < TRL_PIECE ? n - from : TRL_PIECE, x + from, y + from);
    }
    return sum;
}

TRL_CLONES void trl_sum_vectors(size_t n, size_t n_parts, const double *const *parts,
                                double *restrict out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        trl_v8 a = *(const trl_v8 *)(parts[0] + i);
        for (size_t k = 1; k < n_parts; k++)
            a += *(const trl_v8 *)(parts[k] + i);
        *(trl_v8 *)(out + i) = a;
    }
    for (; i < n; i++) {
        out[i] = parts[0][i];
        for (size_t k = 1; k < n_parts; k++)
            out[i] += parts[k][i];
    }
}

TRL_CLONES void trl_sum_floats(size_t n, size_t n_parts, const float *const *parts,
                               double *restrict out)
{
    typedef float v8f __attribute__((vector_size(32), aligned(4), may_alias));
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        trl_v8 a = __builtin_convertvector(*(const v8f *)(parts[0] + i), trl_v8);
        for (size_t k = 1; k < n_parts; k++)
            a += __builtin_convertvector(*(const v8f *)(parts[k] + i), trl_v8);
        *(trl_v8 *)(out + i) = a;
    }
    for (; i < n; i++) {
        out[i] = (double)parts[0][i];
        for (size_t k = 1; k < n_parts; k++)
            out[i] += (double)parts[k][i];
    }
}

TRL_CLONES void trl_negate_add(size_t n, double a, const double *restrict w, double *restrict g)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        g[i] = a * w[i] - g[i];
}

TRL_CLONES void trl_add_scaled(size_t n, double a, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}
