/* cold_tokens.h -- the tokens at which cold attributes are on, numbered among themselves.
 *
 * The gradient of a cold attribute is the sum of the adjoints at its tokens (trl_scatter_cold),
 * which a pass over the examples leaves in a table.  Where hot attributes cover most of the data,
 * few tokens are in such a sum, and the table has a row (a *place*) for these alone.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COLD_TOKENS_H
#define TRL_COLD_TOKENS_H

#include "feature/design.h"

typedef struct trl_cold_tokens {
    size_t n;                /* places */
    const trl_design *lists; /* for trl_scatter_cold: tokens of cold attributes, singletons left
                                out, are places */
    bool all;                /* every token has the place of its number: `lists` is the design */
    trl_design own;          /* otherwise: the design, but that ... */
    uint32_t *place;         /* ... its lists of tokens are these */
    uint64_t *on;            /* [n_tokens / 64 + 1] bits: the token has a place */
    size_t *before;          /* [n_tokens / 64 + 1] places before those of the word */
} trl_cold_tokens;

/* The design is borrowed, *c is not to be moved.  TRL_ENOMEM; free *c also then. */
trl_status trl_cold_tokens_build(trl_cold_tokens *c, const trl_design *d, trl_error *err);
void trl_cold_tokens_fini(trl_cold_tokens *c);

/* Unless `all`: table[place] = row[k] of the tokens from + k, k < n, that have places; rows of both
 * are `step` of family 0 long. */
void trl_cold_tokens_put(const trl_cold_tokens *c, size_t from, size_t n, const float *row,
                         float *table);

#endif
