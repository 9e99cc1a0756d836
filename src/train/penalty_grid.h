/* penalty_grid.h -- the penalty of any learner, chosen on its held-out data. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PENALTY_GRID_H
#define TRL_PENALTY_GRID_H

#include "train/session.h"

/* Penalties to be tried. */
typedef struct trl_penalties {
    const double *c2;
    size_t n;
} trl_penalties;

/* Trains s->learner, which must have a score, once for each c2[k], in the order given; where the
 * optimiser can, from the weights of the run before.  x gets the weights with the best score (the
 * first of equals), *best its k, score[k] (or NULL) every run's.  No checkpoints.  TRL_EINVAL
 * without a score or an empty grid; else as trl_session_run. */
trl_status trl_penalty_grid(const trl_session *s, const trl_penalties *grid, double *x,
                            double *score, size_t *best, trl_error *err);

#endif
