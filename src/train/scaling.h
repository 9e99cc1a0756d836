/* scaling.h -- L-BFGS on attributes whose values are far from 1.
 *
 * A year as a value makes the objective two thousand times as steep along its weights as along all
 * others, and a quasi-Newton method with a short memory converges very slowly.  So the weights are
 * optimised as v_j = p_j w_j, p_j a power of two near
 *
 *     sqrt((2 c2 + S_j / 4) / (2 c2 + n_j / 4)),    S_j = sum of value^2, n_j = number of values,
 *
 * which is how much steeper F is along w_j than it would be with values of 1 (1/4 bounds the
 * variance of an indicator).  Powers of two round nothing: F is the same function, and data whose
 * values are all within a factor of 16 of 1 are not scaled at all.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SCALING_H
#define TRL_SCALING_H

#include "feature/design.h"
#include "train/lbfgs.h"

/* The p of every weight into *scale [n_weights], release with trl_free; NULL when all are 1.
 * TRL_ENOMEM. */
trl_status trl_scaling_of(const trl_design *d, double c2, double **scale, trl_error *err);

/* Like trl_lbfgs (and the same when scale is NULL): x, watched iterations and checkpoints hold
 * w. */
trl_status trl_lbfgs_scaled(const trl_function *f, const trl_lbfgs_options *o, const double *scale,
                            const trl_descent *how, trl_error *err);

#endif
