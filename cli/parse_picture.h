/* parse_picture.h -- trees as a page (HTML) or as one picture (SVG), with the probability of every
 * constituent. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PARSE_PICTURE_H
#define CLI_PARSE_PICTURE_H

#include "page.h"
#include "trellis/parser.h"

typedef struct parse_picture {
    picture as;
    trl_tree_svg *svg; /* SVG: all trees, so that sentences must come one by one and in order */
} parse_picture;       /* zero-initialise */

/* Before the first sentence; TRL_ENOMEM.  Appends the beginning of a page. */
trl_status parse_picture_begin(parse_picture *x, const char *title, text *out, trl_error *err);

/* All trees of a sentence.  HTML may be made by several threads.  TRL_ENOMEM. */
trl_status parse_picture_add(const parse_picture *x, const trl_parse *p, uint64_t number, text *out,
                             trl_error *err);

/* After the last one: appends the end of the page, or all of the picture.  TRL_ENOMEM. */
trl_status parse_picture_end(const parse_picture *x, text *out, trl_error *err);
void parse_picture_fini(parse_picture *x);

#endif
