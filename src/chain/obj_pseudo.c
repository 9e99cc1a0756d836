/* obj_pseudo.c -- pseudolikelihood: every label given all its neighbours [Bes75].
 *
 *     value = sum_t log p(y_t | all other labels, x)
 *           = sum_t [ s(y) - log sum_{y'} exp s(y with y' at t) ]
 *
 * Only factors that hold y_t matter: node_t(.), edge_t(y_{t-1}, .), edge_{t+1}(., y_{t+1}), and in
 * order 2 tri_t(y_{t-2}, y_{t-1}, .), tri_{t+1}(y_{t-1}, ., y_{t+1}) and tri_{t+2}(., y_{t+1},
 * y_{t+2}): the Markov blanket is two neighbours, or four.  Factors beyond the ends are left out; a
 * sequence of one token gives the likelihood.
 *
 * [Bes75] Besag. Statistical analysis of non-lattice data. The Statistician 24(3), 1975.
 */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "chain/local_term.h"

/* The family-f factor at position u covers y_{u-f} .. y_u; place k from the right is free. */
static void take_factor(trl_term *m, const uint32_t *y, size_t f, size_t u, size_t k)
{
    if (u < f || u >= m->scores->n)
        return;
    size_t base = 0, power = 1, stride = 1;
    for (size_t d = 0; d <= f; d++, power *= m->L) {
        if (d == k)
            stride = power;
        else
            base += y[u - d] * power;
    }
    trl_term_take(m, (int)f, u, base, stride);
}

trl_status trl_obj_pseudo(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                          double *value, trl_error *err)
{
    (void)minus;
    const trl_status st = trl_local_start(x, TRL_NODE, adjoint, err);
    if (st != TRL_OK)
        return st;
    double *p = trl_arena_get(x->arena, x->chain->stride, sizeof *p), sum = 0.0;
    if (!p)
        return trl_fail_mem(err);
    trl_term m = trl_term_of(x->chain, x->scores, adjoint);
    for (size_t t = 0; t < x->scores->n; t++) {
        m.n = 0;
        for (size_t f = 0; f <= (size_t)m.order; f++)
            for (size_t k = 0; k <= f; k++)
                take_factor(&m, x->gold, f, t + k, k);
        sum += trl_term_log_p(&m, x->gold[t], x->weight, p);
    }
    return trl_local_value(x, sum, value, err);
}
