/* template.h -- feature templates: CRF++ templates and Wapiti 1.5 patterns, unchanged; and a
 * dialect in words, which has a header of its own (feature_list.h).
 *
 * A template line of CRF++ or Wapiti makes one attribute per position, by replacing macros in its
 * text:
 *
 *     %x[row,col]        the cell `col` (absolute) of the token `row` (relative)
 *     %t[row,col,"re"]   "true" / "false": does the cell match the regular expression
 *     %m[row,col,"re"]   the part of the cell that matches, or nothing
 *     %X %T %M           the same, with ASCII upper case lowered
 *     @row               absolute position: @1 first token, @-1 last
 *
 * The first letter says what the attribute scores: u/U the label, b/B the label pair, t/T the
 * label triple (ours, order 2), * label and pair.  The two dialects are told apart by what
 * only Wapiti has (lower-case first letters, '*', %t, %m, capitals, '@'); one such thing
 * anywhere makes the whole file Wapiti's:
 *
 *                      CRF++                              Wapiti 1.5
 *     rows outside     _B-1 _B-2 ...  _B+1 _B+2 ...       _x-1 .. _x-4 _x-#  _x+1 .. _x+4 _x+#
 *     first letter     as written                         lower case
 *     '#'              comment if first on the line       comment anywhere, in quotes too
 *     trailing blanks  kept                               dropped
 *
 * (Wapiti's manual says _X, its program _x.)  %t and %m look at the `_x-1` too.  Blanks and a '+'
 * may precede a number, as in Wapiti; '%' always starts a macro.  Regular expressions are Wapiti's:
 * see pattern_regex.h.
 *
 * A parsed template is read-only and may be shared by threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEMPLATE_H
#define TRL_TEMPLATE_H

#include "base/buf.h"
#include "feature/feature_list.h"
#include "text/columns.h"

enum { TRL_ON_LABEL = 1, TRL_ON_PAIR = 2, TRL_ON_TRIPLE = 4 };

typedef struct trl_template trl_template;

/* Parses the text of a template file; `name` is for messages.  TRL_EPARSE with row:col for a line
 * that is not a template line, a bad macro or a bad regular expression; TRL_ENOMEM. */
trl_status trl_template_parse(const char *name, const char *text, size_t n, trl_template **out,
                              trl_error *err);
void trl_template_free(trl_template *t); /* accepts NULL */

/* The list of features of a template in words, NULL for the other dialects.  Its lines, below, are
 * the features; they are expanded by feature_expand.h, not here.  Files that it names have not been
 * read. */
trl_feature_list *trl_template_list(const trl_template *t);

/* The text it was parsed from, for the model file. */
trl_str trl_template_text(const trl_template *t);

size_t trl_template_count(const trl_template *t);               /* lines that make attributes */
int trl_template_cliques(const trl_template *t, size_t k);      /* TRL_ON_... bits */
bool trl_template_is_constant(const trl_template *t, size_t k); /* has no macro */
size_t trl_template_columns(const trl_template *t); /* 1 + largest column used; 0: none */

/* Where the template first asks for the column `column` or a later one: row and col of that
 * macro in the template file, 0 and 0 when it does not. */
void trl_template_place(const trl_template *t, size_t column, uint64_t *row, uint64_t *col);

/* Appends to `out` the attribute that line k makes at position pos.  Every column it uses must
 * exist in seq.  False when memory ran out. */
bool trl_template_expand(const trl_template *t, size_t k, const trl_rows *seq, size_t pos,
                         trl_buf *out);

/* ---- what a line is made of: for programs that reason about its attributes; not in words ------
 */

/* The attribute is its pieces one after the other; piece 0 is the first letter. */
typedef struct trl_piece {
    bool macro;    /* else literal text */
    bool plain;    /* %x: the cell as it is */
    bool absolute; /* @row */
    int64_t row;   /* as written: relative, or 1, 2, ..., -1, -2, ... when absolute */
    size_t column;
    trl_str text; /* literal text; lives as long as the template */
} trl_piece;

size_t trl_template_pieces(const trl_template *t, size_t k);
trl_piece trl_template_piece(const trl_template *t, size_t k, size_t i);

/* Appends what macro i makes of the cell v.  False when memory ran out. */
bool trl_template_apply(const trl_template *t, size_t k, size_t i, trl_str v, trl_buf *out);

/* The cell that stands for a row outside: distance -1, -2, ... before, 1, 2, ... after the
 * sequence. */
trl_str trl_template_outside(const trl_template *t, int64_t distance, char scratch[24]);

#endif
