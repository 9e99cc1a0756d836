/* residual_kernel.h -- the distance between stored single-precision adjoints and new ones. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RESIDUAL_KERNEL_H
#define TRL_RESIDUAL_KERNEL_H

#include <stddef.h>

/* delta = a - kept; returns ||delta||^2 and adds up |a| in *mass.  n is a multiple of 8. */
double trl_residual(size_t n, const double *a, const float *kept, float *delta, double *mass);

/* y += by * x. */
void trl_blend(size_t n, float by, const float *x, float *y);

/* Along the way from scores s0 to s1, adjoints going from a0 to a1:
 * sum[0] += delta . (s1 - s0), sum[1] += (a1 - a0) . (s1 - s0).  n is a multiple of 8. */
void trl_curvature(size_t n, const double *s0, const double *s1, const double *a0, const double *a1,
                   const float *delta, double sum[2]);

/* The same where the scores moved by `by` delta: s1 - s0 = by delta. */
void trl_curvature_along(size_t n, double by, const double *a0, const double *a1,
                         const float *delta, double sum[2]);

/* The sum of - p log p over p = max(0, -a[i]), whose sum is added to *sum.  n is a multiple of 8.
 */
double trl_dual_entropy(size_t n, const float *a, double *sum);

#endif
