/* function_training.h -- learning function labels (parser/function_labels.h): the conditional
 * likelihood of the classes of the nodes of treebank trees, by adagrad.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FUNCTION_TRAINING_H
#define TRL_FUNCTION_TRAINING_H

#include "grammar/tree_set.h"
#include "parser/function_labels.h"
#include "train/sparse.h"

/* A node whose category has more than one class. */
typedef struct trl_function_node {
    size_t first; /* its features: feature[first .. first + n) */
    uint32_t n, class;
} trl_function_node;

/* One example is a tree with at least one function label: others are taken for trees of treebanks
 * without. */
typedef struct trl_function_task {
    trl_sparse_task sparse;
    trl_function_labels *f; /* borrowed */
    uint32_t *feature;
    trl_function_node *node;
    size_t *end; /* [examples]: of its nodes */
    size_t n_features, cap_features, n_nodes, cap_nodes, cap_end;
    double *score; /* [workers][classes] */
} trl_function_task;

/* Numbers the features that occur twice and fills f, which has its heads and observer, with weights
 * yet to be learnt.  The set has its function labels (keep_functions).  TRL_EINVAL
 * when it has none; TRL_ENOMEM. */
trl_status trl_function_task_init(trl_function_task *t, const trl_tree_set *trees,
                                  trl_function_labels *f, size_t workers, trl_error *err);
void trl_function_task_fini(trl_function_task *t);

/* Learns f->weight.  TRL_ECANCEL when the pool is cancelled; TRL_ENOMEM. */
trl_status trl_function_train(trl_function_labels *f, const trl_tree_set *trees, trl_pool *pool,
                              uint64_t seed, trl_error *err);

#endif
