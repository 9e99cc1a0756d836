/* graph_task.h -- graphs as a trl_task: objective and inference for the generic trainers.
 *
 * Messages start anew in every evaluation, or from those that the iteration before ended with, and
 * budgets count updates: a run gives the same bits with any number of threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_TASK_H
#define TRL_GRAPH_TASK_H

#include "train/task.h"
#include "train_graph/graph_messages.h"
#include "train_graph/graph_objective.h"
#include "train_graph/graph_rows.h"

typedef struct trl_graph_lane {
    trl_infer_work *work;
    uint64_t runs, unsettled;
} trl_graph_lane;

typedef struct trl_graph_task {
    const trl_graph_corpus *corpus;
    trl_graph_objective_fn evaluate; /* NULL: */
    trl_factor_objective by_factors;
    bool apart;               /* ... one after the other */
    bool packed;              /* ... that does without cells never seen (packed_cells.h) */
    trl_infer_plan **plan;    /* [corpus->n]; NULL: the objective needs no inference */
    trl_graph_pieces *pieces; /* [corpus->n]; NULL: none */
    trl_graph_rows rows;      /* of the examples, where these are rows */
    trl_graph_messages kept;
    bool sends;            /* the objective is by belief propagation ... */
    bool keeps;            /* ... and its messages are kept */
    trl_graph_lane *lanes; /* [n_lanes] */
    size_t n_lanes;
} trl_graph_task;

/* `corpus` is borrowed.  `infer`: schedule, damping, tolerance and budgets of inference, and for
 * the perceptron its method.  TRL_EINVAL: graphs do not have the objective, or an example is too
 * wide for exact inference: the message says which and what it would take; TRL_ENOMEM. */
trl_status trl_graph_task_init(trl_graph_task *t, const trl_graph_corpus *corpus,
                               const trl_objective *objective, const trl_infer_options *infer,
                               size_t n_lanes, trl_error *err);
void trl_graph_task_fini(trl_graph_task *t);

/* From now on messages of bethe and trw start from those of the iteration before, which ends with
 * trl_graph_messages_turn; nothing changes for other objectives.  TRL_ENOMEM. */
trl_status trl_graph_task_keep(trl_graph_task *t, trl_error *err);

/* From now on an example is a row of the design (graph_rows.h), if the objective looks at one
 * factor at a time and the corpus allows it; *first are the examples then, else it stays.
 * TRL_ENOMEM. */
trl_status trl_graph_task_by_rows(trl_graph_task *t, const uint64_t **first, size_t *n,
                                  trl_error *err);

/* The callbacks, with t as `self`. */
trl_task trl_graph_task_view(trl_graph_task *t);

/* How many runs of inference there were since the last call, and how many did not settle. */
void trl_graph_task_runs(trl_graph_task *t, uint64_t *runs, uint64_t *unsettled);

#endif
