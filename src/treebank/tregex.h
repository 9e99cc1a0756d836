/* tregex.h -- signs of tregex that tree patterns do not have. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREGEX_H
#define TRL_TREGEX_H

#include <stddef.h>

/* The tregex sign that `text` begins with, and in *instead how to write it in a pattern; NULL:
 * none.  Static strings. */
const char *trl_tregex_sign(const char *text, const char **instead);

/* The same for an unquoted name of n bytes, whole; NULL: it is a name of patterns, too. */
const char *trl_tregex_name(const char *name, size_t n);

#endif
