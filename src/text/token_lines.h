/* token_lines.h -- what formats share that have a token a line, blanks between its words, and a
 * blank line after each sequence: MALLET's and GRMM's. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TOKEN_LINES_H
#define TRL_TOKEN_LINES_H

#include "base/arena.h"
#include "text/input.h"
#include "trellis/sequence.h"

/* Attributes of the tokens of a sequence; zero-initialise, release attr and begin. */
typedef struct trl_token_attrs {
    size_t *begin; /* [n_tokens + 1], set by the caller */
    trl_attr *attr;
    size_t n, attr_cap, begin_cap;
} trl_token_attrs;

/* Room for begin[0 .. n_tokens + 1].  False: no memory. */
bool trl_token_attrs_room(trl_token_attrs *a, size_t n_tokens);
bool trl_token_attrs_add(trl_token_attrs *a, trl_str name); /* with the value 1 */
void trl_token_attrs_fini(trl_token_attrs *a);

/* The next word of a line that ends with LF, after blanks; empty at its end. */
trl_str trl_next_word(const char **p);

/* One line, LF at its end, without NUL, not blank. */
typedef trl_status (*trl_token_line_fn)(void *ctx, const char *line, trl_error *err);

/* Calls `add` for every line of the next sequence, in the arena, which is reset first; *n is their
 * number, 0 at the end of the input, and *first_row the row of the first.  TRL_EPARSE for a NUL
 * byte, TRL_EIO, TRL_ENOMEM, and what `add` returns. */
typedef struct trl_token_lines {
    trl_input *in;
    trl_arena *text;
    trl_token_line_fn add;
    void *ctx;
} trl_token_lines;
trl_status trl_token_lines_next(const trl_token_lines *x, size_t *n, uint64_t *first_row,
                                trl_error *err);

#endif
