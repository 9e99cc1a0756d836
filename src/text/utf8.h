/* utf8.h -- bytes as characters: how wide they are on a terminal, and how they are escaped for
 * terminals, JSON and XML.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_UTF8_H
#define TRL_UTF8_H

#include "base/buf.h"
#include "trellis/sequence.h"

/* The length of the character at p, of which n >= 1 bytes are left, and its code point; 0: not a
 * character (RFC 3629: shortest form, no surrogates, at most U+10FFFF). */
size_t trl_utf8_next(const char *p, size_t n, uint32_t *code);

bool trl_utf8_valid(trl_str s);

/* Columns of a character on a terminal: 0 for marks that combine, 2 for wide ones (East Asia,
 * pictographs), else 1.  From Unicode 15's EastAsianWidth and the categories Mn, Me, Cf, by
 * blocks. */
unsigned trl_utf8_columns_of(uint32_t code);

/* Columns of the string as trl_buf_shown writes it. */
size_t trl_utf8_columns(trl_str s);

/* Appends the string: control characters and bytes that are not UTF-8 become U+FFFD.  These return
 * false when memory ran out. */
bool trl_buf_shown(trl_buf *b, trl_str s);
bool trl_buf_json(trl_buf *b, trl_str s); /* in quotes, escaped */
bool trl_buf_xml(trl_buf *b, trl_str s);  /* & < > " escaped */

#endif
