/* sdca.h -- stochastic dual coordinate ascent without the dual [SS16], for smooth convex
 * objectives.
 *
 * Minimises F(w) = - sum_i value_i(w) + c2 ||w||^2.  Where the gradient is 0, w is 1 / (2 c2) times
 * the sum of all examples' gradients; so an approximation a_i of each example's adjoint is stored
 * (in single precision), and w is always 1 / (2 c2) sum_i A_i^T a_i.  A step takes one example and
 * moves a_i towards its adjoint at the current weights, as far as the dual objective rises.  In SAG
 * every weight approaches its optimum at the same small rate; here weights of rare attributes reach
 * it at once: half the passes to the optimum, and a pass costs half, because only one vector of
 * floats is read and written.
 *
 * [SS16] Shalev-Shwartz. SDCA without duality, regularization, and individual convexity. ICML
 * 2016.   [LPL18] Le Priol, Piche, Lacoste-Julien. Adaptive stochastic dual coordinate ascent for
 * conditional random fields. UAI 2018.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SDCA_H
#define TRL_SDCA_H

#include "feature/design.h"
#include "train/optimizer.h"
#include "train/scaled_values.h"
#include "train/task.h"

typedef struct trl_sdca_options {
    double c2;         /* above 0 */
    uint64_t max_iter; /* passes; 0: TRL_MOST_PASSES */
    double epsilon; /* stop when the stored node adjoints, when last visited, differed by less than
                       epsilon max(1, ||w||) in all (they are floats: 1e-6 is the limit) */
    double delta;   /* or when the objective moved by less (relative) in `period` passes */
    uint64_t period;
    uint64_t seed;
    const trl_far_weights *far; /* whose values are scaled, see scaled_values.h; NULL: none */
} trl_sdca_options;

/* After which passes the true objective, and the dual one where the task has it, are worth a look:
 * 4, 8, 16, ...; of small examples (learner.h: fine), which learn faster in a pass, 4, 8, 12, ...
 */
static inline bool trl_pass_is_measured(uint64_t pass, bool fine)
{
    return pass >= 4 && (fine ? pass % 4 == 0 : (pass & (pass - 1)) == 0);
}

/* As trl_lbfgs, one iteration being one pass (n_sequences steps).  x must be 0 at the start:
 * weights follow from the stored adjoints.  TRL_EINVAL for other x. */
trl_status trl_sdca(const trl_design *d, const trl_task *task, const trl_sdca_options *o,
                    const trl_descent *how, trl_error *err);

#endif
