/* known.h -- what a file says about sentences before they are parsed.
 *
 *     3 2-5 NP     words 2 to 5 of sentence 3 are an NP; '*' any constituent, '!' none
 *     3 4 =NN      word 4 has the tag NN
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_KNOWN_H
#define CLI_KNOWN_H

#include <stdbool.h>

#include "trellis/parser.h"

typedef struct known_list {
    char *text;
    trl_known *item; /* by sentence */
    uint64_t *sentence, *row; /* of each item; the row in the file */
    size_t n, cap;
} known_list; /* zero-initialise */

/* False: said. */
bool known_read(known_list *k, const char *path);
void known_fini(known_list *k);

/* Those of one sentence, counted from 1. */
const trl_known *known_of(const known_list *k, uint64_t sentence, size_t *n);

/* Warns of what is said about sentences that are not there, `sentences` having been read. */
void known_check(const known_list *k, const char *path, uint64_t sentences);

#endif
