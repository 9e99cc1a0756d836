/* tree_part.c -- runs within a run: what self-training and the second stage share. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "train_tree/tree_training.h"

trl_train_options trl_tree_training_part_options(const trl_tree_training *j, trl_buf *nowhere)
{
    trl_train_options o = *j->o;
    o.rerank = o.grammars = 0;
    o.functions = o.resume = false;
    o.dev = o.model = o.rescue = o.init = o.checkpoint = NULL;
    o.dev_data = NULL;
    o.model_out = nowhere;
    o.progress = NULL;
    return o;
}

trl_status trl_tree_training_reads_again(const trl_tree_training *j, const char *who,
                                         trl_error *err)
{
    for (size_t k = 0; k < j->o->n_train; k++)
        if (strcmp(j->o->train[k], "-") == 0)
            return trl_fail(err, TRL_EINVAL,
                            "%s reads the treebank again: it cannot be standard input", who);
    return TRL_OK;
}
