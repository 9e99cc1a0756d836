/* parse_print.h -- the trees of one sentence as text. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PARSE_PRINT_H
#define CLI_PARSE_PRINT_H

#include "text.h"
#include "trellis/parser.h"

/* A tree's number is its probability, "-" (JSON: null) where it has none: before a tab; before a
 * drawing or a tree on many lines on a line of its own; JSON {"probability":X,"tree":...}. */
typedef struct parse_style {
    trl_tree_format form;
    bool draw;     /* whatever the form */
    bool numbered; /* not with columns, which have no place for it */
    bool apart;    /* an empty line after the sentence */
    bool spans;    /* spans too, whether there are any or none */
    bool picture;  /* none of this: see parse_picture.h */
} parse_style;

/* Appends all trees, then all spans.  TRL_ENOMEM; whether `out` failed is the caller's to ask. */
trl_status parse_print(const parse_style *s, const trl_parse *p, text *out, trl_error *err);

#endif
