/* train_graph.h -- graphs under the contract of training: examples in memory to weights.
 *
 *     trl_graph_training_init    options checked, features compiled, plans of inference made
 *     trl_graph_training_run     the session: any optimiser, checkpoints, progress
 *
 * Iterations whose inference did not settle everywhere say so in their progress
 * (trl_progress.note).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRAIN_GRAPH_H
#define TRL_TRAIN_GRAPH_H

#include "train/session.h"
#include "train_graph/graph_task.h"

typedef struct trl_graph_training {
    const trl_train_options *o;
    trl_graph_corpus *corpus;
    const trl_objective *objective;
    const trl_optimizer *optimizer;
    trl_design design;
    trl_graph_task task;
    trl_task view;
    trl_learner learner;
    trl_session session;
    trl_pool *pool;
    trl_cancel cancel; /* of the pool and all loops */
    double *w;         /* [trl_design_alloc] the weights; zero at first, may be set before run */
    uint64_t runs, unsettled; /* of inference, in the last iteration */
    void *run;                /* whose training it is; NULL: from memory */
} trl_graph_training;

/* `corpus` is borrowed, compiled (its lists of attributes are freed), and must stay where it is, as
 * must t.  `infer` as for trl_graph_task_init.  TRL_EINVAL: options that do not go together, or an
 * example that is too wide for exact inference; TRL_ENOMEM.  After a failure there is nothing to
 * release. */
trl_status trl_graph_training_init(trl_graph_training *t, trl_graph_corpus *corpus,
                                   const trl_train_options *o, const trl_infer_options *infer,
                                   trl_error *err);
void trl_graph_training_fini(trl_graph_training *t);

/* Trains from t->w and leaves the result there.  As trl_session_run. */
trl_status trl_graph_training_run(trl_graph_training *t, trl_train_result *result, trl_error *err);

#endif
