/* word_forms.h -- what a word looks like: small letters, shape, case, script.
 *
 * Words are bytes; a byte that is not UTF-8 is a character of class TRL_CHAR_OTHER, kept as it is.
 * Strings that are made lie in the arena.  These return false when memory ran out.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WORD_FORMS_H
#define TRL_WORD_FORMS_H

#include "base/arena.h"
#include "text/tokens.h"
#include "trellis/sequence.h"

bool trl_word_lower(trl_str s, trl_arena *arena, trl_str *out);

/* X capital, x small, c other letter, d digit; the rest as it is; marks are left out.  `runs_once`:
 * equal neighbours once. */
bool trl_word_shape(trl_str s, bool runs_once, trl_arena *arena, trl_str *out);

/* Every digit, of any script, as 0. */
bool trl_word_zeros(trl_str s, trl_arena *arena, trl_str *out);

/* title, upper, initial (one capital), lower, mixed, uncased, none.  Static strings, as the next
 * ones are. */
trl_str trl_word_case(trl_str s);

/* What it is made of: letters, digits, number (digits with . , : / -), letters-digits, punctuation,
 * symbols, mixed; empty for an empty word. */
trl_str trl_word_kind(trl_str s);

/* The script of its letters, "mixed" for several, "" for none: latin, greek, cyrillic, han, ... */
trl_str trl_word_script(trl_str s);

/* The script of a letter, "" when its block has none of its own, "other" beyond the table. */
const char *trl_char_script(uint32_t code);

#endif
