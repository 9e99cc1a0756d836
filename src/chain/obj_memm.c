/* obj_memm.c -- the maximum-entropy Markov model [MFP00].
 *
 *     value = sum_t [ s_t(source_t, y_t) - log sum_y exp s_t(source_t, y) ]
 *     d value / d score = [gold cell] - p(y | source_t)  on the gold source's row, 0 elsewhere
 *
 * s_t and sources as in local_term.h.  The ends: position 0 has the source START, so its term is
 * the softmax of node_0 alone; in order 2 position 1 is conditioned on y_0 only, later ones on the
 * pair (y_{t-2}, y_{t-1}).  One row of L exponentials per token, whatever the order.
 *
 * Where labels are notes (text/label_text.h), the marginal likelihood: as the MEMM is normalised,
 * the log of the sum over the labellings that they allow of prod_t p(y_t | source_t)^w_t, w_t the
 * weight of the token (partial_lattice.h).
 *
 * [MFP00] McCallum, Freitag, Pereira. Maximum entropy Markov models for information extraction
 *         and segmentation. ICML 2000.
 */
/* SPDX-License-Identifier: MIT */
#include "chain/local_term.h"
#include "chain/partial_lattice.h"

trl_status trl_obj_memm(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                        double *value, trl_error *err)
{
    trl_source_sum s;
    trl_status st = trl_local_start(x, TRL_EDGE, adjoint, err);
    if (st == TRL_OK)
        st = trl_source_sum_init(&s, x, adjoint, minus, err);
    if (st != TRL_OK)
        return st;
    double score = 0.0;
    for (size_t t = 0; t < x->scores->n; t++)
        score += trl_source_sum_gold(&s, t, false);
    return trl_local_value(x, score - trl_log_sum_value(&s.z), value, err);
}

trl_status trl_obj_memm_partial(const trl_chain_example *x, trl_tables *adjoint,
                                trl_chain_sums *minus, double *value, trl_error *err)
{
    (void)minus;
    double sum = 0.0;
    trl_status st = trl_local_start(x, TRL_NODE, adjoint, err);
    if (st == TRL_OK)
        st = trl_partial_sum(x, true, adjoint, &sum, err);
    return st == TRL_OK ? trl_local_value(x, sum, value, err) : st;
}
