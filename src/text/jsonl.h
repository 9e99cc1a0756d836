/* jsonl.h -- JSON lines: an object a line is a sequence.
 *
 *     {"tokens": ["a", "b"], "columns": [["X", "Y"]], "labels": ["O", "B-Z"]}
 *
 * Rows have the tokens, the further columns, and the labels, if there are any, as the last
 * column; "document": true becomes the heading -DOCSTART-.  Other members are passed over.  All
 * sequences have the same number of columns.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_JSONL_H
#define TRL_JSONL_H

#include "text/input.h"
#include "trellis/sequence.h"

typedef struct trl_jsonl trl_jsonl;

/* `in` is borrowed.  TRL_ENOMEM. */
trl_status trl_jsonl_new(trl_input *in, trl_jsonl **out, trl_error *err);
void trl_jsonl_free(trl_jsonl *r); /* accepts NULL */

/* The next sequence; one without tokens is passed over.  rows->line is NULL.  TRL_EPARSE with
 * path:row:col for what is not such an object, or lists of different lengths. */
trl_status trl_jsonl_next(trl_jsonl *r, trl_rows *seq, bool *more, trl_error *err);

/* How often the last sequence counts: its member "weight", 1 without. */
double trl_jsonl_weight(const trl_jsonl *r);

#endif
