/* local_kernel.h -- softmax over sums of score lines: the hot loops of the local objectives.
 *
 * A line is a run of cells of one score table at equal distances: a row (stride 1) when the last
 * label is free, a column when an earlier one is.  None of these allocates or fails.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LOCAL_KERNEL_H
#define TRL_LOCAL_KERNEL_H

#include <stdbool.h>

#include "num/simd.h"

typedef struct trl_line {
    const double *score;
    double       *adjoint; /* the same cells of the adjoint; NULL: not wanted */
    size_t        stride;
} trl_line;

/* x[j] = start + sum over the k lines of score[j * stride] for j < n, -inf in the pads up to
 * padded(n). */
void trl_lines_sum(size_t n, size_t k, const trl_line *line, double start, double *x);

/* Scores to probabilities, in place, n a multiple of 8: x[j] = exp(x[j] - z) with
 * z = log sum_j exp x[j], which is returned; `nota` counts one more outcome, of score 0, in z.
 * When all is forbidden, z is -inf and every x 0; NaN or +inf among the scores make z NaN. */
double trl_softmax(size_t n, double *x, bool nota);

/* adjoint[j * stride] += scale * p[j] for j < n, in every line that has an adjoint. */
void trl_lines_add(size_t n, size_t k, const trl_line *line, double scale, const double *p);

/* All three in one for lines of stride 1: adds - weight * probability to the adjoints and returns
 * log of the normaliser.  line[0] must be padded to whole vectors; with `first` its adjoint is
 * overwritten (pads with 0) instead of added to.  p: scratch of padded(n), left holding garbage. */
double trl_rows_term(size_t n, size_t k, const trl_line *line, bool nota, bool first,
                     double weight, double *p);

/* One factor of the piecewise objective from exp(scores): with z = sum_j psi[j] C[j], returned,
 * node[j] = - weight psi[j] C[j] / z and sum[j] += weight psi[j] / z.  n a multiple of 8. */
double trl_piece(size_t n, double weight, const double *psi, const double *C, double *node,
                 double *sum);

/* row[i] = sum_j X[i][j], column[j] = sum_i X[i][j]; X has n rows of `stride` (a multiple of 8). */
void trl_block_sums(size_t n, size_t stride, const double *X, double *row, double *column);

/* sum_j x[j] y[j]; x[j] *= scale * y[j].  n a multiple of 8. */
double trl_dot_rows(size_t n, const double *x, const double *y);
void   trl_scale_rows(size_t n, double scale, const double *y, double *x);

#endif
