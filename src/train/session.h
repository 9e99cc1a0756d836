/* session.h -- one training run of any structure: optimiser, progress, best weights, checkpoints.
 *
 * Knows options, weights and the learner's contract (learner.h); knows nothing about chains or
 * trees.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SESSION_H
#define TRL_SESSION_H

#include "train/learner.h"
#include "train/optimizers.h"

/* All pointers are borrowed. */
typedef struct trl_session {
    const trl_train_options *o;
    const trl_optimizer *optimizer;
    const trl_learner *learner;
    trl_pool *pool;
    trl_cancel *cancel;   /* the pool's, or NULL: nobody can stop an iteration half-way */
    uint64_t fingerprint; /* of data and features: a checkpoint must match */
    double started;       /* trl_clock() at the start */

    /* Of the last of several stages: the weights that the stage before ended with.  Checkpoints
     * keep them for trl_session_first.  NULL: none. */
    const double *base;
} trl_session;

/* The number of lanes that the structure's task must have. */
size_t trl_session_lanes(const trl_train_options *o);

/* Trains from x (or from the checkpoint) and leaves the result in x, of n_weights + 64 elements:
 * the weights with the best dev score when there is a dev set, else the last.  Of a learner with
 * steps the result is in the learner.  Fills iterations,
 * saved_iteration, objective (of the result), dev_score, stopped and ending of *result.  A run that
 * had ended when its checkpoint was written does not continue.  One that is cancelled within an
 * iteration ends with the weights, and a checkpoint, of the iteration before; TRL_ECANCEL when
 * there is none.  TRL_ENUMERIC, with a hint, when the result is not a model (outcome.h). */
trl_status trl_session_run(const trl_session *s, double *x, trl_train_result *result,
                           trl_error *err);

/* The first of two stages: a given number of iterations without looking at the dev set.  The caller
 * may change x before the second.  Their checkpoints are told apart, and those of the second keep
 * the x that the first ended with: a run that resumes in the second finds it here again, and
 * *second is true.  A run that was stopped in the first (result->stopped) has no second. */
trl_status trl_session_first(const trl_session *s, uint64_t iterations, double *x, bool *second,
                             trl_train_result *result, trl_error *err);

/* The second, after trl_session_first gave x and `second`. */
trl_status trl_session_second(const trl_session *s, bool second, double *x,
                              trl_train_result *result, trl_error *err);

#endif
