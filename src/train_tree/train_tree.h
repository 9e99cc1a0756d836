/* train_tree.h -- training of parsers. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRAIN_TREE_H
#define TRL_TRAIN_TREE_H

#include "trellis/train.h"

/* As trl_train; *result is cleared. */
trl_status trl_train_tree(const trl_train_options *o, trl_train_result *result, trl_error *err);

#endif
