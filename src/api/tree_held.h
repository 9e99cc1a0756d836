/* tree_held.h -- a parser's trees for the sentences of treebanks. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_HELD_H
#define TRL_TREE_HELD_H

#include "train_chain/held_score.h"

/* As trl_held_score, tree by tree: of any length, without traces and function tags.  keep_going:
 * broken trees are passed over, as training does. */
trl_status trl_tree_held_score(const trl_model *m, const trl_held_data *data, bool keep_going,
                               trl_held_fn fn, void *ctx, trl_error *err);

#endif
