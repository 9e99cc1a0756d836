/* tree_local.h -- grammars normalised at every chart edge: MECFG and PT-CFG [SM05b, 5].
 *
 * A state A over (i, j) chooses how it goes on; what its choices are depends on the level (chart.h)
 * and on whether the span has one word or more:
 *
 *     after, more words    all binary rules of A, and its unary rules of a phrase
 *     after, one word      its unary rules of a tag
 *     before, more words   all binary rules of A
 *     a tag                its word, which is given: nothing else to choose
 *
 *     phi(A -> B C) = exp(binary[r] + item[A] + edge[FIRST][i][r] + edge[END][j][r])
 *     phi(A -> B)   = exp(unary[u] + its features over (i, j))
 *     phi(tag -> word) = exp(item[tag])
 *     p(choice | A, x, i, j) = phi(choice) / Z,      Z = sum of phi over A's choices
 *
 * For each (A, level, i, j) the choices' probabilities sum to 1; a tag's word
 * has probability 1.  The split point is no part of the
 * choice, so no feature may look at it.  Probability of a tree: the product over its nodes.
 *
 * None of the above (NOTA): once there are instances, every set of choices has one more, with
 * phi = 1.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_LOCAL_H
#define TRL_TREE_LOCAL_H

#include "tree/tree_gather.h"

/* Rules by parent: binary[binary_first[a] .. binary_first[a + 1] - 1], likewise unary.  Owned, one
 * block at binary_first. */
typedef struct trl_expansions {
    uint32_t *binary_first, *binary, *unary_first, *unary;
} trl_expansions;
trl_status trl_expansions_init(trl_expansions *x, const trl_grammar *g, trl_error *err);
void       trl_expansions_fini(trl_expansions *x);

/* Whether unary rule u can span (i, j). */
static inline bool trl_unary_fits(const trl_grammar *g, uint32_t u, size_t i, size_t j)
{
    return (g->state[g->unary[u].child].kind == TRL_STATE_TAG) == (j - i == 1);
}

/* One choice of an item over (i, j).  Adds -log p to *loss and, when
 * there is an adjoint in ga, its derivatives there.  `nota`: NOTA is among the choices.
 * TRL_ENOMEM, TRL_ENUMERIC. */
enum { TRL_CHOOSE_BINARY, TRL_CHOOSE_UNARY, TRL_CHOOSE_WORD, TRL_CHOOSE_NOTA };

typedef struct trl_choice {
    uint32_t item, rule; /* rule: of the first two */
    size_t   i, j;
    int      what;
    bool     after; /* the level */
    bool     nota;
} trl_choice;
trl_status trl_tree_choose(trl_tree_gather *ga, const trl_expansions *x, const trl_choice *c,
                            double *loss, trl_arena *arena, trl_error *err);

/* Turns gathered scores (ga->t) into logs of the probabilities of choices, without NOTA, so that the
 * score of a tree in the chart is the log of its probability.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_tree_local_tables(trl_tree_gather *ga, const trl_expansions *x, trl_arena *arena,
                            trl_error *err);

/* The skeleton of a tree's own items and of `extra` ones (state, i, j), all with both marks, in the
 * arena.  TRL_ENOMEM. */
typedef struct trl_span_state {
    uint32_t state, i, j;
} trl_span_state;
trl_status trl_gold_skeleton(const trl_btree *tree, const trl_span_state *extra, size_t n_extra,
                              trl_skeleton *s, trl_arena *arena, trl_error *err);

#endif
