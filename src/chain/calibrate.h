/* calibrate.h -- scaling locally trained factors against each other by global likelihood.
 *
 * Factors that were trained separately (piecewise-nota) may differ in scale.  One multiplier per
 * source label puts them on a common scale:
 *
 *     s'_t = a_i s_t(.., i, y)   with i = y_{t-1}, for t >= 1;   s'_0 = node_0
 *
 * fitted by the exact likelihood of s' as one CRF, everything else frozen: L parameters, a few
 * steps of any optimiser from a = 1 (where s' = s).  In order 2 the multiplier belongs to the last
 * label i of the source pair, so that there are L of them in both orders.  START has none.
 *
 *     d value / d a_i = sum_{t>=1} ( [y_{t-1} = i] s_t(gold) - E[ [y_{t-1} = i] s_t ] )
 *
 * Where labels are notes s'(gold) is the log of the sum over what they allow (partial_lattice.h),
 * and the first part of the derivative its expectation.
 *
 * Forbidden cells (-inf) stay forbidden for every multiplier.  [SM05b, sec. 3]: see obj_nota.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CALIBRATE_H
#define TRL_CALIBRATE_H

#include "base/pool.h"
#include "chain/objective.h"
#include "feature/corpus.h"
#include "feature/design.h"

/* s' in the shape of trl_local_tables (chain/local.h): what to decode with.  TRL_ENOMEM. */
trl_status trl_calibrate_tables(const trl_chain *c, const trl_tables *s, const double *a,
                                trl_arena *arena, trl_tables *out, trl_error *err);

/* The likelihood of one sequence under s', and grad[L] += its gradient.  `rows` comes from
 * trl_rows_chain_init.  Statuses of trl_chain_infer; grad is then unchanged.  When the gold
 * labelling is forbidden, *value = -inf and grad is unchanged, too. */
trl_status trl_calibrate_example(const trl_chain_example *x, const trl_chain *rows, const double *a,
                                 double *value, double *grad, trl_error *err);

/* The whole corpus, as the `self` of a trl_function with n = L and eval = trl_calibration_eval. */
typedef struct trl_calibration {
    const trl_corpus *corpus; /* all borrowed */
    const trl_design *design;
    const double *w;
    trl_pool *pool;
} trl_calibration;

/* F = - sum of the likelihoods, to be minimised, g[L] its gradient.  Deterministic with any
 * number of threads.  TRL_ENUMERIC when F is not finite; what trl_chain_sweep returns. */
trl_status trl_calibration_eval(void *self, const double *a, double *g, double *F, trl_error *err);

#endif
