/* tag_text.h -- tagging raw text: tokens, their columns, labels, and the text with its labels. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_TEXT_H
#define CLI_TAG_TEXT_H

#include "convert.h"
#include "options.h"
#include "output.h"
#include "page.h"
#include "trellis/tagger.h"

typedef enum tag_form { TAG_AUTO, TAG_COLUMNS, TAG_JSONL, TAG_MARKS, TAG_COLOUR } tag_form;

extern const char *const tag_form_names[];

typedef struct tag_text_options {
    trl_token_options tokens;
    const char *columns; /* NULL: as the template says */
    tag_form form;
    bool posterior, marginals, confidence;
    picture picture;   /* instead of `form` */
    const char *title; /* of the page */
    trl_decoding decoding;
    const struct tag_rules *rules; /* NULL: none, but for those that the model keeps */
} tag_text_options;

/* Sequences and tokens tagged so far. */
typedef struct tag_text_counts {
    uint64_t sequences, tokens, attributes, unknown;
    uint64_t free; /* of the sequences: labelled without constraints */
} tag_text_counts;

/* Tags the files, or standard input.  False: said. */
bool tag_text(const tag_text_options *o, const trl_model *m, const operands *files, output *out,
              tag_text_counts *counts);

#endif
