/* corner_filter.h -- drops items that the states at their corners rule out, before any chart is
 * run.
 *
 * An item A over (i, j) that a binary rule made has a left child that begins at i and is shorter,
 * and a right child that ends at j and is shorter; as a child it has a parent that begins at i or
 * ends at j and is longer.  Each of these is one intersection of two sets of states: those that
 * rules of the grammar allow, and those that the skeleton has at that corner.  Weaker than
 * trl_filter, which looks at splits, but linear in the items.  It drops only what is part of no
 * complete tree: no sum changes.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CORNER_FILTER_H
#define TRL_CORNER_FILTER_H

#include "chart/chart.h"

/* Sets of states as bits, [n_states][words] each, in one block at `bits`. */
typedef struct trl_corners {
    size_t n_states, words;
    uint64_t *bits;                       /* owned; NULL: none are kept, nothing is dropped */
    uint64_t *left_child, *right_child;   /* of binary rules, by the parent */
    uint64_t *left_parent;                /* of binary rules, by the left child */
    uint64_t *right_parent;               /* ... by the right child */
    uint64_t *unary_child, *unary_parent; /* of unary rules, by the other */
} trl_corners;

/* Grammars with more than TRL_CORNER_STATES states have no sets.  TRL_ENOMEM. */
#define TRL_CORNER_STATES 4096
trl_status trl_corners_init(trl_corners *c, const trl_grammar *g, trl_error *err);
void trl_corners_fini(trl_corners *c);

/* In place; constraints of the skeleton (must) are not looked at.  Scratch in the arena.
 * TRL_ENOMEM. */
trl_status trl_corner_filter(const trl_corners *c, const trl_grammar *g, trl_skeleton *s,
                             trl_arena *arena, trl_error *err);

#endif
