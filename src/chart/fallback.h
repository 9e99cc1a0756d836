/* fallback.h -- a tree for a sentence the grammar has none for, or for which there was no time.
 *
 * The sentence is cut into the fewest pieces that are phrases of the chart (or words), of equally
 * few those with the highest scores, side by side below the root; without a chart all words
 * are.  Words that are pieces of their own get the tag that the lexicon has most often for them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FALLBACK_H
#define TRL_FALLBACK_H

#include "chart/chart.h"
#include "grammar/lexicon.h"

/* `c` (NULL: none) with its tables t: run by trl_chart_best, or else run by it here.  nodes as in
 * trl_mbr_tree: labels of the grammar, node 0 the root, preorder.  n > 0.  Only TRL_ENOMEM. */
trl_status trl_fallback_tree(const trl_grammar *g, const trl_lexicon *x, const trl_str *word,
                             size_t n, trl_chart *c, const trl_tree_tables *t, trl_node **nodes,
                             size_t *n_nodes, size_t *cap, trl_arena *arena, trl_error *err);

#endif
