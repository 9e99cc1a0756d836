/* group.h -- tokens in another order: those that have most attributes in common side by side.
 *
 * A locally normalised model looks at every token by itself, so that a pass may take them in any
 * order.  All attributes made of one word (itself, its affixes, its shape) are on together wherever
 * it stands: tokens with the same word form *groups*, what their attributes have in common is
 * summed up once per group, and a token adds only what is its own (the words around it).  On the
 * way back the group's tokens are summed first.  This is exact; it only regroups sums.
 *
 *     score(token) = shared(group) + own(token)          adjoint(group) = sum over its tokens
 *
 * Which attributes are the common ones is found out from the corpus (group_find.c); names only say
 * what is of one kind.  Positions number tokens in the new order; groups are runs of positions, and
 * tokens that share nothing come last, in no group.  Everything works in single precision.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GROUP_H
#define TRL_GROUP_H

#include "feature/fold.h"

#define TRL_GROUP_BATCH 64 /* tokens worked on at a time; no group has more */

typedef struct trl_group_batch {
    uint32_t position, group; /* the first ones */
    uint32_t cold[2], row[2]; /* the first places in the streams, of its tokens and of its groups */
} trl_group_batch;

typedef struct trl_group {
    size_t    n, n_groups; /* tokens; groups */
    uint32_t *token;       /* [n] the token at each position */
    uint32_t *first;       /* [n_groups + 1] first position of each group; the end of grouped ones */

    size_t           n_batches;
    trl_group_batch *batch; /* [n_batches + 1] */

    /* What is on at position i, and, as number n + k, what all tokens of group k share: dense rows, and
     * entries, (weight - entry_hot_at) << bits | cell.  Rows below n_hot are the design's hot ones, then
     * come n_extra that stand for several (fold.h), then the design's cold ones, n_extra further. */
    size_t    n_extra;
    uint64_t *row_begin, *entry_begin; /* [n + n_groups + 1] */
    uint32_t *row, *packed;
    unsigned  bits;

    /* Entries that are not hot: a pass leaves the adjoint of each occurrence in a *stream*, in the order
     * of the lists, and every weight picks up its own from there.  Lone ones have one. */
    size_t    n_cold;
    uint64_t *cold_begin; /* [entries that are not hot + 1] */
    uint32_t *cold_at;    /* [n_cold] places in the stream */

    /* The same for cold dense rows, lone ones excepted, in whole rows: the design with their tokens
     * replaced by places in that stream, for trl_scatter_cold. */
    size_t     n_rows;
    trl_design rows;
    uint64_t  *rows_begin;
    uint32_t  *rows_at;
} trl_group;

/* `names`: of family 0.  *useful says whether there is enough in common to be worth the trouble; if
 * not (or with real values, or entries that do not fit into 32 bits) the rest is of no use.  *fold gets
 * the extra rows (and no lists).  The design is borrowed.  TRL_ENOMEM. */
trl_status trl_group_build(trl_group *p, trl_fold *fold, const trl_design *d, const trl_strtab *names,
                           bool *useful, trl_error *err);
void       trl_group_fini(trl_group *p);

/* The design's number of row r of the lists when it is cold; some hot one's when it is not. */
static inline uint32_t trl_group_cold_row(const trl_group *p, const trl_family *f, uint64_t r)
{
    return p->row[r] >= f->n_hot + p->n_extra ? p->row[r] - (uint32_t)p->n_extra : 0;
}

/* The scores of a batch's tokens, score[i][step], pads garbage.  hot32: the folded rows of w, rounded,
 * [n_hot + n_extra][step].  shared: scratch, [TRL_GROUP_BATCH / 2][step]. */
void trl_group_gather(const trl_group *p, const trl_design *d, const double *w, const float *hot32,
                      size_t batch, float *shared, float *score);

/* Where a pass leaves its gradient. */
typedef struct trl_group_sums {
    double *hot;   /* += A^T adjoint for hot entries */
    float  *hot32; /* the same for folded rows, [n_hot + n_extra][step] */
    float  *cold;  /* [n_cold] the stream of entries */
    float  *rows;  /* [n_rows][step] the stream of rows */
    double *g;     /* lone rows: = a w - A^T adjoint */
    double  a;
} trl_group_sums;

/* The gradient of a batch from its tokens' adjoints, [i][step], pads 0.  shared: scratch as above.
 * Returns ||w||^2 of its lone rows, each of which is written once in a pass. */
double trl_group_scatter(const trl_group *p, const trl_design *d, const double *w, size_t batch,
                         const float *adjoint, float *shared, const trl_group_sums *s);

/* g[i] = the sum of what the stream has for entry i, from <= i < to, of those that are not hot. */
void trl_group_cold(const trl_group *p, const float *cold, size_t from, size_t to, double *g);

#endif
