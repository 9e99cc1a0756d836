/* tree_data.h -- the trees that a parser is trained on and scored on, from files or memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_DATA_H
#define TRL_TREE_DATA_H

#include "grammar/tree_set.h"
#include "trellis/train.h"

/* Adds all trees of o->train and o->data.  As trl_tree_set_read; TRL_EPARSE when there are none. */
trl_status trl_tree_data_train(trl_tree_set *s, const trl_train_options *o, trl_error *err);

/* Adds those of o->dev and o->dev_data, if they are given. */
trl_status trl_tree_data_dev(trl_tree_set *s, const trl_train_options *o, trl_error *err);

#endif
