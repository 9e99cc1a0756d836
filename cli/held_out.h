/* held_out.h -- how well a chain model labels held-out data. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_HELD_OUT_H
#define CLI_HELD_OUT_H

#include "options.h"
#include "trellis/model.h"

typedef struct held_out {
    const operands *files;
    trl_format format; /* TRL_FORMAT_GUESS: the model's */
} held_out;

/* F1 of chunks where all labels of the model are a chunk's, else the accuracy of tokens, in
 * percent. */
bool held_out_has_chunks(const trl_model *m);

/* Labels all sequences and scores them.  TRL_EINVAL where there are none or they have no labels, or
 * are in a format that the model does not read; what reader and tagger return. */
trl_status held_out_score(const trl_model *m, const held_out *data, double *score, trl_error *err);

#endif
