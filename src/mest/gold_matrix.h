/* gold_matrix.h -- the features of all gold labellings as one sparse matrix, by rows and by
 * columns.
 *
 *     F[i][j] = f_j(x_i, y_i), how often feature j is on in sequence i with its gold labels
 *
 * All that M-estimation needs of the data.  Nearly all elements are 1, and those are not stored.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GOLD_MATRIX_H
#define TRL_GOLD_MATRIX_H

#include "mest/mest_kernel.h"
#include "feature/design.h"

/* Line k is index[begin[k] .. begin[k + 1]): first, up to ones[k], the places of ones; after them
 * the rest, with values from value[other[k]] on.  Both parts ascend. */
typedef struct trl_sparse_side {
    size_t n;
    uint64_t *begin; /* [n + 1] */
    uint64_t *ones;  /* [n] */
    uint64_t *other; /* [n] */
    uint32_t *index;
    double *value;
} trl_sparse_side;

typedef struct trl_gold_matrix {
    trl_sparse_side rows, columns; /* sequences; weights of the design */
} trl_gold_matrix;

/* Elements by row, one entry each time a feature is on; entries at the same place are added up. */
typedef struct trl_gold_listing {
    uint64_t *begin; /* [rows + 1] */
    uint32_t *weight;
    double *value; /* NULL: all 1 */
} trl_gold_listing;

/* From a listing, which may be freed afterwards.  TRL_EINVAL, TRL_ENOMEM. */
trl_status trl_gold_matrix_of(trl_gold_matrix *m, const trl_gold_listing *l, size_t rows,
                              size_t columns, trl_error *err);

/* Peak memory: 28 bytes per feature and token; a third of that stays.  TRL_EINVAL for 2^32
 * features, TRL_ENOMEM. */
trl_status trl_gold_matrix_init(trl_gold_matrix *m, const trl_design *d, const trl_corpus *corpus,
                                trl_error *err);
void trl_gold_matrix_fini(trl_gold_matrix *m);

/* The dot product of line k with x; x += a times line k. */
static inline double trl_side_dot(const trl_sparse_side *s, size_t k, const double *x)
{
    const uint32_t *ones = s->index + s->begin[k], *rest = s->index + s->ones[k];
    return trl_indexed_sum((size_t)(s->ones[k] - s->begin[k]), ones, x) +
           trl_indexed_dot((size_t)(s->begin[k + 1] - s->ones[k]), rest, s->value + s->other[k], x);
}

static inline void trl_side_axpy(const trl_sparse_side *s, size_t k, double a, double *x)
{
    const uint32_t *ones = s->index + s->begin[k], *rest = s->index + s->ones[k];
    trl_indexed_add((size_t)(s->ones[k] - s->begin[k]), ones, a, x);
    trl_indexed_axpy((size_t)(s->begin[k + 1] - s->ones[k]), rest, s->value + s->other[k], a, x);
}

#endif
