/* tag_input.h -- sequences from the input files of 'trellis tag', in the format of the model. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_INPUT_H
#define CLI_TAG_INPUT_H

#include "options.h"
#include "tag_print.h"

typedef struct tag_input {
    const operands *files; /* none: standard input */
    const trl_model *model;
    trl_format format; /* the model's */
    bool given;        /* by the user: then it is not doubted */
} tag_input;

/* A chain, and the format of its input: *format as the user gave it, or TRL_FORMAT_GUESS, which
 * becomes the model's; *given says which.  CLI_DONE, or CLI_FAILED after `path` and what is wrong
 * have been said; of a model of another kind the caller says what uses it. */
int tag_input_format(const char *path, const trl_model *m, trl_format *format, bool *given);

/* Does what the caller wants with a sequence; *stop ends the reading.  The last one of a file may
 * have no tokens, but a heading. */
typedef trl_status (*tag_input_fn)(void *ctx, const tag_sequence *seq, bool *stop, trl_error *err);

/* All sequences in order.  The first one of a file must look like the format: TRL_EPARSE when it is
 * clearly another, and what the reader returns. */
trl_status tag_input_read(const tag_input *in, tag_input_fn use, void *ctx, trl_error *err);

/* Regular files, or standard input from one: reading never has to wait for anybody. */
bool tag_input_never_waits(const operands *files);

/* A thread for every kilobyte of regular files, which may be compressed; else `most`. */
size_t tag_input_threads(const operands *files, size_t most);

#endif
