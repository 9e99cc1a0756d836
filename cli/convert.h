/* convert.h -- sequences written in any of the formats. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "text.h"
#include "trellis/text.h"

typedef enum convert_format {
    CONVERT_TEXT,
    CONVERT_MARKS,
    CONVERT_COLUMNS,
    CONVERT_JSONL,
} convert_format;

extern const char *const convert_format_names[]; /* up to a NULL */

/* One sequence; its last column is the label where `labelled`. */
typedef struct convert_sequence {
    const trl_rows *rows;
    const trl_token *token; /* [n_tokens] places in `text`, or NULL */
    trl_str text;           /* the document */
    bool labelled;
} convert_sequence;

/* What a document's marks need from one sequence to the next; zero-initialise. */
typedef struct convert_state {
    size_t written; /* bytes of the document */
} convert_state;

void convert_write(convert_format to, const convert_sequence *seq, convert_state *state, text *out);

/* After the last sequence of a document with a text. */
void convert_end(convert_format to, trl_str document, convert_state *state, text *out);

#endif
