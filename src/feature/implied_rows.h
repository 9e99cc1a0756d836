/* implied_rows.h -- the rows of implied attributes, added once per pass instead of once per token.
 *
 * In real templates many attributes determine others: wherever pos[-1]|pos[0]=DT|NN is on, so is
 * pos[0]=NN.  The row of a frequent attribute c can then be added to the rows of the attributes p
 * that imply it, once per pass: row'(p) = row(p) + row'(c).  Tokens where p is on need not look at
 * c any more.  On the way back the gradient of p is added to that of c.  This is exact; it only
 * regroups sums.  The implications are found in the corpus; names only say which attributes have
 * the same prefix (a *slot*; attribute_prefix.h).
 *
 * A p with few labels has no row, only entries.  Where it implies enough (a word implies its
 * affixes and its shape) it gets one, an *extra* row that is not part of the weights: row'(p) is
 * then the sum of its own entries and of what it implies.
 *
 *     gather:  w --forward--> summed rows --token lists--> scores
 *     scatter: adjoints --token lists--> summed rows --backward--> gradient
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_IMPLIED_ROWS_H
#define TRL_IMPLIED_ROWS_H

#include "feature/design.h"

typedef struct trl_implied_pair {
    uint32_t parent, child; /* summed rows */
} trl_implied_pair;

typedef struct trl_implied_entry {
    uint64_t cell;   /* of a summed row: row * step + label */
    uint64_t weight; /* the entry that is added to it */
} trl_implied_entry;

typedef struct trl_implied_rows {
    size_t n_rows; /* summed rows: the hot rows of family 0, then the extra ones */
    size_t n_pairs, n_entries;
    trl_implied_pair *pair; /* a child's own pairs, as a parent, come before its pairs as a child */
    trl_implied_entry *entry;
    size_t pair_cap, entry_cap;

    /* The shortened lists of the tokens; NULL: use the design's.  Dense rows from n_rows on are
     * cold: their number in the design is less by the number of extra rows.  Entries are packed,
     * which halves the memory to read. */
    uint64_t *row_begin, *entry_begin; /* [n_tokens + 1] */
    uint32_t *row, *packed;
    uint64_t *sparse_begin; /* as in the design: instead of entry_begin and packed, unless NULL */
    uint32_t *sparse;
    unsigned bits; /* packed entry: (weight - entry_hot_at) << bits | cell */
} trl_implied_rows;

/* Finds the implications among family 0's frequent attributes; `names` are the family's in the
 * corpus.  `extra`: with extra rows.  When attributes have values, when there are no implications,
 * or when packed entries do not fit into 32 bits, there are no pairs and the lists are the design's
 * own.  TRL_ENOMEM. */
trl_status trl_implied_build(trl_implied_rows *implied, const trl_design *d,
                             const trl_strtab *names, bool extra, trl_error *err);
void trl_implied_fini(trl_implied_rows *implied);

/* Adds the summed row `child`, or the entries of the sparse attribute a, to the summed row `row`.
 * False: out of memory. */
bool trl_implied_add_row(trl_implied_rows *implied, uint32_t row, uint32_t child);
bool trl_implied_add_entries(trl_implied_rows *implied, const trl_family *f, uint32_t row,
                             size_t a);

/* hot[n_rows][step] = the summed rows of w. */
void trl_implied_forward(const trl_implied_rows *implied, const trl_design *d, const double *w,
                         double *hot);

/* The reverse, in place on a gradient of summed rows: the hot ones in g, the extra ones in
 * hot[n_rows][step]. */
void trl_implied_backward(const trl_implied_rows *implied, const trl_design *d, double *hot,
                          double *g);

/* As trl_gather, by the shortened lists and the summed rows; implied NULL: by the design's own.
 * hot32, unless NULL, is `hot` in single precision and is used instead: it needs half the cache. */
void trl_gather_implied(const trl_design *d, const trl_implied_rows *implied, const double *w,
                        const double *hot, const float *hot32, size_t from, const trl_tables *t);

/* The hot weights of the tokens from ..: g, of n_hot_weights (+ 64) doubles, += A^T adjoint, for
 * the summed rows when `implied` is not NULL.  Dead cells receive garbage: clear them with
 * trl_clear_dead.  With hot32, [n_rows][step], the summed rows are added up there and not in g;
 * this is required when there are extra rows, and attributes must then have no values.  The adjoint
 * rows of family 0 are also left in node, [n][step], unless that is NULL. */
void trl_scatter_hot(const trl_design *d, const trl_implied_rows *implied, size_t from,
                     const trl_tables *adjoint, double *g, float *hot32, float *node);

/* The singleton weights of the tokens from .., with their regulariser: g = a w - A^T adjoint.  Each
 * of them is written exactly once, and nothing else.  Returns their ||w||^2. */
double trl_scatter_singletons(const trl_design *d, const trl_implied_rows *implied, size_t from,
                              const trl_tables *adjoint, double a, const double *w, double *g);

#endif
