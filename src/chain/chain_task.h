/* chain_task.h -- chains as a trl_task: objective and inference for the generic trainers. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_TASK_H
#define TRL_CHAIN_TASK_H

#include "chain/chain_tokens.h"
#include "chain/nota_instances.h"
#include "chain/objective.h"
#include "feature/corpus.h"
#include "train/task.h"

typedef struct trl_chain_task {
    const trl_corpus *corpus;
    const trl_objective *objective;
    trl_objective_fn evaluate;       /* its code */
    trl_factor_objective by_factors; /* or this one's, when it is trl_obj_by_factors */
    trl_objective_fn partial;        /* the same of sequences whose labels are notes */
    trl_factor_objective partial_factors;
    const trl_chain_costs *costs; /* borrowed; NULL: none */
    trl_chain chain;
    trl_chain_sums *lanes; /* [n_lanes] */
    bool *open;            /* [n_lanes] evaluated since the last finish */
    size_t n_lanes;
    const trl_nota *nota; /* borrowed; NULL: no instances.  Set between passes. */
    bool single;          /* local objectives may work in single precision */
    trl_chain_tokens tokens;
} trl_chain_task;

/* `corpus` is borrowed. */
trl_status trl_chain_task_init(trl_chain_task *t, const trl_corpus *corpus, int order,
                               const trl_objective *objective, size_t n_lanes, trl_error *err);
void trl_chain_task_fini(trl_chain_task *t);

/* The callbacks, with t as `self`; get them again when `single` or `nota` has changed. */
trl_task trl_chain_task_view(trl_chain_task *t);

#endif
