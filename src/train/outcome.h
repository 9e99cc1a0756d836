/* outcome.h -- private to training: checking the result of a run before it becomes a model.
 *
 * Weights become a model only when they are finite, as single precision numbers too, and when the
 * objective, penalties included, is below its value without any weights (of a warm start: at the
 * given weights, if that is more).  Stochastic methods with gains of our own may end above it by
 * half, where a few examples and a strong penalty leave little to learn; of a run that was cut
 * short (max_iter, callback) there is only a warning.  And nothing is called converged that was not
 * measured on the whole objective:
 *
 *     ||g|| < epsilon max(1, ||w||),  or, F being strongly convex with the quadratic penalty,
 *     F(w) - F* <= ||g||^2 / (4 c2) <= CLOSE |F(w)|.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OUTCOME_H
#define TRL_OUTCOME_H

#include "train/checkpoint.h"

/* How a run stands at weights x: objective and gradient norm, NaN where that is not known. */
typedef struct trl_standing {
    double objective, gradient, norm_x;
    double gap; /* at most so far above the optimum, by a bound of its own; NaN: there is none */
} trl_standing;

/* The objective at x by a pass over the data, the gradient too unless `enough` is finite: then any
 * value above it may be given instead of the true one.  Both NaN when the objective cannot be
 * evaluated. */
trl_status trl_standing_at(const trl_session *s, const double *x, double enough, trl_standing *out,
                           trl_error *err);

/* TRL_ENUMERIC, with a hint, when x is not a model: see the top.  F is the objective at x; NaN: not
 * known. */
trl_status trl_outcome_check(const trl_session *s, const trl_progress_state *ps, const double *x,
                             double F, trl_error *err);

/* Is the objective F, with a gradient of this norm, certainly close to the optimum: see the top. */
bool trl_outcome_is_close(double F, double norm, double c2);

/* Adds a hint to a failure of TRL_ENUMERIC; returns `st`. */
trl_status trl_outcome_hint(const trl_session *s, trl_status st, trl_error *err);

/* The ending in words.  `at`: the last weights.  `fall`: how much F fell in an iteration, relative;
 * NaN: not known.
 */
void trl_outcome_describe(const trl_session *s, trl_ending ending, const trl_standing *at,
                          double fall, char *out, size_t cap);

#endif
