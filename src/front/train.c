/* train.c -- trl_train: every kind of model by its own job. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/train_chain.h"
#include "tree/train_tree.h"

trl_train_options trl_train_options_default(void)
{
    return (trl_train_options){.kind = "chain",
                               .objective = "likelihood",
                               .c2 = 1.0,
                               .epsilon = 1e-5,
                               .period = 10,
                               .delta = 1e-5,
                               .memory = 6,
                               .seed = 1,
                               .checkpoint_every = 10,
                               .grade = "features",
                               .annotate = "parents",
                               .clusters = "auto",
                               .prune = 1e-4,
                               .chart_memory = 4096};
}

trl_status trl_train(const trl_train_options *o, trl_train_result *result, trl_error *err)
{
    trl_train_result local;
    result = result ? result : &local;
    *result = (trl_train_result){.objective = NAN, .dev_score = NAN};
    if (strcmp(o->kind, "chain") == 0)
        return trl_train_chain(o, result, err);
    if (strcmp(o->kind, "tree") == 0)
        return trl_train_tree(o, result, err);
    return trl_fail(err, TRL_EINVAL, "kind '%s' is not known: use chain or tree", o->kind);
}
