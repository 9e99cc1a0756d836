/* sums.h -- sums of weights by atomic feature, and their extremes.
 *
 * Weights are whole numbers (multiples of a unit), so that sums do not depend on the order of their
 * terms: rows may be added and subtracted by any number of threads, with the same bits.
 *
 * The gain of a split, as a function of the sum S of the examples with the feature,
 *
 *     G(S) + G(T - S),   G(x) = max(0, |x| - lambda),   T the sum of all examples of the node,
 *
 * is convex: no feature beats both the one with the largest S and the one with the smallest.  So
 * the search for a split is a search for extremes; blocks of 64 features store theirs.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_SUMS_H
#define TRL_BOOST_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRL_SUMS_BLOCK 64

typedef struct trl_sums {
    size_t n_blocks;
    int64_t *sum;         /* [n_blocks * 64], 0 after the last feature */
    int64_t *low, *high;  /* [n_blocks] of blocks that are not stale */
    unsigned char *state; /* [n_blocks] TRL_SUMS_STALE, TRL_SUMS_USED */
} trl_sums;

enum { TRL_SUMS_STALE = 1, TRL_SUMS_USED = 2 };

bool trl_sums_init(trl_sums *s, size_t n_features); /* false: out of memory; _fini is safe */
void trl_sums_fini(trl_sums *s);
void trl_sums_clear(trl_sums *s);

/* All sums from an array of n_blocks * 64. */
void trl_sums_set(trl_sums *s, const int64_t *sum);

/* Adds w to the sums of n features. */
void trl_sums_add(trl_sums *s, const uint32_t *id, size_t n, int64_t w);

/* Adds an array of n_blocks * 64 and empties it. */
void trl_sums_take(trl_sums *s, int64_t *side);
void trl_sums_put(trl_sums *s, uint32_t id, int64_t sum);

typedef struct trl_extremes {
    int64_t low, high;
    uint32_t low_at, high_at; /* the first feature that has it */
} trl_extremes;
trl_extremes trl_sums_extremes(trl_sums *s);

#endif
