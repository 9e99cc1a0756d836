/* columns.h -- sequences of tokens in columns (CoNLL, CRF++, Wapiti).
 *
 * One token a line, cells separated by runs of spaces and tabs, a blank (or all-white) line ends a
 * sequence, any number of blank lines may separate sequences.  All tokens of an input have the same
 * number of cells.  '#' has no meaning: it may be a token.  A line whose first cell is -DOCSTART-
 * (CoNLL-2003) ends a sequence as well, and is not a token, however many cells it has; it is passed
 * on with the sequence after it.
 *
 * Where tokens have more than one cell, a line before the first token of a sequence that is
 * @weight:NUMBER and nothing else is how often the sequence counts.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COLUMNS_H
#define TRL_COLUMNS_H

#include "text/input.h"
#include "trellis/sequence.h"

typedef struct trl_columns trl_columns;

/* `in` is borrowed and must outlive the reader.  TRL_ENOMEM. */
trl_status trl_columns_new(trl_input *in, trl_columns **out, trl_error *err);
void trl_columns_free(trl_columns *r); /* accepts NULL */

/* The next sequence, never an empty one; *more is false at the end of the input, where seq has
 * no tokens and its heading holds the -DOCSTART- lines that no sequence follows.  TRL_EPARSE,
 * with path:row:col, when a token does not have as many cells as the first one of the input (col
 * is the byte column, 1-based, of the first surplus cell or of the line's end) or a cell holds a
 * NUL byte. */
trl_status trl_columns_next(trl_columns *r, trl_rows *seq, bool *more, trl_error *err);

/* How often the last sequence counts: 1 unless the input says otherwise; finite, not negative. */
double trl_columns_weight(const trl_columns *r);

/* The byte column (1-based) where `column` starts on the line of token t, for messages; 0 when the
 * sequence did not come from a reader. */
uint64_t trl_rows_col(const trl_rows *seq, size_t t, size_t column);

#endif
