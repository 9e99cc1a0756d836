/* obj_likelihood.c -- exact conditional likelihood: the CRF [LMP01].
 *
 *     value = s(y) - log Z(x)
 *     d value / d score of a cell = [the gold labelling passes it] - P(cell | x)
 *
 * Where labels are notes (text/label_text.h) the first term is a sum over what they allow
 * (partial_lattice.h), the marginal likelihood; with costs [GS10], softmax-margin,
 *
 *     value = s(y) - log sum_y' exp( s(y') + sum_t cost(y_t, y'_t) )
 *
 * [GS10] Gimpel, Smith. Softmax-margin CRFs: training log-linear models with cost functions. NAACL
 *        2010.
 * [LMP01] Lafferty, McCallum, Pereira. Conditional random fields. ICML 2001.
 */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "chain/chain_pairs.h"
#include "chain/objective.h"
#include "chain/partial_lattice.h"
#include "num/simd.h"

/* row = - weight * marginals, position by position. */
TRL_CLONES static void minus_rows(size_t n, double weight, const double *p, double *row)
{
#pragma omp simd
    for (size_t k = 0; k < n; k++)
        row[k] = -weight * p[k];
}

const trl_tables *trl_costly_scores(const trl_chain_example *x, trl_tables *own)
{
    if (!x->costs)
        return x->scores;
    const trl_tables *s = x->scores;
    const size_t step = s->step[TRL_NODE], S = x->chain->stride;
    *own = *s;
    double *row = own->row[TRL_NODE] = trl_arena_get(x->arena, s->n * step, sizeof *row);
    if (!row)
        return NULL;
    for (size_t t = 0; t < s->n; t++) {
        const double *from = s->row[TRL_NODE] + t * step;
        const double *cost = x->costs->row + (x->costs->by_note ? x->note[t] : x->gold[t]) * S;
        for (size_t j = 0; j < S; j++)
            row[t * step + j] = from[j] + cost[j];
    }
    return own;
}

trl_status trl_minus_log_z(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                           trl_chain_marginals *m, trl_error *err)
{
    trl_tables own;
    const bool rows = adjoint->row[TRL_EDGE] || adjoint->row[TRL_TRI];
    const trl_tables *scores = trl_costly_scores(x, &own);
    if (!scores)
        return trl_fail_mem(err);
    const trl_status st =
        trl_chain_adjoint(x->chain,
                          &(trl_chain_ask){.s = scores,
                                           .arena = x->arena,
                                           .want = TRL_WANT_SUMS | (rows ? TRL_WANT_EDGE_ROWS : 0),
                                           .weight = x->weight},
                          adjoint->row[TRL_NODE], m, minus, err);
    if (st != TRL_OK)
        return st;
    const double *p[TRL_FAMILIES] = {NULL, m->edge, m->tri};
    for (size_t f = TRL_EDGE; f < TRL_FAMILIES; f++)
        if (adjoint->row[f]) {
            const size_t skip = f * adjoint->step[f];
            for (size_t k = 0; k < skip && k < adjoint->n * adjoint->step[f]; k++)
                adjoint->row[f][k] = 0.0;
            if (adjoint->n > f)
                minus_rows(adjoint->n * adjoint->step[f] - skip, x->weight, p[f] + skip,
                           adjoint->row[f] + skip);
        }
    return TRL_OK;
}

trl_status trl_obj_likelihood(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err)
{
    trl_chain_marginals m;
    const trl_status st = trl_minus_log_z(x, adjoint, minus, &m, err);
    if (st != TRL_OK)
        return st;
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

trl_status trl_obj_likelihood_partial(const trl_chain_example *x, trl_tables *adjoint,
                                      trl_chain_sums *minus, double *value, trl_error *err)
{
    trl_chain_marginals m;
    double sum;
    trl_status st = trl_minus_log_z(x, adjoint, minus, &m, err);
    if (st == TRL_OK)
        st = trl_partial_sum(x, false, adjoint, &sum, err);
    if (st == TRL_OK)
        *value = x->weight == 0.0 ? 0.0 : x->weight * (sum - m.log_z);
    return st;
}
