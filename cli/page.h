/* page.h -- pages of HTML and pictures in SVG: self-contained, for light and dark screens.
 *
 * Labels are told apart by their names; colours help and are not needed.  The colour of a kind of
 * label follows from its number alone.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "text.h"
#include "trellis/sequence.h"

#define PAGE_FONT "Inter,'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif"

/* What a page or picture is for; the same names in the settings of all verbs. */
typedef enum picture { PICTURE_NONE, PICTURE_HTML, PICTURE_SVG } picture;

/* The page up to its first section; `title` is escaped, `style` is added to the style sheet. */
void page_begin(text *t, const char *title, const char *style);
void page_end(text *t);

/* The kinds of labels of a model or of two files, in the order in which they were met. */
typedef struct page_kinds {
    trl_str *kind; /* [n], borrowed */
    size_t n, cap;
    bool failed; /* no memory: kinds are missing, and have the colour of the first */
} page_kinds;    /* zero-initialise */

/* The kind of a label: the type of a chunk, or the label itself; empty for O. */
trl_str page_kind_of(trl_str label);

void page_kinds_add(page_kinds *k, trl_str kind);
void page_kinds_fini(page_kinds *k);

/* The hue of a kind, in degrees. */
unsigned page_hue(const page_kinds *k, trl_str kind);

/* A line with all of them. */
void page_key(const page_kinds *k, text *t);

/* A probability in whole percents, which says 100 and 0 only of what is all but sure. */
void page_percent(text *t, double p);

/* The width of text in pixels: a guess, since no font is at hand. */
double page_text_width(trl_str s, double size);

#endif
