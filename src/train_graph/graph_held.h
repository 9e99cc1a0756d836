/* graph_held.h -- scoring a graph model's file on labelled units of files. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_HELD_H
#define TRL_GRAPH_HELD_H

#include "train_chain/held_score.h"

/* As trl_held_score, unit by unit (sentences or documents, as training holds them out).  What is
 * scored is the layer that the model file names, else all of them together. */
trl_status trl_graph_held_score(const char *model, const trl_held_data *data,
                                trl_score_totals *totals, bool *chunks, trl_error *err);

#endif
