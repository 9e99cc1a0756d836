/* blas1.h -- operations on long vectors, with or without threads, the same bits either way.
 *
 * Long sums are taken in fixed pieces of TRL_PIECE elements, each summed in eight lanes, the pieces
 * added in order; so the result does not depend on the number of threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BLAS1_H
#define TRL_BLAS1_H

#include <stddef.h>

#include "base/pool.h"

#define TRL_PIECE ((size_t)1 << 14)

/* sum_i x[i] y[i].  pool NULL: in the caller. */
double trl_dot(trl_pool *pool, size_t n, const double *x, const double *y);

/* out[i] = sum_k parts[k][i], k ascending. */
void trl_sum_vectors(size_t n, size_t n_parts, const double *const *parts, double *out);

/* The same for floats. */
void trl_sum_floats(size_t n, size_t n_parts, const float *const *parts, double *out);

/* g[i] = a w[i] - g[i]. */
void trl_negate_add(size_t n, double a, const double *w, double *g);

/* One piece of a dot product: the kernel of trl_dot. */
double trl_dot_piece(size_t n, const double *x, const double *y);

/* y += a x, of short rows. */
void trl_add_scaled(size_t n, double a, const double *x, double *y);

#endif
