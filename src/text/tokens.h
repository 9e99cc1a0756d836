/* tokens.h -- the parts of the tokeniser. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TOKENS_H
#define TRL_TOKENS_H

#include "text/unicode.h"
#include "trellis/text.h"

/* One character of a text: its length (1 for a byte that is not UTF-8, which is then of class
 * TRL_CHAR_OTHER; 0 at the end), code point and class. */
typedef struct trl_char {
    size_t n;
    uint32_t code;
    trl_char_class class;
} trl_char;

trl_char trl_char_decode(trl_str text, size_t at); /* of any kind */
static inline trl_char trl_char_at(trl_str text, size_t at)
{
    if (at < text.n && (unsigned char)text.p[at] < 128)
        return (trl_char){1, (unsigned char)text.p[at], trl_ascii_class((unsigned char)text.p[at])};
    return trl_char_decode(text, at);
}
trl_char trl_char_before(trl_str text, size_t at);

/* Where the token that starts at `at` ends; there is no blank at `at`. */
size_t trl_token_end(trl_str text, size_t at, trl_grain grain, trl_token_kind *kind);

/* Where the URL, address, @name or #topic that starts at `at` ends; `at` when there is none. */
size_t trl_link_end(trl_str text, size_t at);

/* Is word an abbreviation, given that a full stop follows it (the word is without it) and, after
 * that, the text `rest`? */
typedef enum trl_abbreviation {
    TRL_ABBREVIATION_NONE,
    TRL_ABBREVIATION_TITLE, /* a name or number follows: never ends a sentence */
    TRL_ABBREVIATION_OTHER, /* may end a sentence as well */
} trl_abbreviation;

trl_abbreviation trl_abbreviation_of(trl_str word, trl_str rest);

/* Does a sentence end between two tokens?  `token` is the second one, token[-1] the first. */
bool trl_sentence_ends(trl_str text, const trl_token *first, const trl_token *token);

#endif
