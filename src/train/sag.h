/* sag.h -- stochastic average gradient with non-uniform sampling [SBA15], for smooth objectives.
 *
 * Minimises F(w) = - sum_i value_i(w) + c2 ||w||^2.  Every example's last adjoint is stored (in
 * single precision), so the whole gradient is always available, only slightly stale; a step costs
 * one example, and convergence is linear: the optimum of L-BFGS in a tenth of the passes.
 *
 * [SBA15] Schmidt, Babanezhad, Ahmed, Defazio, Clifton, Sarkar. Non-uniform stochastic average
 * gradient method for training conditional random fields. AISTATS 2015.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SAG_H
#define TRL_SAG_H

#include "feature/design.h"
#include "train/optimizer.h"
#include "train/scaled_values.h"
#include "train/task.h"

typedef struct trl_sag_options {
    double c2;
    uint64_t max_iter; /* passes; 0: TRL_MOST_PASSES */
    double epsilon;    /* stop when ||gradient|| < epsilon max(1, ||w||) */
    double delta;      /* or when the objective fell by less (relative) in `period` passes */
    uint64_t period;
    uint64_t seed;
    const trl_far_weights *far; /* whose values are scaled, see scaled_values.h; NULL: none */
} trl_sag_options;

/* As trl_lbfgs, one iteration being one pass (n_sequences steps). */
trl_status trl_sag(const trl_design *d, const trl_task *task, const trl_sag_options *o,
                   const trl_descent *how, trl_error *err);

#endif
