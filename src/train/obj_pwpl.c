/* obj_pwpl.c -- piecewise pseudolikelihood: inside every factor, every label given the others
 * [SM07].
 *
 *     value = sum_a sum_{v in a} [ theta_a(y_a) - log sum_{y'} exp theta_a(y_a with y' at v) ]
 *
 * A factor of k variables with n labels each costs k n cells instead of the n^k of piecewise
 * training.  Factors of one variable are the same in both.
 *
 * [SM07] Sutton, McCallum. Piecewise pseudolikelihood for efficient training of conditional random
 *        fields. ICML 2007.
 */
/* SPDX-License-Identifier: MIT */
#include "train/factors.h"

trl_status trl_factor_pwpl(const trl_factor_view *x, double *value, trl_error *err)
{
    trl_factor_index i;
    double sum = 0.0;
    const trl_status st = trl_factor_index_init(&i, x, err);
    if (st != TRL_OK)
        return st;
    for (size_t a = 0; a < x->n; a++) {
        i.take[0] = (uint32_t)a;
        for (size_t k = 0; k < x->factor[a].n_variables; k++)
            sum += trl_block_term(&i, 1, &x->factor[a].variable[k], 1);
    }
    return trl_factor_value(x, sum, value, err);
}
