/* graph_held.h -- a graph model's answers on labelled units of files. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_HELD_H
#define TRL_GRAPH_HELD_H

#include "train_chain/held_score.h"

/* As trl_held_score, sentence by sentence; what is wanted is counted in units (sentences or
 * documents, as training holds them out).  What counts is the layer that the model file names, else
 * all of them together. */
trl_status trl_graph_held_score(const trl_model *m, const trl_held_data *data, trl_held_fn fn,
                                void *ctx, trl_error *err);

#endif
