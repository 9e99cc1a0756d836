/* bp_kernel.h -- rows of messages: products, both matrix-vector products, and norms.
 *
 * Rows have a width of 1, 2, 4 or a multiple of 8, padded with zeros (trl_row_width); rows of
 * matrices are trl_matrix_stride apart, and whole vectors are read: the last row of a matrix may be
 * read to its width, so that up to TRL_MATRIX_SLACK numbers follow it that nobody minds.  Nothing
 * here allocates or fails.  Plain twins are in tests/unit/plain_graph.h.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BP_KERNEL_H
#define TRL_BP_KERNEL_H

#include <stdbool.h>

#include "graph/layout.h"
#include "num/simd.h"

#define TRL_MATRIX_SLACK 8

/* y[j] = sum_i x[i] M[i][j], or max_i; i < n, j < columns; y is padded. */
void trl_bp_pair(bool maximise, size_t n, size_t columns, const double *x, const double *M,
                 double *y);

/* Divides y by its sum, or maximum, which is returned; then *change = max_j |y[j] - old[j]| / (y[j]
 * + old[j]). A sum that is not above `small` leaves y as it is. */
double trl_bp_norm(bool maximise, size_t width, double small, double *y, const double *old,
                   double *change);

/* The rows of one variable's links: row k is at base + at[link[k]]. */
typedef struct trl_bp_rows {
    size_t width, n;
    const double *node;
    const uint32_t *link, *partner; /* [n] as in trl_layout */
    const size_t *at;
    const double *base;
} trl_bp_rows;

/* out = node times all rows but that of link `skip` (UINT32_MAX: none). */
void trl_bp_product(const trl_bp_rows *r, uint32_t skip, double *out);

/* For every link: the row at out + at[link] = node times the rows of all others. */
void trl_bp_products(const trl_bp_rows *r, double *out);

/* The same for variables 0 .. n - 1. */
void trl_bp_products_all(const trl_layout *l, size_t n, const double *node, const double *base,
                         double *out);

/* out[i] = sum_j T[i][j] x[j], or max_j: i < rows, j < n. */
void trl_bp_fold_last(bool maximise, size_t rows, size_t n, const double *T, const double *x,
                      double *out);
/* out[j] = sum_i x[i] T[i][j], or max_i: i < n, j < rest. */
void trl_bp_fold_first(bool maximise, size_t n, size_t rest, const double *x, const double *T,
                       double *out);

/* A row x through M (n rows) to a fresh message: trl_bp_pair and trl_bp_norm. */
double trl_bp_pass(bool maximise, size_t n, size_t columns, const double *x, const double *M,
                   double small, const double *old, double *fresh, double *change);

#define TRL_BP_FRESH 1024 /* longest row of trl_bp_flood_pairs */

/* All messages of the factors from .. to - 1, each of two variables: both rows n of a factor
 * through its matrices, in place of its messages.  Fields are those of trl_bp, bp.h. */
typedef struct trl_bp_sweep {
    bool maximise;
    double small;
    size_t from, to;
    const size_t *scope_at, *at; /* at: message_at */
    const uint32_t *scope, *labels;
    const double *const *matrix;
    double *n, *m;
    double *ready; /* trl_bp_refresh: rows like m */
} trl_bp_sweep;

/* *change becomes the largest change when that is larger.  False: a norm was not above `small`;
 * messages are then undefined. */
bool trl_bp_flood_pairs(const trl_bp_sweep *s, double *change);

/* What the variable of `r` sends along all its links (to s->n), and, for each link k but `skip`
 * whose factor has two variables, the message that makes at the other one, to s->ready, with its
 * change[k]; -1 for the other links.  False as above. */
bool trl_bp_refresh(const trl_bp_sweep *s, const trl_bp_rows *r, uint32_t skip, double *change);

/* All three steps for a pair: what the variable of `r` sends past link `skip`, through M (n rows),
 * to a fresh message of `columns`; returns its norm, as trl_bp_norm. */
double trl_bp_through(bool maximise, const trl_bp_rows *r, uint32_t skip, size_t n, size_t columns,
                      const double *M, double small, const double *old, double *scratch,
                      double *fresh, double *change);

/* A pair: its table M, n rows of k, between rows x (n) and y (k, padded). */
typedef struct trl_bp_pair_rows {
    size_t n, k;
    const double *x, *M, *y;
} trl_bp_pair_rows;

/* The belief of a pair: out[i][j] = x[i] M[i][j] y[j] / Z, Z their sum, which is returned; i < n,
 * j < k, rows of out are k long.  `scratch` has a row of k, padded.  A Z
 * that is not above `small` leaves out as it is. */
double trl_bp_pair_belief(const trl_bp_pair_rows *pair, double small, double *scratch, double *out);

/* out = out * above / below, 0 where below is 0. */
void trl_bp_ratio(size_t n, const double *above, const double *below, double *out);

/* The largest of x (-inf: none); *min is the smallest above -inf, +inf if there is none. */
double trl_bp_extremes(size_t n, const double *x, double *min);

#endif
