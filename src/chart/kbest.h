/* kbest.h -- the k best derivations of a chart, exactly: the lazy algorithm 3 of [HC05].
 *
 * A *place* is an item before or after its unary rule.  Its derivations come out best first: a heap
 * holds, for every rule that makes it, the next combination of its children's derivations; a
 * child's next derivation is computed only when such a combination was used.
 *
 * [HC05] Huang, Chiang. Better k-best parsing. IWPT 2005.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_KBEST_H
#define TRL_KBEST_H

#include "chart/chart.h"

/* Receives the next derivation, borrowed during the call; scores never increase.  Set *enough to
 * end the list.
 */
typedef trl_status (*trl_derivation_fn)(void *ctx, const trl_btree *tree, double score,
                                        bool *enough, trl_error *err);

/* Who takes derivations, and how many at most. */
typedef struct trl_derivation_sink {
    size_t most;
    trl_derivation_fn take;
    void *ctx;
} trl_derivation_sink;

/* Up to `most` derivations of the chart, best first (none when there is no tree).  Runs
 * trl_chart_best, which overwrites what trl_chart_inside left in `c`.  Scratch in the arena; the
 * recursion depth is at most 3 n.  TRL_ENOMEM, TRL_ENUMERIC, and what `take` returns. */
trl_status trl_chart_derivations(trl_chart *c, const trl_tree_tables *t,
                                 const trl_derivation_sink *sink, trl_arena *arena, trl_error *err);

#endif
