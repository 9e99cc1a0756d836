/* pattern_regex.h -- the little regular expressions of Wapiti's patterns.
 *
 *     .      any byte
 *     \d \a \w \l \u \p \s    ASCII digit, letter, letter or digit, lower, upper, punctuation,
 *            space; the capital is the complement (bytes above 127 are in every complement)
 *     \x     any other x: that byte
 *     x      that byte
 *     ^ $    start and end of the string, as the very first and very last byte of the
 *            expression; elsewhere they are bytes like others
 *     * ?    after one of the above: any number, as few as will do; or none, one preferred
 *
 * The leftmost match counts.  A trailing "x*" therefore always matches nothing.
 *
 * Two deviations from Wapiti 1.5, where it breaks its own rules: a '*' or '?' with nothing to
 * repeat is refused when the expression is read, not when it is first used; and the length of a
 * match is right where Wapiti's is too long, which is when a '?' had to give a byte back ("a?ab" on
 * "abc": here "ab", there "abc").
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PATTERN_REGEX_H
#define TRL_PATTERN_REGEX_H

#include <stddef.h>

#include "trellis/status.h"

#define TRL_REGEX_MAX 1000 /* elements of an expression */

typedef struct trl_regex trl_regex; /* read-only after trl_regex_new: threads may share it */

/* TRL_EPARSE for a '*' or '?' that repeats nothing, a single backslash at the end, or an expression
 * that is too long; *at is then the offset of the fault.  TRL_ENOMEM. */
trl_status trl_regex_new(const char *s, size_t n, trl_regex **out, size_t *at, trl_error *err);
void trl_regex_free(trl_regex *re); /* accepts NULL */

typedef enum trl_regex_answer {
    TRL_REGEX_NO,
    TRL_REGEX_YES,
    TRL_REGEX_NOMEM, /* only for long strings */
} trl_regex_answer;

/* Finds the match s[*from .. *from + *len).  With m elements: O(m^2 n) steps at worst, about n
 * in practice; one bit per repeated element and byte, on the heap when above 256 bytes. */
trl_regex_answer trl_regex_find(const trl_regex *re, const char *s, size_t n, size_t *from,
                                size_t *len);

#endif
