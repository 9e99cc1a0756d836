/* partial_kernel.h -- private: the steps of partial_lattice.h, on exponentials and in logarithms.
 *
 * None of these allocates or fails.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARTIAL_KERNEL_H
#define TRL_PARTIAL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "chain/local_term.h"

typedef struct trl_partial_step {
    size_t A, B, C;
    double *f; /* [A][B][C] scores, with room for 8 more; changed in place */
} trl_partial_step;

/* Smallest and largest; a NaN makes them NaN. */
void trl_partial_range(size_t n, const double *x, double *min, double *max);

/* log sum exp; -inf when all are. */
double trl_partial_log_sum(size_t n, const double *x);

/* f becomes exp(f - shift), alpha [B][C] sums to 1; returns the log of what it was divided by.
 * `before` is [A][B]. */
double trl_partial_forward(const trl_partial_step *s, double shift, const double *before,
                           double *alpha);

/* f becomes P(a, b, c); out [A][B], where it is not NULL, beta_{t-1} with a largest element of 1.
 */
void trl_partial_backward(const trl_partial_step *s, const double *before, const double *beta,
                          double *out);

/* The same in logarithms; before NULL: all 0.  f stays as it is until backward makes it P. */
void trl_partial_forward_log(const trl_partial_step *s, const double *before, double *alpha);
void trl_partial_backward_log(const trl_partial_step *s, const double *before, const double *beta,
                              double log_z, double *out);

/* Adds scale * mu[c] to cell label[c] of every line of the term that has an adjoint. */
void trl_cells_add(const trl_term *m, size_t n, const uint32_t *label, double scale,
                   const double *mu);

#endif
