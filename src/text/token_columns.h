/* token_columns.h -- what columns say of the tokens of a text: shape, place in the line, times...
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TOKEN_COLUMNS_H
#define TRL_TOKEN_COLUMNS_H

#include "base/arena.h"
#include "text/word_forms.h"
#include "trellis/text.h"

/* Tokens and the text they are of: all lines of the first and the last one are whole. */
typedef struct trl_token_text {
    trl_str text;
    const trl_token *token;
    size_t n;
} trl_token_text;

/* Fills cell[t * stride], t < n, with column `column` of trl_text_columns.  Cells point into the
 * text, the arena or constants.  False: no memory. */
bool trl_token_column(const trl_token_text *x, size_t column, trl_arena *arena, trl_str *cell,
                      size_t stride);

/* The number of the column of that name; SIZE_MAX: there is none. */
size_t trl_token_column_find(trl_str name);

/* Parts of token_columns.c: they fill a column from the left to the right. */
void trl_time_column(const trl_token_text *x, trl_str *cell, size_t stride);
void trl_date_column(const trl_token_text *x, trl_str *cell, size_t stride);
void trl_name_column(const trl_token_text *x, trl_str *cell, size_t stride);

static inline trl_str trl_token_str(const trl_token_text *x, size_t t)
{
    return (trl_str){x->text.p + x->token[t].begin, x->token[t].end - x->token[t].begin};
}

#endif
