/* coarse_kernel.h -- vector loops of coarse.c. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COARSE_KERNEL_H
#define TRL_COARSE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* m[b][c] += l[b] * r[c]; rows of m and r have `stride` floats, a multiple of 16. */
void trl_outer_add(size_t n, size_t stride, const float *l, const float *r, float f, float *m);

/* before[a] += sum of p[q] m[place[q]] over first[a] <= q < first[a + 1]. */
void trl_rule_sums(size_t n, const uint32_t *first, const uint32_t *place, const float *p,
                   const float *m, float *before);

/* The rows of m that are set. */
typedef struct trl_outer {
    const uint32_t *row;
    size_t n_rows, stride;
    const float *m;
    float f;
} trl_outer;

/* ol[b] += f sum_c m[b][c] r[c];  or[c] += f sum_b m[b][c] l[b]; of rows with l[b] > 0. */
void trl_outer_back(const trl_outer *x, const float *l, const float *r, float *ol, float *or_);

#endif
