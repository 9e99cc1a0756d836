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
    double *adjoint; /* the same cells of the adjoint; NULL: not wanted */
    size_t stride;
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

/* A sum of logarithms, most of them taken together: log of a product, as long as it is safe. */
typedef struct trl_log_sum {
    double sum, product;
} trl_log_sum;

static inline trl_log_sum trl_log_sum_new(void)
{
    return (trl_log_sum){0.0, 1.0};
}

double trl_log_sum_value(const trl_log_sum *s);

/* All three in one for lines of stride 1: adds - weight * probability to the adjoints and the log
 * of the normaliser to *z.  line[0] must be padded to whole vectors; with `first` its adjoint is
 * overwritten (pads with 0) instead of added to.  p: scratch of padded(n), left holding garbage. */
void trl_rows_term(size_t n, size_t k, const trl_line *line, bool nota, bool first, double weight,
                   double *p, trl_log_sum *z);

/* The same from exponentials, all rows padded: psi = exp(node scores), pads 0, as trl_exp_plain
 * leaves them, and the source's row E of exp(other scores) / factor.  The node scores' adjoint
 * goes to `node`, overwritten with `first`; outer[j] += weight * probability / E[j].  False, and
 * nothing is done, when the sum is out of range: take trl_rows_term. */
bool trl_exp_term(size_t stride, const double *psi, const double *E, double factor, bool nota,
                  bool first, double weight, double *node, double *outer, trl_log_sum *z);

/* Many sources at once: z[h] becomes keep[h] / (one + z[h]), keep 1 or 0 (pads 0); returns the sum
 * of log(one + z[h]) over those kept.  one and z[h] within exp(+-600), n a multiple of 8. */
double trl_nota_sources(size_t n, double one, const double *keep, double *z);

/* y[j] = exp(x[j]) for j < n, 0 in the pads up to padded(n), which x has room for, too. */
void trl_exp_plain(size_t n, const double *x, double *y);

/* One factor of the piecewise objective from exp(scores): with z = sum_j psi[j] C[j], returned,
 * node[j] = - weight psi[j] C[j] / z and sum[j] += weight psi[j] / z.  n a multiple of 8. */
double trl_exp_piece(size_t n, double weight, const double *psi, const double *C, double *node,
                     double *sum);

/* row[i] = sum_j X[i][j], column[j] = sum_i X[i][j]; X has n rows of `stride` (a multiple of 8). */
void trl_block_sums(size_t n, size_t stride, const double *X, double *row, double *column);

/* sum_j x[j] y[j]; x[j] *= scale * y[j].  n a multiple of 8. */
double trl_dot_rows(size_t n, const double *x, const double *y);
void trl_scale_rows(size_t n, double scale, const double *y, double *x);

#endif
