/* place_cursor.h -- the fields of a line that names a place: `3 4 ...` or `3 2-5 ...`.
 *
 * Shared by the files of constraints on labels and on trees.  Nothing is copied: words are borrowed
 * from the line.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEXT_PLACE_CURSOR_H
#define TRL_TEXT_PLACE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/sequence.h"

typedef struct trl_place_cursor {
    const char *p, *end;
} trl_place_cursor;

void trl_place_skip_blanks(trl_place_cursor *c);

/* A number from 1 to 2^53, more than there are words or sentences. */
bool trl_place_number(trl_place_cursor *c, uint64_t *x);

/* What there is up to the next blank, perhaps nothing. */
trl_str trl_place_word(trl_place_cursor *c);

#endif
