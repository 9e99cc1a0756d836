/* entity_marks.h -- named entities marked in running text: [PER Anna Berg] met ...
 *
 * The words are known beforehand, from a tree, and decide what a token is: one that equals the
 * expected word is that word, even if it has brackets in it.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ENTITY_MARKS_H
#define TRL_ENTITY_MARKS_H

#include "base/strtab.h"
#include "text/input.h"

/* n words, `step` apart. */
typedef struct trl_word_column {
    const trl_str *words;
    size_t step;
    size_t n;
} trl_word_column;

/* Reads the IOB2 tags of words[0 .. n) (`step` apart) from a line of `in`, for tag[0 .. n) as
 * ids of `tags`, where they are added.  TRL_EPARSE, with path:row:col, when the line has other
 * words or marks that are nested, empty, untyped or not closed; TRL_ENOMEM. */
trl_status trl_entity_marks(const trl_input *in, trl_str line, const trl_word_column *x,
                            trl_strtab *tags, uint32_t *tag, trl_error *err);

#endif
