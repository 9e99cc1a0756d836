/* orthant_kernel.h -- the sweeps of OWL-QN over long vectors (train/lbfgs.c), without branches.
 *
 * c1 of x[i] is c1 / scale[i], or c1 where scale is NULL.  Sums are taken in eight lanes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ORTHANT_KERNEL_H
#define TRL_ORTHANT_KERNEL_H

#include <stddef.h>

/* v = the subgradient of F + c1 ||x||_1 of smallest norm, g being the gradient of F: one-sided
 * derivatives where x is 0. */
void trl_orthant_gradient(size_t n, double c1, const double *scale, const double *x,
                          const double *g, double *v);

/* to[i] = 0 where it has left the orthant of x, or of -v where x is 0. */
void trl_orthant_project(size_t n, const double *x, const double *v, double *to);

/* c1 ||x||_1. */
double trl_orthant_penalty(size_t n, double c1, const double *scale, const double *x);

/* v . (to - x). */
double trl_orthant_slope(size_t n, const double *v, const double *x, const double *to);

#endif
