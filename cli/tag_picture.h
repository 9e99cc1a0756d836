/* tag_picture.h -- labelled sequences as a page (HTML) or as one picture (SVG).
 *
 * A chunk is a box with its words above its name, filled the more the more probable it is; what is
 * outside of chunks is plain text, underlined with dots where that is not sure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_PICTURE_H
#define CLI_TAG_PICTURE_H

#include "page.h"
#include "trellis/tagger.h"

/* One sequence with its labels. */
typedef struct tag_shown {
    size_t n;
    const trl_str *word;
    const uint32_t *path; /* [n] labels */
    const trl_tag_span *span;
    size_t n_spans;     /* the chunks of the labels, in order */
    const double *p;    /* [n][n_labels] marginals; NULL: the model has none */
    double probability; /* of the labelling; NaN: not known */
    uint64_t number;
    bool document;      /* the first of one */
    const char *layer;  /* what labels these are, where there are several kinds; NULL */
    size_t first_label; /* those that could be: n_layer_labels from here on; 0: all */
    size_t n_layer_labels;
} tag_shown;

typedef struct tag_picture {
    picture as;
    const trl_str *label; /* [n_labels], borrowed */
    size_t n_labels;
    page_kinds kinds;
    double height;   /* SVG: of what was added so far */
    uint32_t *order; /* [n_labels] scratch */
} tag_picture;

/* Borrows the labels.  False: no memory; to be followed by fini in any case. */
bool tag_picture_init(tag_picture *x, picture as, const trl_str *label, size_t n_labels);
void tag_picture_fini(tag_picture *x);

void tag_picture_add(tag_picture *x, const tag_shown *seq, text *out);

/* What stands before and after all sequences.  Of an SVG picture the beginning needs its height:
 * begin is called after the last _add. */
void tag_picture_begin(const tag_picture *x, const char *title, text *out);
void tag_picture_end(const tag_picture *x, text *out);

#endif
