/* single_kernel.h -- forward-backward of order 1 in single precision, a sequence per call.
 *
 * Rows are padded as in matrix_kernel.h (stride = trl_padded(n), pads zero), but hold floats: twice
 * as many labels per vector, half the memory.  Rows are scaled by powers of two, which rounds
 * nothing and whose binary logarithms are integers.
 *
 * Each element carries the relative rounding of its own sum, a few 2^-24; test_single_kernel holds
 * 1e-6 against the same loops in double.  None allocates or fails.  The caller ensures that nothing
 * leaves the range of a float (chain_single1.c shows how); otherwise, and for NaN, the results are
 * meaningless or NaN.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SINGLE_KERNEL_H
#define TRL_SINGLE_KERNEL_H

#include "num/simd.h"

typedef struct trl_single_lattice {
    size_t T, n, stride;
    const float *E, *Et;           /* [n][stride] */
    float *psi, *alpha, *beta, *q; /* [T][stride] */
    float *scale;                  /* [T] powers of two: the sum of scale_t alpha_t is in
                                      [1, 2) */
} trl_single_lattice;

/* psi[t][j] = exp(x[t][j] - m_t), m_t = max_j x[t][j]; rows of x are `step` >= padded(n) doubles
 * apart, their pads are read and ignored.  Returns sum_t m_t; *low = min (x[t][j] - m_t), in which
 * NaNs do not count: they make psi NaN.  Below 2 ulp where x - m_t > -86. */
double trl_single_exp_rows(size_t T, size_t n, const double *x, size_t step, float *psi,
                           double *low);

/* Both recursions, side by side from both ends, given psi:
 *
 *     alpha_0 = psi_0,    alpha_t(j) = psi_t(j) sum_i scale_{t-1} alpha_{t-1}(i) E[i][j]
 *     beta_{T-1} = 1,     beta_{t-1}(i) = 2^k sum_j q_t(j) Et[j][i],      q_t = psi_t beta_t
 *
 * where 2^k scales beta_t as scale_t scales alpha_t.  Returns log sum_j alpha_{T-1}(j) -
 * sum_{t<T-1} log scale_t. */
double trl_single_sweep(const trl_single_lattice *g);

/* After the sweep, with d_t = sum_j alpha_t(j) beta_t(j): beta_t <- alpha_t beta_t / d_t, which
 * node[t] gets, too, times `by` in double, and q_t <- scale_{t-1} q_t / d_t, q_0 without the
 * factor. */
void trl_single_combine(const trl_single_lattice *g, double by, double *node);

/* X[i][j] += weight sum_t A[t][i] B[t][j] for t < T, i < n, j < stride; the rows of A, B and X are
 * `stride` numbers apart.  Sums over 256 rows at a time are single, in `part`, [n][stride].
 * Returns sum_ij D[i][j] sum_t A[t][i] B[t][j]. */
double trl_single_outer_sum(size_t T, size_t n, size_t stride, const float *A, const float *B,
                            double weight, const float *D, float *part, double *X);

#endif
