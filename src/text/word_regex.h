/* word_regex.h -- regular expressions over the characters of a word.
 *
 *     x  \x          that character            .            any character
 *     [a-z_] [^0-9]  one of a set              \d \a \w     digit, letter, letter or digit or _
 *     \l \u          small letter, capital     \p \y \s     punctuation, symbol, blank
 *     \D \A ...      anything but these        ^  $         start, end of the word
 *     ab  a|b  (a)   one after the other, either, a group
 *     a* a+ a?  a{2}  a{2,}  a{2,4}            any number, one or more, none or one, so many
 *
 * Classes are Unicode's, and may stand in sets.  The match that starts first counts, of these the
 * longest.  An automaton follows all ways at once: O(states) a character, whatever the expression.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WORD_REGEX_H
#define TRL_WORD_REGEX_H

#include "trellis/sequence.h"

#define TRL_WORD_REGEX_MAX 2000 /* states */

typedef struct trl_word_regex trl_word_regex; /* read-only after _new: threads may share it */

/* TRL_EPARSE for an expression that is none or too large, *at is then the offset of the fault;
 * TRL_ENOMEM. */
trl_status trl_word_regex_new(trl_str s, trl_word_regex **out, size_t *at, trl_error *err);
void trl_word_regex_free(trl_word_regex *re); /* accepts NULL */

/* How many numbers a search needs. */
size_t trl_word_regex_scratch(const trl_word_regex *re);

/* Finds the match, a part of s; false: there is none. */
bool trl_word_regex_find(const trl_word_regex *re, trl_str s, size_t *scratch, trl_str *match);

#endif
