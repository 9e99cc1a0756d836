/* parse_sentence.h -- the work of 'trellis parse' on one sentence. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PARSE_SENTENCE_H
#define CLI_PARSE_SENTENCE_H

#include "parse_picture.h"
#include "parse_print.h"
#include "trellis/known.h"

/* A sentence, and what becomes of it. */
typedef struct parse_job {
    trl_str *word, *tag;
    trl_known *known;           /* what is known of it: */
    trl_weighted_tag *weighted; /* ... see parse_prepare */
    char *block;
    size_t n;
    uint64_t row, number;
    text out;
    char warning[120];
    bool unsure; /* whether a more probable tree may be missing */
    trl_status status;
    trl_error error;
} parse_job;

/* What all sentences share; borrowed. */
typedef struct parse_context {
    const parse_style *style;
    const trl_parse_model *model;
    const trl_known_list *known; /* or NULL */
    const char *constraints;     /* where that is from */
    const char *path;            /* of the sentences, for messages */
    parse_picture *picture;      /* with style->picture */
} parse_context;

/* What the parser is given, borrowed from the sentence.  False: no memory. */
bool parse_prepare(const parse_context *j, parse_job *x, trl_parse_input *in);
void parse_forget(parse_job *x); /* frees that */

/* Fills in out, warning, unsure, and status, which it returns, with error; p NULL: the sentence
 * could not be parsed, by err. */
trl_status parse_finish(const parse_context *j, parse_job *x, const trl_parse *p, trl_error *err);

#endif
