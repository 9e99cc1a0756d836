/* convert.h -- sequences written in any of the formats. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "tag_sure.h"
#include "text.h"
#include "trellis/scheme.h"
#include "trellis/text.h"

typedef enum convert_format {
    CONVERT_TEXT,
    CONVERT_MARKS,
    CONVERT_COLUMNS,
    CONVERT_JSONL,
    CONVERT_CONLLU,
    CONVERT_CRFSUITE,
    CONVERT_MALLET,
    CONVERT_GRMM,
    CONVERT_COLOUR, /* the text, chunks coloured: for terminals, not read */
} convert_format;

extern const char *const convert_format_names[]; /* up to a NULL */
extern const char *const grain_names[], *const rule_names[];
void convert_column_table(text *out); /* what columns can be made of text */

/* One sequence; its last column is the label where `labelled`. */
typedef struct convert_sequence {
    const trl_rows *rows;
    const trl_token *token; /* [n_tokens] places in `text`, or NULL */
    trl_str text;           /* the document */
    bool labelled;
    const trl_chunk *chunk; /* [n_chunks] of the labels */
    size_t n_chunks;
    const double *p;          /* [n_tokens] the probability of each label, or NULL */
    const tag_sure *sure;     /* of the same labels and chunks, or NULL */
    trl_str source;           /* CoNLL-U that is to be CoNLL-U again: its lines */
    const char *const *place; /* CoNLL-U: [n_columns] the name of each column */
} convert_sequence;

/* Memory for the chunks of a sequence; zero-initialise. */
typedef struct convert_memory {
    trl_str *label;
    trl_chunk *chunk;
    size_t cap;
} convert_memory;

/* Sets the chunks of a labelled sequence.  False: no memory. */
bool convert_chunks(convert_memory *m, convert_sequence *seq);
void convert_memory_fini(convert_memory *m);

/* What a document's marks need from one sequence to the next; zero-initialise. */
typedef struct convert_state {
    size_t written; /* bytes of the document */
} convert_state;

/* For the formats in which a token is a line (convert_table.c). */
void convert_columns(const convert_sequence *seq, text *out);
void convert_conllu(const convert_sequence *seq, text *out);
void convert_crfsuite(const convert_sequence *seq, text *out);
void convert_mallet(const convert_sequence *seq, text *out);
void convert_grmm(const convert_sequence *seq, text *out);

/* Items, to CRFsuite, MALLET or GRMM.  False: the last two have no values. */
bool convert_items(convert_format to, const trl_items *seq, text *out);

/* A sequence of GRMM's with its attributes, to these three.  False: GRMM alone has several labels,
 * or none, for a token. */
bool convert_attributes(convert_format to, const trl_reader *r, const trl_rows *seq, text *out);

/* What an input or output format is called in the library; TRL_FORMAT_GUESS: text. */
trl_format convert_reader_format(convert_format f);

void convert_write(convert_format to, const convert_sequence *seq, convert_state *state, text *out);

/* After the last sequence of a document with a text. */
void convert_end(convert_format to, trl_str document, convert_state *state, text *out);

#endif
