/* fallback.h -- a tree for a sentence that the grammar cannot parse, or not in time.
 *
 * The sentence is cut into the fewest pieces that are phrases of the chart (or words), among covers
 * of equally few pieces the one with the highest scores; the pieces are the children of the root.
 * Without a chart every word is a piece.  Words that are pieces get their most frequent tag in the
 * lexicon.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FALLBACK_H
#define TRL_FALLBACK_H

#include "chart/chart.h"
#include "grammar/lexicon.h"

typedef struct trl_fallback {
    const trl_grammar *g;
    const trl_lexicon *x;
    const trl_str *word; /* [n], n > 0 */
    size_t n;
    trl_chart *c;             /* NULL: none; already run by trl_chart_best, or run here */
    const trl_tree_tables *t; /* of c */
} trl_fallback;

/* Only TRL_ENOMEM. */
trl_status trl_fallback_tree(const trl_fallback *f, trl_nodes *out, trl_arena *arena,
                             trl_error *err);

#endif
