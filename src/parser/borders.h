/* borders.h -- where a long sentence may be cut: at its punctuation. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BORDERS_H
#define TRL_BORDERS_H

#include "trellis/sequence.h"

/* How much of a border there is before word i of n, 0 < i < n: 4 after . ? !, 3 after a semicolon,
 * 2 after a colon or a dash, and before a bracket or dash that opens, 1 after a comma, 0 elsewhere.
 * Closing quotes and brackets belong to what is before them. */
unsigned trl_border(const trl_str *word, size_t n, size_t i);

/* The length of the piece to cut off the front of n words, at most `most` of them: up to the
 * strongest border in its second half, of equal ones the last; else `most`. */
size_t trl_cut(const trl_str *word, size_t n, size_t most);

#endif
