/* marks.h -- text with inline marks <NAME> ... </NAME>. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MARKS_H
#define TRL_MARKS_H

#include "base/buf.h"
#include "base/strtab.h"
#include "trellis/text.h"

typedef struct trl_span {
    size_t begin, end; /* of the text without marks */
    uint32_t label;    /* of trl_marked.labels */
    size_t mark;       /* where its <NAME> is in the text with marks */
} trl_span;

/* Zero-initialise. */
typedef struct trl_marked {
    trl_buf text; /* without marks */
    trl_strtab labels;
    trl_span *span; /* by begin */
    size_t n, cap;
} trl_marked;

/* Only the fields labels, ignored and layers of the options count.  err has the place, and `name`
 * for a path.  TRL_EPARSE, TRL_EINVAL, TRL_ENOMEM. */
trl_status trl_marks_read(trl_marked *m, const char *name, trl_str text, const trl_text_options *o,
                          trl_error *err);
void trl_marked_fini(trl_marked *m);

/* Adds the names of a list, comma between.  TRL_EINVAL for an empty one, TRL_ENOMEM. */
trl_status trl_name_list(const char *list, trl_strtab *names, trl_error *err);

/* Sets the place of byte `at` of a text: line and column from 1. */
trl_status trl_fail_in_text(trl_error *err, trl_status st, const char *name, trl_str text,
                            size_t at);

#endif
