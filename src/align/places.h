/* places.h -- posteriors and best alignments of one sentence pair, given t and the places' model.
 *
 * Arrays of a pair: t[i * (l + 1) + j], j = 0 for NULL; i < m.  Linear probabilities.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ALIGN_PLACES_H
#define TRL_ALIGN_PLACES_H

#include "trellis/align.h"

#define TRL_ALIGN_LEARNT                                                                           \
    100 /* IBM 2 learns places of pairs up to this length; others are uniform */

/* What a direction knows besides t. */
typedef struct trl_places {
    trl_align_model model;
    double null;
    /* IBM 2: a(j | i, l, m) at place_at[l * (TRL_ALIGN_LEARNT + 1) + m] + i * (l + 1) + j;
     * UINT32_MAX: no such pair was seen, uniform */
    uint32_t *place_at;
    double *place;
    size_t n_places;
    /* HMM: weight of a jump of d at jump[d + TRL_ALIGN_LONGEST], d = -LONGEST .. LONGEST */
    double *jump;
} trl_places;

#define TRL_JUMPS (2 * TRL_ALIGN_LONGEST + 1)

/* Scratch of one thread; zero-initialise. */
typedef struct trl_place_scratch {
    double *block;
    size_t cap;
} trl_place_scratch;
void trl_place_scratch_fini(trl_place_scratch *s);

/* Expected counts of the places' own parameters, in whole units of 2^-32: sums in any order. */
typedef struct trl_place_counts {
    uint64_t *place; /* [n_places] */
    uint64_t *jump;  /* [TRL_JUMPS] by width */
    uint64_t *from;  /* [(LONGEST + 1) * (LONGEST + 1)] jumps from place j' (0: the start), by l */
} trl_place_counts;

/* Lengths of a pair of sentences and their translation probabilities. */
typedef struct trl_place_pair {
    size_t l;
    size_t m;
    const double *t;
} trl_place_pair;

/* posterior[i][j] of every link and ln p(f | e).  counts: NULL, or added to.  False: out of memory.
 */
bool trl_places_posterior(const trl_places *p, const trl_place_pair *x, double *posterior,
                          double *log_p, trl_place_counts *counts, trl_place_scratch *s);

/* best[i]: the source word of target word i in the most probable alignment, 0 for NULL; the first
 * of equals, NULL after words. */
bool trl_places_best(const trl_places *p, size_t l, size_t m, const double *t, uint32_t *best,
                     trl_place_scratch *s);

/* New parameters from counts.  IBM 2: a proportional to its counts.  HMM: the weights of jumps by
 * one step of a minorisation of the expected log-likelihood
 *
 *     sum_d n(d) ln c(d) - sum_{j',l} N(j', l) ln sum_j c(j - j'):
 *     c(d) = n(d) / sum_{(j', l): 1 <= j' + d <= l} N(j', l) / Z_old(j', l)
 *
 * which never lowers it [Hunter, Lange. A tutorial on MM algorithms. Am. Stat. 58(1), 2004]. */
void trl_places_update(trl_places *p, const trl_place_counts *counts);

#endif
