/* mest_dual.h -- M-estimation by stochastic dual coordinate ascent [SZ13].
 *
 * With s_i = weight_i / sum weight the objective of obj_mest.h has the dual
 *
 *     D(a) = sum_i (a_i - a_i log(a_i / s_i)) - c2 ||w(a)||^2,   a >= 0          (maximised)
 *     w(a) = (sum_i a_i f_i - E_q0[f]) / (2 c2)
 *
 * and F(w(a)) >= min F = max D >= D(a).  One variable per sequence, not per feature; changing
 * a_i touches the features of one sequence only, and its best value solves, for u = log(a_i /
 * s_i),
 *
 *     u + w . f_i + (s_i e^u - a_i) ||f_i||^2 / (2 c2) = 0,
 *
 * which has exactly one solution, whatever the numbers: nothing can overflow.  A pass costs as
 * much as an evaluation of F, and there is no work on dense vectors.  Needs c2 > 0.
 *
 * [SZ13] Shalev-Shwartz, Zhang. Stochastic dual coordinate ascent methods for regularized loss
 *        minimization. JMLR 14, 2013.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MEST_DUAL_H
#define TRL_MEST_DUAL_H

#include "mest/obj_mest.h"
#include "train/optimizer.h"

typedef struct trl_mest_dual_options {
    double c2;         /* > 0 */
    uint64_t max_iter; /* passes; 0: TRL_MOST_PASSES */
    double delta;      /* stop when F(w) - D(a) < delta max(1, |F|): 1e-5 */
    uint64_t seed;
} trl_mest_dual_options;

/* Starts from a_i = s_i exp(-w . f_i), so that a run with another c2 is a warm start, and
 * leaves the result in w (trl_design_alloc doubles).  One thread; the same bits for a
 * seed.  The watcher (may be NULL) is called after every pass.  `state` (may be NULL)
 * continues a run that a watcher saved; w must then hold the weights saved with it.
 * TRL_EINVAL for c2 <= 0, TRL_EMODEL for a state that does not fit, TRL_ENOMEM, what watch
 * returns. */
trl_status trl_mest_dual(trl_mest *m, const trl_mest_dual_options *o, const trl_descent *how,
                         trl_error *err);

#endif
