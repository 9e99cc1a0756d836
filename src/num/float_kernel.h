/* float_kernel.h -- mixed single and double precision vector kernels for optimisers.
 *
 * Stored vectors are float, arithmetic is double.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FLOAT_KERNEL_H
#define TRL_FLOAT_KERNEL_H

#include <stddef.h>

/* d = x, rounded, and out = y + d, unless y is NULL. */
void trl_round_add(size_t n, const double *x, const double *y, float *d, double *out);

/* y = a - b, rounded. */
void trl_difference(size_t n, const double *a, const double *b, float *y);

/* d = a d. */
void trl_scale_floats(size_t n, double a, float *d);

/* out = x + a d. */
void trl_step_floats(size_t n, const double *x, double a, const float *d, double *out);

/* x . d */
double trl_dot_floats(size_t n, const double *x, const float *d);

/* sum[0] += b.s, sum[1] += b.y, sum[2] += b.v. */
void trl_dot3(size_t n, const float *b, const float *s, const float *y, const double *v,
              double sum[3]);

/* y = x, rounded. */
void trl_narrow(size_t n, const double *x, float *y);

/* y = x, rounded, and rest = x - y, rounded. */
void trl_narrow_rest(size_t n, const double *x, float *y, float *rest);

/* y = a x. */
void trl_scale_to(size_t n, double a, const double *x, double *y);

/* d += a s + b y. */
void trl_add2(size_t n, double a, const float *s, double b, const float *y, double *d);

#endif
