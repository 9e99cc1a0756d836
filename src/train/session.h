/* session.h -- one training run of any structure: optimiser, progress, best weights, checkpoints.
 *
 * Knows options, weights and callbacks; knows nothing of chains or trees.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SESSION_H
#define TRL_SESSION_H

#include "base/pool.h"
#include "feature/design.h"
#include "train/optimizer.h"
#include "train/task.h"
#include "trellis/train.h"

/* All pointers are borrowed. */
typedef struct trl_session {
    const trl_train_options *o;
    const trl_design *d;
    const trl_strtab *names; /* of family 0 in the corpus */
    const trl_task *task;    /* made for trl_session_lanes(o) lanes */
    trl_pool *pool;
    uint64_t fingerprint; /* of data and features: a checkpoint must match */
    double started;       /* trl_clock() at the start */

    /* The score of weights x on held-out data, percent; NULL: none. */
    trl_status (*score_dev)(void *dev, const double *x, double *score, trl_error *err);
    void *dev;

    /* An optimiser of the objective's own, to run instead of the one that the options name;
     * arguments as of trl_lbfgs.  NULL: none. */
    trl_status (*solve)(void *solver, const trl_watcher *watcher, const void *state,
                        size_t state_size, double *x, trl_ending *ending, trl_error *err);
    /* Of the same objective: its value at x, penalties included, and the norm of its gradient (NaN:
     * not known).  Values above `enough` need not be right, only above it.  NULL: there is no such
     * value. */
    trl_status (*value)(void *solver, const double *x, double enough, double *F, double *norm,
                        trl_error *err);
    void *solver;
    uint64_t max_iter; /* the solver's own limit, for the time left; 0: as the options say */

    /* Of a structure without a design matrix (d is NULL), which must have a solver. */
    size_t n_weights, n_features;

    /* Of the last of several stages: the weights that the stage before ended with.  Checkpoints
     * keep them for trl_session_base.  NULL: none. */
    const double *base;
} trl_session;

static inline size_t trl_session_weights(const trl_session *s)
{
    return s->d ? (size_t)s->d->n_weights : s->n_weights;
}

/* Checks objective-independent options: names, ranges, combinations.  TRL_EINVAL with a sentence
 * that names the valid values.  `smooth`: the objective has a gradient everywhere. */
trl_status trl_session_check(const trl_train_options *o, bool smooth, trl_error *err);

/* The optimiser that will run: o->optimizer, or what suits. */
const char *trl_session_optimizer(const trl_train_options *o, bool smooth);

size_t trl_session_lanes(const trl_train_options *o);

/* Trains from x (or from the checkpoint) and leaves the result in x: the weights with the best
 * dev score when there is a dev set, else the last.  Fills iterations, saved_iteration, objective
 * (of the result), dev_score, stopped and ending of *result.  A run that had ended when its
 * checkpoint was written does not go on.  TRL_ENUMERIC, with a hint, when the result is no model
 * (outcome.h). */
trl_status trl_session_run(const trl_session *s, bool smooth, double *x, trl_train_result *result,
                           trl_error *err);

/* Looks into the checkpoint that s->o resumes from: *found is true, and x has the weights that the
 * stage before ended with, when it is one of this stage.  TRL_EIO, TRL_EMODEL. */
trl_status trl_session_base(const trl_session *s, double *x, bool *found, trl_error *err);

/* Seconds on a monotonic clock. */
double trl_clock(void);

#endif
