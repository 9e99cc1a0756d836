/* handover.h -- one optimiser begins, another one goes on where it gets no further.
 *
 * Dual coordinate ascent is close to the optimum after a few passes when the penalty is strong
 * enough, and may swing far above it for hundreds when it is not; L-BFGS gets there in any case,
 * and proves it. The first one hands over
 *
 *     after a number of passes, or when it has come to rest where the objective may be far above
 * the optimum (outcome.h): the second one goes on from there; when its steps are short in the first
 * pass, or its objective has risen above the lowest by more than a hundredth: the second one starts
 * afresh, which is as fast as from such a point.
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
} trl_handover;

/* As the run of an optimiser.  fit->o->max_iter is for both together.  Needs c2 above 0. */
trl_status trl_handover_run(const trl_handover *h, const trl_fit *fit, double *x,
                            trl_ending *ending, trl_error *err);

#endif
