/* coarse_kernel.h -- vector loops of coarse.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COARSE_KERNEL_H
#define TRL_COARSE_KERNEL_H

#include <stddef.h>

/* m[b][c] += l[b] * r[c]; rows of m and r have `stride` floats, a multiple of 16. */
void trl_outer_add(size_t n, size_t stride, const float *l, const float *r, float f, float *m);

/* ol[b] += f sum_c m[b][c] r[c];  or[c] += f sum_b m[b][c] l[b]. */
void trl_outer_back(size_t n, size_t stride, const float *m, const float *l, const float *r,
                    float f, float *ol, float *or_);

#endif
