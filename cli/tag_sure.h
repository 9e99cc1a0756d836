/* tag_sure.h -- how sure the labels are: probabilities of spans, entropies; as columns and JSON. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_SURE_H
#define CLI_TAG_SURE_H

#include "text.h"
#include "trellis/tagger.h"

/* What is known of one labelling of n tokens; zero-initialise. */
typedef struct tag_sure {
    double probability;       /* of the labelling */
    double entropy;           /* of all labellings, nats */
    double *token;            /* [n] of the labels of each token, nats */
    trl_tag_span *own;        /* the chunks of the labelling */
    const trl_tag_span *span; /* what is to be listed: these, or all above a probability */
    size_t n_own, n_spans, cap;
    size_t at; /* the first of `own` that does not end before the token printed last */
} tag_sure;

/* A labelling of n tokens that was found, and its score; `above` > 0: lists all spans of at least
 * that probability.  */
typedef struct tag_labelling {
    const uint32_t *path;
    size_t n;
    double score, above;
} tag_labelling;

/* Asks the tagger.  TRL_ENOMEM, and what the tagger returns. */
trl_status tag_sure_find(tag_sure *x, trl_tagger *t, const tag_labelling *of, trl_error *err);
void tag_sure_fini(tag_sure *x);

/* Room for n tokens in `token` and `own`, for a caller that fills them.  False: no memory. */
bool tag_sure_room(tag_sure *x, size_t n);

/* A line before the sequence: "# P entropy H", or for items two. */
void tag_sure_heading(const tag_sure *x, bool items, text *out);

/* " P H SPAN BOUNDARIES" of token k, in order, after `separator` each; "-" outside of chunks. */
void tag_sure_columns(tag_sure *x, size_t k, double p, char separator, text *out);

/* A line for each span: FROM-TO TYPE P BOUNDARIES, tokens counted from 1. */
void tag_sure_spans(const tag_sure *x, text *out);

/* ', "probability": ...' and so on, for an object that is already open. */
void tag_sure_json(const tag_sure *x, size_t n, text *out);
void tag_sure_json_spans(const tag_sure *x, text *out);
void tag_sure_json_span(const trl_tag_span *s, text *out); /* its probabilities alone */

#endif
