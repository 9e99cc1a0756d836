/* score_columns.h -- the lines of a file to be scored: first cell, gold and predicted tag. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SCORE_COLUMNS_H
#define TRL_SCORE_COLUMNS_H

#include "base/strtab.h"
#include "text/input.h"
#include "trellis/status.h"

/* The columns of one line.  `n_single` counts them as if every blank separated two (as conlleval
 * does): a line with an empty cell has the right number only by this count. */
typedef struct trl_score_columns {
    size_t n, n_single;
    trl_str first, gold, predicted; /* the first and the last two */
    trl_str pair[2];                /* the two that are scored: the last two, or as asked */
    size_t surplus;                 /* where column number `want` starts, 1-based */
} trl_score_columns;

/* Cells are borrowed from the line.  ' ' separates by runs of spaces and tabs.  `pick`: numbers,
 * from 0 on, of the columns that are scored; both 0: the last two. */
trl_score_columns trl_score_split(trl_str line, char delimiter, size_t want, const size_t pick[2]);

typedef enum trl_score_line {
    TRL_SCORE_TOKEN,
    TRL_SCORE_BOUNDARY, /* empty, -X- as conlleval has it, -DOCSTART- */
    TRL_SCORE_HEADING,  /* the probability of a labelling, as 'trellis tag --probability' writes it
                         */
    TRL_SCORE_NBEST,    /* the heading of one of several labellings */
} trl_score_line;

/* What a line is; headings stand before the first token of a sequence only. */
trl_score_line trl_score_line_type(const trl_score_columns *c, bool first);

/* `shape` is the first line of the file, or n = 0 when this is it.  TRL_EPARSE with its place
 * for fewer than two columns, another number of them, or a NUL in a tag. */
trl_status trl_score_check_columns(const trl_input *in, trl_str line, const trl_score_columns *c,
                                   const trl_score_columns *shape, const size_t pick[2],
                                   trl_error *err);

#endif
