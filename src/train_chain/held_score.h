/* held_score.h -- scoring a model file on labelled sequences of files. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HELD_SCORE_H
#define TRL_HELD_SCORE_H

#include "trellis/score.h"
#include "trellis/sequence.h"

/* Files, of which every Nth sequence counts. */
typedef struct trl_held_data {
    const char *const *paths;
    size_t n_paths;
    uint64_t every;
} trl_held_data;

/* Tags (with the model's own decoder) and scores every `every`-th sequence of the files, counted
 * over all of them; 1: all.  *chunks: all labels, gold and predicted, are those of a chunk
 * scheme.  TRL_EPARSE when there is no such sequence or it has no label, and what opening,
 * reading and tagging return. */
trl_status trl_held_score(const char *model, const trl_held_data *data, trl_score_totals *totals,
                          bool *chunks, trl_error *err);

#endif
