/* pair_sets.h -- features of label pairs that depend on the text, stored once per distinct set.
 *
 * A table of L^2 scores for every position costs L^2 additions and exponentials there, though most
 * positions have no such feature or the same ones as many others: a line `cap=%t[0,0,"^\u"]` has
 * two values in the whole corpus.  So positions are grouped by the *set* of pair attributes that
 * are on there (with their values), and every distinct set is gathered once per pass:
 *
 *     score of cell c at a position of set k = shared[c] + score[i],  i the place of c among
 *                                              k's cells; shared[c] alone where k lacks c
 *
 * The cells of a set are those where any of its attributes has a feature.  Set 0 is the empty one.
 * The first n_tables sets are worth a whole table (frequent, or of many cells); adjoints of the
 * others are scattered position by position, cell by cell.
 *
 * Order 1 only.  Read-only between two calls of trl_pair_sets_gather.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PAIR_SETS_H
#define TRL_PAIR_SETS_H

#include "base/pool.h"
#include "feature/design.h"

#define TRL_PAIR_TABLES 64 /* at most, the empty set's included */

typedef struct trl_pair_cell {
    uint16_t from, to; /* labels */
} trl_pair_cell;

typedef struct trl_pair_sets {
    size_t L, n, n_tables;
    uint32_t *of;        /* [n_tokens] */
    size_t *token;       /* [n] one that has the set */
    uint64_t *begin;     /* [n + 1] first cell */
    trl_pair_cell *cell; /* ascending within a set */
    double *score;       /* like cell */
    double *factor;      /* exp(score) */
    double wide; /* the largest |score| that trl_chain_prepare has not seen; 0 where it has all */
} trl_pair_sets;

/* The sets of the design's pairs, at most `tables` of them with tables (1: none but the empty
 * one).  *worth is false, and *s empty, when the sets would have many more cells than there are
 * weights: rows are then the better form.  TRL_ENOMEM. */
trl_status trl_pair_sets_build(trl_pair_sets *s, const trl_design *d, size_t tables, bool *worth,
                               trl_error *err);
void trl_pair_sets_fini(trl_pair_sets *s);

/* Scores and factors under w. */
trl_status trl_pair_sets_gather(trl_pair_sets *s, const trl_design *d, const double *w,
                                trl_pool *pool, trl_error *err);

static inline size_t trl_pair_set_size(const trl_pair_sets *s, size_t set)
{
    return (size_t)(s->begin[set + 1] - s->begin[set]);
}

/* How many of an adjoint's set_cell belong to position t. */
static inline size_t trl_pair_cells_at(const trl_tables *t, size_t position)
{
    const size_t set = t->chain.set[position];
    return set < t->chain.pairs->n_tables ? 0 : trl_pair_set_size(t->chain.pairs, set);
}

/* The place of a pair among the cells of a set, counted from its first; SIZE_MAX: it has no such
 * cell. */
size_t trl_pair_set_find(const trl_pair_sets *s, size_t set, uint32_t from, uint32_t to);

/* row[from * L + to], L^2 doubles: the scores of a set, 0 where it has none. */
void trl_pair_set_row(const trl_pair_sets *s, size_t set, double *row);

/* g += A^T adjoint for the set_cell of an example, ... */
void trl_pair_sets_scatter(const trl_design *d, const trl_tables *adjoint, double *g);

/* ... and for a set_table. */
void trl_pair_sets_scatter_tables(const trl_design *d, const trl_tables *adjoint, double *g);

#endif
