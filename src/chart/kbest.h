/* kbest.h -- the k best trees of a chart, exactly: the lazy algorithm 3 of [HC05].
 *
 * A *place* is an item before or after its unary rule.  Its derivations come out best first: a heap
 * holds, for every rule that makes it, the next combination of its children's derivations; the
 * children are asked for their next one only when such a combination was used.
 *
 * [HC05] Huang, Chiang. Better k-best parsing. IWPT 2005.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_KBEST_H
#define TRL_KBEST_H

#include "chart/chart.h"

typedef struct trl_kbest {
    trl_btree *tree; /* [n], owned; memory is reused from call to call */
    double *score;   /* [n], log, descending */
    size_t n, cap_tree, cap_score;
} trl_kbest; /* zero-initialise */
void trl_kbest_fini(trl_kbest *b);

/* Up to k derivations of the chart (none when there is no tree).  Runs trl_chart_best, so that
 * what trl_chart_inside left in `c` is gone; a tree's probability is exp(score - log Z), log Z that
 * of trl_chart_inside on the same tables.  Scratch in the arena; calls itself at most 3 n deep.
 * TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_chart_kbest(trl_chart *c, const trl_tree_tables *t, size_t k, trl_kbest *out,
                           trl_arena *arena, trl_error *err);

/* Drops every tree that is the same as one before it once annotation and active states are
 * gone; the others keep their order.  `mass` (may be NULL) gets, for each tree that stays,
 * log of the summed exp(score) of its derivations in the list.  TRL_ENOMEM. */
trl_status trl_kbest_distinct(trl_kbest *b, const trl_grammar *g, double *mass, trl_error *err);

#endif
