/* parseval_functions.h -- function labels (SBJ, TMP) of the brackets that two trees share. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_FUNCTIONS_H
#define TRL_PARSEVAL_FUNCTIONS_H

#include "score/parseval_match.h"

typedef struct trl_function_count {
    uint64_t gold, test, match;
} trl_function_count;

typedef struct trl_function_counts {
    trl_strtab names;
    trl_function_count *count; /* [names] */
    size_t cap;
    uint64_t brackets, exact; /* matched brackets; those with the same function labels */
} trl_function_counts;        /* zero-initialise */

void trl_function_counts_fini(trl_function_counts *c);
void trl_function_counts_reset(trl_function_counts *c);

/* Makes room for the function labels of a pair.  TRL_ENOMEM. */
trl_status trl_function_counts_room(trl_function_counts *c, const trl_side_pair *pair,
                                    trl_error *err);

/* Counts those of the brackets that match; after _room it cannot fail. */
void trl_function_counts_add(trl_function_counts *c, const trl_side_pair *pair);

/* As trl_parseval_function. */
bool trl_function_counts_get(const trl_function_counts *c, size_t k, trl_parseval_function *out);

#endif
