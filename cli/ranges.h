/* ranges.h -- lists of numbers as users write them: 3-7,12,20- */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ranges {
    struct range {
        size_t from, to;
    } * item;
    size_t n, cap;
} ranges; /* zero-initialise; empty: all numbers */

/* `shown` is what the option is called; NULL text: all numbers.  The exit code: CLI_USAGE, and
 * it has been said, when the text is not a list. */
int ranges_parse(ranges *r, const char *shown, const char *text);
void ranges_fini(ranges *r);

/* Two numbers from 0 on, as in 3,5.  As ranges_parse. */
int ranges_pair(const char *shown, const char *text, size_t out[2]);

bool ranges_have(const ranges *r, size_t number);
size_t ranges_last(const ranges *r); /* the highest number; SIZE_MAX: no end */

#endif
