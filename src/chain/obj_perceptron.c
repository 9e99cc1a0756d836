/* obj_perceptron.c -- the structured perceptron's loss [Col02].
 *
 *     value = s(y) - max_y' s(y')
 *     a subgradient: + 1 on the gold labelling's cells, - 1 on the best labelling's
 *
 * With costs the labelling y' is the best of s(y') + sum_t cost(y_t, y'_t): the margin to a wrong
 * labelling must be what it costs [TGK03].
 *
 * [TGK03] Taskar, Guestrin, Koller. Max-margin Markov networks. NIPS 2003.
 * [Col02] Collins. Discriminative training methods for hidden Markov models. EMNLP 2002.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "chain/chain_pairs.h"
#include "chain/objective.h"

/* The same for pairs as sets.  False: out of memory. */
static bool add_pairs(const trl_chain_example *x, const uint32_t *best, trl_tables *adjoint)
{
    size_t n = 0;
    for (size_t t = 1; t < adjoint->n; t++)
        n += trl_pair_cells_at(adjoint, t);
    double *cells = adjoint->chain.set_cell = trl_pairs_cells_get(x->scores, x->arena);
    if (!cells)
        return false;
    memset(cells, 0, n * sizeof *cells);
    trl_pairs_add_path(x->gold, x->weight, adjoint);
    trl_pairs_add_path(best, -x->weight, adjoint);
    return true;
}

trl_status trl_obj_perceptron(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err)
{
    (void)minus;
    uint32_t *best = trl_arena_get(x->arena, x->scores->n, sizeof *best);
    if (!best)
        return trl_fail_mem(err);
    double top;
    trl_tables own;
    const trl_tables *scores = trl_costly_scores(x, &own);
    if (!scores)
        return trl_fail_mem(err);
    const trl_status st = trl_chain_viterbi(x->chain, scores, x->arena, best, &top, err);
    if (st != TRL_OK)
        return st;
    trl_clear_rows(adjoint);
    trl_add_path(x->chain, x->gold, x->weight, adjoint);
    trl_add_path(x->chain, best, -x->weight, adjoint);
    if (adjoint->chain.pairs && !add_pairs(x, best, adjoint))
        return trl_fail_mem(err);
    *value = x->weight * (trl_chain_score(x->chain, x->scores, x->gold) - top);
    return TRL_OK;
}
