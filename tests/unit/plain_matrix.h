/* plain_matrix.h -- the kernels of num/matrix_kernel.h, one loop each: what they are tested against
 * and compared with.
 */
/* SPDX-License-Identifier: MIT */
#ifndef PLAIN_MATRIX_H
#define PLAIN_MATRIX_H

#include <stddef.h>
#include <stdint.h>

static inline void vecmat_plain(size_t n, size_t stride, const double *x, const double *M,
                                double *y)
{
    for (size_t j = 0; j < stride; j++) {
        y[j] = 0.0;
        for (size_t i = 0; i < n; i++)
            y[j] += x[i] * M[i * stride + j];
    }
}

static inline double forward_step_plain(size_t n, size_t stride, const double *x, const double *M,
                                        double scale, const double *psi, double *y)
{
    double sum = 0.0;
    vecmat_plain(n, stride, x, M, y);
    for (size_t j = 0; j < stride; j++)
        sum += y[j] *= psi[j] * scale;
    return sum;
}

static inline double backward_step_plain(size_t n, size_t stride, const double *psi,
                                         const double *beta, const double *Mt, double scale,
                                         double *tmp, double *prev)
{
    double sum = 0.0;
    for (size_t j = 0; j < stride; j++)
        tmp[j] = psi[j] * beta[j];
    vecmat_plain(n, stride, tmp, Mt, prev);
    for (size_t j = 0; j < stride; j++)
        sum += prev[j] *= scale;
    return sum;
}

static inline void combine_plain(size_t stride, double alpha_sum, double beta_sum, double *alpha,
                                 double *beta, double *psi)
{
    double d = 0.0;
    for (size_t j = 0; j < stride; j++) {
        alpha[j] /= alpha_sum;
        beta[j] /= beta_sum;
        d += alpha[j] * beta[j];
    }
    for (size_t j = 0; j < stride; j++) {
        psi[j] *= beta[j] / (alpha_sum * d);
        beta[j] *= alpha[j] / d;
    }
}

static inline void outer_sum_plain(size_t T, size_t n, size_t stride, const double *A,
                                   size_t a_step, const double *B, size_t b_step, double *X)
{
    for (size_t t = 0; t < T; t++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < stride; j++)
                X[i * stride + j] += A[t * a_step + i] * B[t * b_step + j];
}

static inline void maxplus_plain(size_t n, size_t lanes, const double *x, const double *M,
                                 size_t step, double *y, int64_t *from)
{
    for (size_t j = 0; j < lanes; j++) {
        y[j] = x[0] + M[j];
        from[j] = 0;
        for (size_t i = 1; i < n; i++)
            if (x[i] + M[i * step + j] > y[j]) {
                y[j] = x[i] + M[i * step + j];
                from[j] = (int64_t)i;
            }
    }
}

#endif
