/* tree_local.h -- grammars normalised at every chart edge: MECFG and PT-CFG [SM05b, 5].
 *
 * A state A over (i, j) chooses one of its rules, binary or unary.  All of them are in the sum,
 * including those that cannot be used there (a binary rule over one word, a unary rule below a
 * unary rule).  This agrees with a PCFG, whose probabilities these are when rules are the only
 * features, and a state that fits a span badly does not profit from having few rules left.
 *
 *     phi(A -> B C) = exp(binary[r] + item[A] + edge[FIRST][i][r] + edge[END][j][r])
 *     phi(A -> B)   = exp(unary[u] + its features over (i, j))
 *     p(rule | A, x, i, j) = phi(rule) / Z(A, i, j),      Z = sum of phi over A's rules
 *
 * The split point is not part of the choice, so no feature may depend on it.  A tag chooses
 * nothing: its word comes from the lexicon, p(word | tag), as in the PCFG, and families of tags
 * have no effect.
 *
 *     score of a tree = sum over rules of log p(rule | A, x, i, j)
 *                     + sum over words of log p(word | tag)
 *
 * The exponential is not a probability, because not every sequence of choices is a tree of the
 * sentence; as in other models, it is divided by its sum over the trees of the sentence.
 *
 * None of the above (NOTA): once there are instances, every set of choices has one more, with
 * phi = 1; decoding is without it.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_LOCAL_H
#define TRL_TREE_LOCAL_H

#include "parser/tree_gather.h"

/* Rules by parent: binary[binary_first[a] .. binary_first[a + 1] - 1], likewise unary.  Owned, one
 * block at binary_first. */
typedef struct trl_expansions {
    uint32_t *binary_first, *binary, *unary_first, *unary;
} trl_expansions;
trl_status trl_expansions_init(trl_expansions *x, const trl_grammar *g, trl_error *err);
void trl_expansions_fini(trl_expansions *x);

/* The skeleton of a tree's own items and of `extra` ones (state, i, j), all with both marks, in the
 * arena.  TRL_ENOMEM. */
typedef struct trl_span_state {
    uint32_t state, i, j;
} trl_span_state;
trl_status trl_gold_skeleton(const trl_btree *tree, const trl_span_state *extra, size_t n_extra,
                             trl_skeleton *s, trl_arena *arena, trl_error *err);

#endif
