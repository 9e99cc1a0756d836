/* obj_mecfg.h -- private to the local objectives: what MECFG and PT-CFG share. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_MECFG_H
#define TRL_TREE_MECFG_H

#include "train_tree/tree_task.h"

/* Prepares the worker for choices of an example's items; when `adjoint`, trl_chooser_end must
 * follow. */
trl_status trl_tree_local_begin(const trl_tree_task *t, const trl_tree_example *e,
                                trl_tree_worker *w, bool adjoint, trl_error *err);

/* Adds the loss of the gold nodes, with the outcome NOTA when the task has any. */
trl_status trl_tree_local_gold(const trl_tree_task *t, const trl_tree_example *e,
                               trl_tree_worker *w, double *value, trl_error *err);

#endif
