/* names.h -- finding a word among names: exactly, by prefix, or at least the nearest. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* The k-th name of a set; NULL after the last; "" is never found. */
typedef const char *(*name_fn)(const void *set, size_t k);

#define NAME_NOT_FOUND SIZE_MAX

/* The index of the name that `word` is, or is the only one to start with.  NAME_NOT_FOUND: it
 * has been said, with what was looked for (`what`), `dash` before every name, and the nearest
 * name as a hint. */
size_t name_lookup(const char *what, const char *dash, const char *word, name_fn name,
                   const void *set);

#endif
