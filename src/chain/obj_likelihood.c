/* obj_likelihood.c -- exact conditional likelihood: the CRF [LMP01].
 *
 *     value = s(y) - log Z(x)
 *     d value / d score of a cell = [the gold labelling passes it] - P(cell | x)
 *
 * [LMP01] Lafferty, McCallum, Pereira. Conditional random fields. ICML 2001.
 */
/* SPDX-License-Identifier: MIT */
#include "chain/chain_pairs.h"
#include "chain/objective.h"
#include "num/simd.h"

/* row = - weight * marginals, position by position. */
TRL_CLONES static void minus_rows(size_t n, double weight, const double *p, double *row)
{
#pragma omp simd
    for (size_t k = 0; k < n; k++)
        row[k] = -weight * p[k];
}

trl_status trl_obj_likelihood(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err)
{
    trl_chain_marginals m;
    const bool rows = adjoint->row[TRL_EDGE] || adjoint->row[TRL_TRI];
    const trl_status st =
        trl_chain_adjoint(x->chain,
                          &(trl_chain_ask){.s = x->scores,
                                           .arena = x->arena,
                                           .want = TRL_WANT_SUMS | (rows ? TRL_WANT_EDGE_ROWS : 0),
                                           .weight = x->weight},
                          adjoint->row[TRL_NODE], &m, minus, err);
    if (st != TRL_OK)
        return st;
    const double *p[TRL_FAMILIES] = {NULL, m.edge, m.tri};
    for (size_t f = TRL_EDGE; f < TRL_FAMILIES; f++)
        if (adjoint->row[f]) {
            const size_t skip = f * adjoint->step[f];
            for (size_t k = 0; k < skip && k < adjoint->n * adjoint->step[f]; k++)
                adjoint->row[f][k] = 0.0;
            if (adjoint->n > f)
                minus_rows(adjoint->n * adjoint->step[f] - skip, x->weight, p[f] + skip,
                           adjoint->row[f] + skip);
        }
    trl_add_path(x->chain, x->gold, x->weight, adjoint);
    if (adjoint->chain.pairs) {
        size_t n = 0;
        for (size_t t = 1; t < adjoint->n; t++)
            n += trl_pair_cells_at(adjoint, t);
        for (size_t k = 0; k < n; k++)
            m.set_cell[k] = -m.set_cell[k];
        adjoint->chain.set_cell = m.set_cell;
        trl_pairs_add_path(x->gold, x->weight, adjoint);
    }
    *value = x->weight * (trl_chain_score(x->chain, x->scores, x->gold) - m.log_z);
    return TRL_OK;
}
