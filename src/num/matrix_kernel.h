/* matrix_kernel.h -- the three small dense products of forward-backward.
 *
 * Matrices are row-major with padded rows (stride = trl_padded(columns), pads zero), so
 * every kernel works on whole vectors.  None allocates or fails.  Plain twins with the
 * same contract, one loop each, are in tests/unit/plain_matrix.h.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MATRIX_KERNEL_H
#define TRL_MATRIX_KERNEL_H

#include "num/simd.h"

/* y[j] = sum_i x[i] M[i][j], i < n, j < stride. */
void trl_vecmat(size_t n, size_t stride, const double *x, const double *M, double *y);

/* One forward step: y[j] = psi[j] scale sum_i x[i] M[i][j]; returns sum_j y[j]. */
double trl_forward_step(size_t n, size_t stride, const double *x, const double *M, double scale,
                        const double *psi, double *y);

/* One backward step: prev[i] = scale sum_j psi[j] beta[j] Mt[j][i], j < n; returns sum_i prev[i].
 * `tmp` has room for `stride` doubles. */
double trl_backward_step(size_t n, size_t stride, const double *psi, const double *beta,
                         const double *Mt, double scale, double *tmp, double *prev);

/* What one position of a lattice ends in.  alpha and beta come unscaled, with their sums; with
 * a = alpha / alpha_sum, b = beta / beta_sum and d = a.b:  alpha <- a,  beta <- a b / d (the
 * marginals),  psi <- psi b / (alpha_sum d). */
void trl_combine(size_t stride, double alpha_sum, double beta_sum, double *alpha, double *beta,
                 double *psi);

/* y[i] *= x[i], i < n (a multiple of 8). */
void trl_multiply(size_t n, const double *x, double *y);

/* X[i][j] += sum_t A[t][i] B[t][j] for i < n, j < stride; rows of A and B are `a_step` and
 * `b_step` doubles apart. */
void trl_outer_sum(size_t T, size_t n, size_t stride, const double *A, size_t a_step,
                   const double *B, size_t b_step, double *X);

/* y[j] = max_i (x[i] + M[i][j]), from[j] the smallest such i, for j < lanes (a multiple of 8); rows
 * of M are `step` >= the number of valid columns apart and readable for `lanes` doubles. */
void trl_maxplus(size_t n, size_t lanes, const double *x, const double *M, size_t step, double *y,
                 int64_t *from);

#endif
