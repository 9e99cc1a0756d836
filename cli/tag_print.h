/* tag_print.h -- one sequence in, its labels out as text: the work of one thread. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_PRINT_H
#define CLI_TAG_PRINT_H

#include "tag_picture.h"
#include "tag_rules.h"
#include "tag_sure.h"
#include "text.h"
#include "trellis/tagger.h"

/* What to print. */
typedef struct tag_style {
    bool posterior;                /* labels by their own marginals, not by the best path */
    bool max_marginals;            /* graphs: labels by their own max-marginals */
    bool marginals, all_marginals; /* label:p instead of label; and all labels after it */
    bool probability;              /* a line with that of the labelling before it */
    bool reference;                /* items: the input's label before ours */
    bool confidence, spans;        /* tag_sure.h: more columns; lists of spans */
    double above;                  /* > 0: all spans of at least this probability */
    bool json;                     /* an object a sequence, whatever the input */
    picture picture;               /* or a piece of a page, or of a picture */
    trl_decoding decoding;
    size_t nbest;           /* 0: the best labelling alone, without a heading */
    const tag_rules *rules; /* NULL: none, but for those that the model keeps */
} tag_style;

/* A sequence of either format: the member that fits is set, the other NULL. */
typedef struct tag_sequence {
    const trl_rows *rows; /* from a reader: the cells lie in their lines */
    const trl_items *items;
    trl_str source;  /* CoNLL-U: all lines of the sentence, in which the cells lie */
    uint64_t number; /* among those of all files, from 1 */
} tag_sequence;

typedef struct tag_printer {
    const trl_model *model; /* borrowed */
    tag_style style;
    bool is_probability;
    trl_tagger *tagger;
    trl_str *label; /* [n_labels] the model's */
    size_t n_labels;
    uint32_t *path; /* [nbest or 1][tokens] */
    double *score;  /* [nbest or 1] */
    double *p;      /* [tokens][n_labels] */
    size_t path_cap, p_cap;
    tag_sure sure;
    tag_picture picture; /* with style.picture */
    trl_str *word;       /* [tokens] what it shows of them */
    trl_tag_span *span;  /* [tokens] chunks without probabilities */
    size_t word_cap, span_cap;
    uint64_t n_sequences, n_tokens; /* printed so far */
    uint64_t n_free; /* sequences labelled without rules, as no labelling obeys them */
} tag_printer;

/* TRL_ENOMEM and what trl_tagger_new returns; to be followed by fini in any case. */
trl_status tag_printer_init(tag_printer *x, const trl_model *m, const tag_style *style,
                            trl_error *err);
void tag_printer_fini(tag_printer *x);

/* Appends what is to be printed; nothing after a failure. */
trl_status tag_printer_add(tag_printer *x, const tag_sequence *seq, text *out, trl_error *err);

/* An error of our own, in the form of the library's. */
trl_status tag_no_memory(trl_error *err);

#endif
