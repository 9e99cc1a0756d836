/* obj_exponential.h -- the exponential loss of every factor: an objective that no table has, to
 * show what one over factors takes.
 *
 *     value = - sum_a sum_{c != gold} exp(theta_a(c) - theta_a(gold))
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_OBJ_EXPONENTIAL_H
#define TRL_TEST_OBJ_EXPONENTIAL_H

#include <math.h>

#include "train/factors.h"

static inline trl_status obj_exponential(const trl_factor_view *x, double *value, trl_error *err)
{
    double sum = 0.0;
    for (size_t a = 0; a < x->n; a++) {
        const trl_scored_factor *f = &x->factor[a];
        for (size_t c = 0; c < f->n_cells; c++) {
            if (c == f->gold)
                continue;
            const double loss = exp(f->score[c] - f->score[f->gold]);
            sum -= loss;
            f->adjoint[c] -= x->weight * loss;
            f->adjoint[f->gold] += x->weight * loss;
        }
    }
    return trl_factor_value(x, sum, value, err);
}

#endif
