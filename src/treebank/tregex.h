/* tregex.h -- signs of tregex that tree patterns do not have. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREGEX_H
#define TRL_TREGEX_H

/* The tregex sign that `text` begins with, and in *instead how to write it in a pattern; NULL:
 * none.  Static strings. */
const char *trl_tregex_sign(const char *text, const char **instead);

#endif
