/* float_kernel.h -- mixed single and double precision vector kernels for optimisers.
 *
 * Stored vectors are float, arithmetic is double.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FLOAT_KERNEL_H
#define TRL_FLOAT_KERNEL_H

#include <stddef.h>

/* out = x + d. */
void trl_add_to(size_t n, const double *x, const double *d, double *out);

/* s = step d, y = g_new - g_old, rounded to float. */
void trl_make_pair(size_t n, double step, const double *d, const double *g_new,
                   const double *g_old, float *s, float *y);

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
