/* nbest.h -- the most probable trees of a chart, summed over all derivations of each.
 *
 * Derivations come best first (kbest.h); every tree of plain labels among them gets its own sum
 * (tree_sum.h), and the trees are ranked by it.  A tree that has not been found yet has at most the
 * remaining sum, Z - sum of the trees found: when that is at most the sum of the n-th, the first n
 * are certainly right.  Derivations are listed until then, or until
 *
 *     10 n + 100 of them (20,000 at most, but 2 n at least)
 *
 * have been listed: then a tree with many derivations, none of them among these, may be missing.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_NBEST_H
#define TRL_NBEST_H

#include "chart/kbest.h"
#include "chart/tree_sum.h"

typedef struct trl_plain_tree {
    trl_node *node; /* [n], labels of the grammar, preorder */
    size_t n, cap;
    double score; /* log, of all its derivations */
    uint64_t hash;
} trl_plain_tree;

/* Owns its trees; memory is reused from call to call.  Zero-initialise. */
typedef struct trl_nbest {
    trl_plain_tree *tree; /* best first; ties in the order of their best derivations */
    size_t n, cap;
    bool sure; /* no other tree is more probable than any of these */

    trl_tree_sum sum;
    uint32_t *slot; /* a hash table of tree + 1 */
    size_t n_slots;
    double *top; /* the scores of the best so far, descending */
    size_t n_top, cap_top;
} trl_nbest;
void trl_nbest_fini(trl_nbest *b);

/* How many trees, and the logarithm of the sum over all; NaN: not known. */
typedef struct trl_nbest_want {
    size_t n;
    double log_z;
} trl_nbest_want;

/* The n most probable trees of the chart, fewer when it has fewer (or the bound is met); log_z: of
 * trl_chart_inside on the same tables.  NaN for log_z: scores are not log probabilities; each tree
 * then has the score of its best derivation, and `sure` is true.  Arena and failures as of
 * trl_chart_derivations. */
trl_status trl_chart_nbest(trl_chart *c, const trl_tree_tables *t, const trl_nbest_want *want,
                           trl_nbest *out, trl_arena *arena, trl_error *err);

#endif
