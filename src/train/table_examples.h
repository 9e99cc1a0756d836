/* table_examples.h -- examples that have score tables, for optimisers that want losses and sparse
 * gradients (sparse.h): adagrad. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TABLE_EXAMPLES_H
#define TRL_TABLE_EXAMPLES_H

#include "train/learner.h"

typedef struct trl_table_examples trl_table_examples;

/* The examples of a learner with a task, for as many workers as the pool has threads; borrows
 * both.  TRL_EINVAL when the task has no lane for each worker, TRL_ENOMEM. */
trl_status trl_table_examples_new(const trl_learner *l, trl_pool *pool, trl_table_examples **out,
                                  trl_error *err);
void trl_table_examples_free(trl_table_examples *x); /* accepts NULL */

const trl_sparse_task *trl_table_examples_task(const trl_table_examples *x);

/* Of the example that worker 0 evaluated last: the factors of the first family whose adjoint is not
 * 0, and the largest number there.  For the perceptron on chains these are the wrong labels and the
 * weight of the sequence. */
size_t trl_table_examples_wrong(const trl_table_examples *x, double *weight);

#endif
