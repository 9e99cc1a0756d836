/* transform.h -- trees cleaned: without empty elements, function tags, duplicate unaries, with the
 * requested root.
 *
 *     ( (S-TPC-1 (NP-SBJ (-NONE- *)) (VP (VB go))))  ->  (TOP (S (VP (VB go))))
 *
 * Cleaning loses information, so the tree as read is kept beside the result: out->raw is the tree
 * as it was, and every node and word of the result knows where it came from.  The remaining words
 * keep their order and text, the remaining nodes their nesting.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSFORM_H
#define TRL_TRANSFORM_H

#include "treebank/brackets.h"

/* One per thread. */
typedef struct trl_transformer trl_transformer;

/* `how` is copied; `labels`, the table of the trees to come, is borrowed and gets new labels.
 * TRL_ENOMEM. */
trl_status trl_transformer_new(const trl_transform *how, trl_strtab *labels, trl_transformer **out,
                               trl_error *err);
void trl_transformer_free(trl_transformer *x); /* accepts NULL */

/* The cleaned tree.  *out is borrowed from the transformer and from `in`, which out->raw is: valid
 * until the next call, and as long as `in` is.  *any is false, and *out untouched, when no word is
 * left.  O(nodes), nothing allocated after the largest tree.  TRL_ENOMEM. */
trl_status trl_transformer_run(trl_transformer *x, const trl_tree *in, trl_tree *out, bool *any,
                               trl_error *err);

/* For the last result: the node of `in` that each node was (TRL_NO_NODE: an added root), and the
 * word of `in` that each word was. */
const uint32_t *trl_transformer_nodes(const trl_transformer *x);
const uint32_t *trl_transformer_words(const trl_transformer *x);

/* Whether two trees have the same nodes, labels of words included; a root TOP, ROOT, S1, VROOT or
 * "" with one child is not looked at.  Words are not compared. */
bool trl_trees_equal(const trl_tree *a, const trl_tree *b);

/* Removes the root of a tree's nodes, for treebanks that have none; only when it has one child. */
void trl_drop_root(trl_node **node, size_t *n_nodes);

#endif
