/* mest_kernel.h -- sums over indexed elements: the inner loops of M-estimation. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MEST_KERNEL_H
#define TRL_MEST_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* sum_k x[index[k]], and sum_k value[k] x[index[k]]. */
double trl_indexed_sum(size_t n, const uint32_t *index, const double *x);
double trl_indexed_dot(size_t n, const uint32_t *index, const double *value, const double *x);

/* x[index[k]] += a (times value[k]); indices are distinct. */
void trl_indexed_add(size_t n, const uint32_t *index, double a, double *x);
void trl_indexed_axpy(size_t n, const uint32_t *index, const double *value, double a, double *x);

#endif
