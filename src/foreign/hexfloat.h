/* hexfloat.h -- numbers as C prints them with %a, whatever the locale. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HEXFLOAT_H
#define TRL_HEXFLOAT_H

#include <stdbool.h>
#include <stddef.h>

/* All n bytes as one finite number: [-] 0x digits [. digits] p [+-] digits, where a comma may stand
 * for the point (some locales print it); or a decimal number (text/number.h).  Digits beyond the
 * 16th after the first that is not 0 must be 0: no double has more.  False: it is none, or too
 * large. */
bool trl_hexfloat_parse(const char *p, size_t n, double *out);

#endif
