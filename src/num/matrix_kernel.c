/* matrix_kernel.c -- vector-matrix and outer products, blocked for registers. */
/* SPDX-License-Identifier: MIT */
#include "num/matrix_kernel.h"

/* Columns [0, 8 NV) of y = x M.  Two sets of accumulators hide the latency of the adds. */
TRL_INLINE void vecmat_block(const size_t NV, size_t n, size_t stride, const double *x,
                             const double *M, double *y)
{
    trl_v8 a[4], b[4];
    for (size_t k = 0; k < NV; k++)
        a[k] = b[k] = (trl_v8){0};
    size_t i = 0;
    for (; i + 2 <= n; i += 2, M += 2 * stride) {
        const double x0 = x[i], x1 = x[i + 1];
        for (size_t k = 0; k < NV; k++) {
            a[k] += x0 * *(const trl_v8 *)(M + 8 * k);
            b[k] += x1 * *(const trl_v8 *)(M + stride + 8 * k);
        }
    }
    if (i < n)
        for (size_t k = 0; k < NV; k++)
            a[k] += x[i] * *(const trl_v8 *)(M + 8 * k);
    for (size_t k = 0; k < NV; k++)
        *(trl_v8 *)(y + 8 * k) = a[k] + b[k];
}

TRL_INLINE void vecmat_any(size_t n, size_t stride, const double *x, const double *M, double *y)
{
    size_t j = 0;
    for (; j + 32 <= stride; j += 32)
        vecmat_block(4, n, stride, x, M + j, y + j);
    switch ((stride - j) / 8) {
    case 3:
        vecmat_block(3, n, stride, x, M + j, y + j);
        break;
    case 2:
        vecmat_block(2, n, stride, x, M + j, y + j);
        break;
    case 1:
        vecmat_block(1, n, stride, x, M + j, y + j);
        break;
    default:
        break;
    }
}

TRL_CLONES void trl_vecmat(size_t n, size_t stride, const double *x, const double *M, double *y)
{
    vecmat_any(n, stride, x, M, y);
}

/* Factors and sums are kept off the chain from step to step: they are ready before the product
 * that needs them is. */
TRL_CLONES double trl_forward_step(size_t n, size_t stride, const double *x, const double *M,
                                   double scale, const double *psi, double *y)
{
    vecmat_any(n, stride, x, M, y);
    trl_v8 sum = {0};
    for (size_t j = 0; j < stride; j += 8) {
        const trl_v8 v = *(const trl_v8 *)(y + j) * (*(const trl_v8 *)(psi + j) * scale);
        *(trl_v8 *)(y + j) = v;
        sum += v;
    }
    return trl_v8_sum(&sum);
}

TRL_CLONES double trl_backward_step(size_t n, size_t stride, const double *psi, const double *beta,
                                    const double *Mt, double scale, double *tmp, double *prev)
{
    trl_v8 sum = {0};
    for (size_t j = 0; j < stride; j += 8)
        *(trl_v8 *)(tmp + j) = *(const trl_v8 *)(psi + j) * *(const trl_v8 *)(beta + j);
    vecmat_any(n, stride, tmp, Mt, prev);
    for (size_t j = 0; j < stride; j += 8) {
        const trl_v8 v = *(const trl_v8 *)(prev + j) * scale;
        *(trl_v8 *)(prev + j) = v;
        sum += v;
    }
    return trl_v8_sum(&sum);
}

TRL_CLONES void trl_combine(size_t stride, double alpha_sum, double beta_sum, double *alpha,
                            double *beta, double *psi)
{
    const double a = 1.0 / alpha_sum, b = 1.0 / beta_sum;
    trl_v8 dot = {0};
    for (size_t j = 0; j < stride; j += 8) {
        const trl_v8 x = *(const trl_v8 *)(alpha + j) * a, y = *(const trl_v8 *)(beta + j) * b;
        *(trl_v8 *)(alpha + j) = x;
        *(trl_v8 *)(psi + j) *= y;
        *(trl_v8 *)(beta + j) = x * y;
        dot += x * y;
    }
    const double d = 1.0 / trl_v8_sum(&dot), v = a * d;
    for (size_t j = 0; j < stride; j += 8) {
        *(trl_v8 *)(beta + j) *= d;
        *(trl_v8 *)(psi + j) *= v;
    }
}

TRL_CLONES void trl_multiply(size_t n, const double *x, double *y)
{
    for (size_t i = 0; i < n; i += 8)
        *(trl_v8 *)(y + i) *= *(const trl_v8 *)(x + i);
}

/* Rows i .. i+R-1, columns [0, 8 NV) of X += A^T B. */
TRL_INLINE void outer_block(const size_t R, const size_t NV, size_t T, const double *A,
                            size_t a_step, const double *B, size_t b_step, double *X, size_t stride)
{
    trl_v8 acc[4][4];
    for (size_t r = 0; r < R; r++)
        for (size_t k = 0; k < NV; k++)
            acc[r][k] = *(const trl_v8 *)(X + r * stride + 8 * k);
    for (size_t t = 0; t < T; t++, A += a_step, B += b_step)
        for (size_t r = 0; r < R; r++)
            for (size_t k = 0; k < NV; k++)
                acc[r][k] += A[r] * *(const trl_v8 *)(B + 8 * k);
    for (size_t r = 0; r < R; r++)
        for (size_t k = 0; k < NV; k++)
            *(trl_v8 *)(X + r * stride + 8 * k) = acc[r][k];
}

TRL_INLINE void outer_columns(const size_t NV, size_t T, size_t n, const double *A, size_t a_step,
                              const double *B, size_t b_step, double *X, size_t stride)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        outer_block(4, NV, T, A + i, a_step, B, b_step, X + i * stride, stride);
    for (; i < n; i++)
        outer_block(1, NV, T, A + i, a_step, B, b_step, X + i * stride, stride);
}

TRL_CLONES void trl_outer_sum(size_t T, size_t n, size_t stride, const double *A, size_t a_step,
                              const double *B, size_t b_step, double *X)
{
    size_t j = 0;
    for (; j + 24 <= stride; j += 24)
        outer_columns(3, T, n, A, a_step, B + j, b_step, X + j, stride);
    if (stride - j == 16)
        outer_columns(2, T, n, A, a_step, B + j, b_step, X + j, stride);
    else if (stride - j == 8)
        outer_columns(1, T, n, A, a_step, B + j, b_step, X + j, stride);
}

TRL_CLONES void trl_maxplus(size_t n, size_t lanes, const double *x, const double *M, size_t step,
                            double *y, int64_t *from)
{
    for (size_t j = 0; j < lanes; j += 8) {
        trl_v8 best = x[0] + *(const trl_v8 *)(M + j);
        trl_v8i arg = {0};
        for (size_t i = 1; i < n; i++) {
            const trl_v8 v = x[i] + *(const trl_v8 *)(M + i * step + j);
            const trl_v8i better = v > best, here = (trl_v8i){0} + (int64_t)i;
            best = (trl_v8)((better & (trl_v8i)v) | (~better & (trl_v8i)best));
            arg = (better & here) | (~better & arg);
        }
        *(trl_v8 *)(y + j) = best;
        *(trl_v8i *)(from + j) = arg;
    }
}
