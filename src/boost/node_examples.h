/* node_examples.h -- private to growing: the examples of a node, found along a column, listed,
 * drawn by weight, and their rows added to the sums.
 *
 * All of it is done in pieces that several threads may take.  Sums are of whole numbers and lists
 * are put together in the order of pieces, so that nothing depends on who took which.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_NODE_EXAMPLES_H
#define TRL_BOOST_NODE_EXAMPLES_H

#include "boost/trainer.h"

/* What examples of a slot have a feature: sums over them. */
typedef struct trl_found {
    int64_t total, weight; /* of w y and of w */
    uint64_t count;
} trl_found;

static inline int64_t trl_magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* The examples of a slot that have a feature; they are kept for trl_found_move. */
trl_found trl_found_along(trl_trainer *t, uint32_t slot, uint32_t feature);

/* Those that were found last get another slot. */
void trl_found_move(trl_trainer *t, uint32_t from, uint32_t to);

/* All examples of a node into t->work, ascending. */
void trl_list_examples(trl_trainer *t, const trl_grown *x);

/* About o->sample examples of a node into t->work, drawn by their weights, and into t->drawn what
 * weight each stands for.  Returns the sum of those. */
int64_t trl_draw_examples(trl_trainer *t, const trl_grown *x, uint64_t seed);

/* Adds the rows of all examples in t->work to the sums, or subtracts them: with their weights. */
void trl_add_listed(trl_trainer *t, int64_t sign);

/* The same for n drawn examples, with the weights they stand for. */
void trl_add_drawn(trl_trainer *t, const uint32_t *example, size_t n, int64_t sign);

#endif
