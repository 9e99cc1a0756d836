/* unicode.h -- the class of a code point, and its small letter.
 *
 * A table of our own (unicode_table.inc), of one version of Unicode: what features see of a word
 * must not depend on the machine that a model is used on.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_UNICODE_H
#define TRL_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum trl_char_class {
    TRL_CHAR_OTHER, /* control characters, private and unassigned ones */
    TRL_CHAR_BLANK, /* spaces of any width, tabs, line ends */
    TRL_CHAR_UPPER, /* capitals, title case */
    TRL_CHAR_LOWER,
    TRL_CHAR_LETTER,    /* without case */
    TRL_CHAR_IDEOGRAPH, /* Han and Hiragana: every one may be a word */
    TRL_CHAR_MARK,      /* combines with the character before it; joiners, invisible formats */
    TRL_CHAR_DIGIT,     /* of any script */
    TRL_CHAR_NUMBER,    /* other numbers: fractions, Roman, in circles */
    TRL_CHAR_PUNCTUATION,
    TRL_CHAR_SYMBOL, /* currencies, mathematics, pictographs */
} trl_char_class;

trl_char_class trl_char_class_of(uint32_t code);

/* The same of codes below 128, by a table: most of most texts. */
extern const unsigned char trl_ascii_classes[128];
static inline trl_char_class trl_ascii_class(uint32_t code)
{
    return (trl_char_class)trl_ascii_classes[code];
}

/* The small letter of a capital that has one of one character; else the code point itself. */
uint32_t trl_char_lower(uint32_t code);

static inline bool trl_char_is_letter(trl_char_class c)
{
    return c >= TRL_CHAR_UPPER && c <= TRL_CHAR_IDEOGRAPH;
}

#endif
