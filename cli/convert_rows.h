/* convert_rows.h -- sequences before they are written: columns chosen, labels in another scheme. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_ROWS_H
#define CLI_CONVERT_ROWS_H

#include "convert.h"

/* What is to become of the columns of a sequence. */
typedef struct convert_plan {
    convert_format from, to;
    const char *columns; /* the list of the user, or NULL */
    trl_scheme scheme;   /* TRL_SCHEME_NONE: labels as they are */
    bool unlabelled;

    size_t *pick;       /* [n] columns of the input */
    const char **made;  /* [n] the name of a column to make of the first one, or NULL */
    const char **place; /* [n] their names in CoNLL-U */
    size_t n, n_input;
    char *list;    /* the user's, cut into names */
    trl_str *cell; /* [tokens][n] */
    char *label;   /* text of labels */
    size_t cell_cap, label_cap;
    char *prefix;
    size_t prefix_cap;
    convert_memory memory;
    trl_buf cells; /* of columns that are made */
} convert_plan;

void convert_plan_fini(convert_plan *p);

/* The sequence as it is to be written; `out` points into the plan and the sequence.  TRL_EINVAL for
 * columns that there are not, TRL_ENOMEM. */
trl_status convert_apply(convert_plan *p, const trl_rows *rows, trl_rows *changed,
                         convert_sequence *out, trl_error *err);

/* The place of token t's label in its file, on line `row`, for messages. */
void convert_place(const trl_rows *rows, uint64_t row, size_t t, trl_error *err);

#endif
