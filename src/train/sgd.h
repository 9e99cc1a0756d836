/* sgd.h -- stochastic gradient descent with the gain schedule of [FKM08], with or without
 * averaging, and the averaged perceptron [Col02], which is averaged SGD with gain 1. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SGD_H
#define TRL_SGD_H

#include "base/pool.h"
#include "feature/design.h"
#include "train/optimizer.h"
#include "train/scaled_values.h"
#include "train/task.h"

typedef struct trl_sgd_options {
    double c2;
    double eta;        /* first gain; 0: calibrated on a sample */
    uint64_t batch;    /* examples a step, at most TRL_SGD_BATCH_MAX */
    bool perceptron;   /* gain 1, no decay, one example a step, in shuffled order */
    bool averaged;     /* the result is the mean of all weight vectors [Xu11]; the plain
                          form leaves out those of the first pass */
    uint64_t max_iter; /* passes; 0: no limit */
    double delta;      /* stop when the objective fell by less (relative) ... */
    uint64_t period;   /* ... in this many passes */
    uint64_t seed;
    const trl_far_weights *far; /* whose values are scaled, see scaled_values.h; NULL: none */
} trl_sgd_options;

#define TRL_SGD_BATCH_MAX 64

/* As trl_lbfgs, one iteration being one pass.  The task must have been made for at least
 * `batch` lanes. */
trl_status trl_sgd(const trl_design *d, const trl_task *task, const trl_sgd_options *o,
                   const trl_descent *how, trl_error *err);

#endif
