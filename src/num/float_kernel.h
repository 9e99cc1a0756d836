/* float_kernel.h -- from double to single precision. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FLOAT_KERNEL_H
#define TRL_FLOAT_KERNEL_H

#include <stddef.h>

/* y = x, rounded. */
void trl_narrow(size_t n, const double *x, float *y);

/* y = x, rounded, and rest = x - y, rounded. */
void trl_narrow_rest(size_t n, const double *x, float *y, float *rest);

/* y = a x, rounded. */
void trl_scale_narrow(size_t n, double a, const double *x, float *y);

#endif
