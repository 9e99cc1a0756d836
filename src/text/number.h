/* number.h -- decimal numbers in text, whatever the locale.
 *
 *     [+-] digits [. digits] [e [+-] digits]       at least one digit before the 'e'
 *
 * No blanks, no hexadecimal, no grouping.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_NUMBER_H
#define TRL_NUMBER_H

#include <stddef.h>

typedef enum trl_number {
    TRL_NUMBER_OK,
    TRL_NUMBER_BAD,        /* the bytes are not a number */
    TRL_NUMBER_NOT_FINITE, /* inf, infinity, nan, nan(...) in either case, or too large for a double
                            */
} trl_number;

/* All n bytes as one number, correctly rounded (ties to even) into *out; numbers too small for
 * a double become zero.  *out is set only when the answer is TRL_NUMBER_OK. */
trl_number trl_number_parse(const char *p, size_t n, double *out);

#endif
