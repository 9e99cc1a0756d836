/* obj_pseudo.c -- pseudolikelihood: every label given all its neighbours [Bes75].
 *
 *     value = sum_v log p(y_v | all other labels, x)
 *
 * Only factors that hold v matter, at the true labels of their other variables.  Chains have a
 * faster form (chain/obj_pseudo.c).
 *
 * [Bes75] Besag. Statistical analysis of non-lattice data. The Statistician 24(3), 1975.
 */
/* SPDX-License-Identifier: MIT */
#include "train/factors.h"

trl_status trl_factor_pseudo(const trl_factor_view *x, double *value, trl_error *err)
{
    trl_factor_index i;
    double sum = 0.0;
    const trl_status st = trl_factor_index_init(&i, x, err);
    if (st != TRL_OK)
        return st;
    for (uint32_t v = 0; v < x->n_variables; v++)
        sum += trl_block_term(&i, 1, &v, trl_block_factors(&i, 1, &v));
    return trl_factor_value(x, sum, value, err);
}
