/* handover.h -- one optimiser begins, another one goes on where it gets no further.
 *
 * Dual coordinate ascent is close to the optimum after a few passes when the penalty is strong
 * enough, and may swing far above it for hundreds when it is not; L-BFGS gets there in any case,
 * and proves it. The first one hands over
 *
 *     after a number of passes; when it has come to rest where the objective may be far above the
 * optimum (outcome.h); when half of 16, 32, ... passes have gained little (100 delta), for what is
 * left is then done and proven by the second one in fewer: the second one goes on from there, and
 * ends as soon as the gradient proves that it is within 10 delta of the optimum; when its steps are
 * short in the first pass, or its objective has risen above the lowest by more than a hundredth:
 * the second one starts afresh, which is as fast as from such a point, unless the objective is
 * measured to be less than half of that without weights.
 *
 * Where the optimiser gives a bound of the lowest objective (piecewise training by sdca), it ends
 * by itself as soon as that proves the same, and hands over when four passes do not halve the
 * distance.
 *
 * Of many small examples (learner.h: fine) the first one gains faster in a pass: the objective is
 * measured after every fourth, and four that gain little are enough.
 *
 * With an L1 penalty stochastic steps begin: three passes of them, without that penalty, get as far
 * as half the iterations of OWL-QN.  They are `sure`: they hand over after their passes, and not
 * otherwise; and the second one also gets the point before the last pass, so that it knows how far
 * its first steps may go (lbfgs.h).
 *
 * All this depends on the data and options alone, so that threads do not show.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HANDOVER_H
#define TRL_HANDOVER_H

#include "train/optimizers.h"

typedef trl_status (*trl_minimize_fn)(const trl_fit *fit, double *x, trl_ending *ending,
                                      trl_error *err);

typedef struct trl_handover {
    trl_minimize_fn first, second;
    uint64_t passes; /* of the first one, at most */
    bool sure;       /* nothing but the number of its passes is looked at */
} trl_handover;

/* As the run of an optimiser.  fit->o->max_iter is for both together.  Needs c2 above 0, unless the
 * first one is sure. */
trl_status trl_handover_run(const trl_handover *h, const trl_fit *fit, double *x,
                            trl_ending *ending, trl_error *err);

#endif
