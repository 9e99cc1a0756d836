/* format.h -- printf with a decimal point, whatever locale the host program has set.
 *
 * Models, dumps, JSON and messages are the same bytes everywhere.  Reading: text/number.h.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FORMAT_H
#define TRL_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As snprintf and vsnprintf in the "C" locale. */
int trl_snprintf(char *out, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int trl_vsnprintf(char *out, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

#endif
