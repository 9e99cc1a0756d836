/* compare.h -- comparing systems whose sentences were counted elsewhere. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COMPARE_H
#define TRL_COMPARE_H

#include "trellis/compare.h"

/* The counts of one sentence for one system; whole numbers. */
typedef struct trl_compare_counts {
    double tokens, right;            /* tokens, and those with the right tag */
    double gold, predicted, correct; /* chunks, or brackets */
    double whole;                    /* 1: all of them are right, else 0 */
    double errors;                   /* what the paired tests look at */
} trl_compare_counts;

/* One sentence of both systems.  TRL_ENOMEM: c is then only good for trl_compare_free. */
trl_status trl_compare_add_counts(trl_compare *c, const trl_compare_counts n[2], trl_error *err);

#endif
