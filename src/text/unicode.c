/* unicode.c -- looking code points up. */
/* SPDX-License-Identifier: MIT */
#include "text/unicode.h"

#include <stddef.h>

typedef struct lower_range {
    uint32_t first, last;
    int32_t add;
} lower_range;

#define PAIRS 11u /* capitals and small letters in turn; one more class of the table */

#include "text/unicode_table.inc"

static uint32_t range_of(uint32_t code)
{
    size_t low = 0, high = sizeof class_start / sizeof *class_start;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (class_start[middle] >> 4 <= code)
            low = middle;
        else
            high = middle;
    }
    return class_start[low];
}

const unsigned char trl_ascii_classes[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0,  1,  1,  1, 1, 1, 0, 0, 0,  0,  0,  0, 0,  0, 0,  0, 0, 0,
    0, 0, 0, 0, 0, 0, 1, 9, 9,  9,  10, 9, 9, 9, 9, 9, 9,  10, 9,  9, 9,  9, 7,  7, 7, 7,
    7, 7, 7, 7, 7, 7, 9, 9, 10, 10, 10, 9, 9, 2, 2, 2, 2,  2,  2,  2, 2,  2, 2,  2, 2, 2,
    2, 2, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2, 2, 9, 9, 9, 10, 9,  10, 3, 3,  3, 3,  3, 3, 3,
    3, 3, 3, 3, 3, 3, 3, 3, 3,  3,  3,  3, 3, 3, 3, 3, 3,  3,  3,  9, 10, 9, 10, 0,
};

trl_char_class trl_char_class_of(uint32_t code)
{
    if (code < 128)
        return trl_ascii_class(code);
    const uint32_t range = range_of(code), class = range & 15;
    if (class != PAIRS)
        return (trl_char_class) class;
    return (code - (range >> 4)) % 2 == 0 ? TRL_CHAR_UPPER : TRL_CHAR_LOWER;
}

uint32_t trl_char_lower(uint32_t code)
{
    if (code < 128)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    const uint32_t range = range_of(code);
    if ((range & 15) == PAIRS)
        return (code - (range >> 4)) % 2 == 0 ? code + 1 : code;
    size_t low = 0, high = sizeof lower_case / sizeof *lower_case;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (lower_case[middle].first <= code)
            low = middle;
        else
            high = middle;
    }
    const lower_range *r = &lower_case[low];
    return code >= r->first && code <= r->last ? (uint32_t)((int64_t)code + r->add) : code;
}
