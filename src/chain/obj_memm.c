/* obj_memm.c -- the maximum-entropy Markov model [MFP00].
 *
 *     value = sum_t [ s_t(source_t, y_t) - log sum_y exp s_t(source_t, y) ]
 *     d value / d score = [gold cell] - p(y | source_t)  on the gold source's row, 0 elsewhere
 *
 * s_t and sources as in term.h.  The ends: position 0 has the source START, so its term is the
 * softmax of node_0 alone; in order 2 position 1 is conditioned on y_0 only, later ones on the
 * pair (y_{t-2}, y_{t-1}).  One row of L exponentials per token, whatever the order.
 *
 * [MFP00] McCallum, Freitag, Pereira. Maximum entropy Markov models for information extraction
 *         and segmentation. ICML 2000.
 */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "chain/term.h"

trl_status trl_obj_memm(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                        double *value, trl_error *err)
{
    (void)minus;
    const trl_status st = trl_local_start(x, TRL_EDGE, adjoint, err);
    if (st != TRL_OK)
        return st;
    double *p = trl_arena_get(x->arena, x->chain->stride, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    trl_term m = trl_term_of(x->chain, x->scores, adjoint);
    double sum = trl_chain_score(x->chain, x->scores, x->gold);
    for (size_t t = 0; t < x->scores->n; t++) {
        trl_term_source(&m, t, trl_gold_source(x->chain, x->gold, t));
        sum -= trl_rows_term(m.L, m.n, m.line, false, true, x->weight, p);
    }
    trl_add_path(x->chain, x->gold, x->weight, adjoint);
    return trl_local_value(x, sum, value, err);
}
