/* reliability.h -- do probabilities mean what they say?
 *
 * Of all answers that were given with probability 0.8, eight of ten should be right.  Answers are
 * put into bins of equal width by their probability, and in each the mean probability is compared
 * with the share of right ones [GPSW17]:
 *
 *     Brier  = mean of (p - [right])^2                     0 best; of p = 1/2 always 1/4
 *     ECE    = sum over bins of n_bin / n |right_bin - p_bin|   expected calibration error
 *
 * The Brier score also grows with errors, the ECE says nothing of how many there are.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_RELIABILITY_H
#define TRELLIS_RELIABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/status.h"

TRL_BEGIN_DECLS

#define TRL_RELIABILITY_BINS 100 /* at most */

typedef struct trl_reliability_bin {
    uint64_t n, right;
    double sum; /* of the probabilities */
} trl_reliability_bin;

/* Counts; set n_bins (1 to TRL_RELIABILITY_BINS), all else 0. */
typedef struct trl_reliability {
    size_t n_bins;
    trl_reliability_bin bin[TRL_RELIABILITY_BINS]; /* k: p in [k, k + 1) / n_bins; 1 in the last */
    double squares;
} trl_reliability;

/* An answer; p outside of [0, 1] counts as the nearer end, NaN as 0. */
TRL_API void trl_reliability_add(trl_reliability *r, double p, bool right);

typedef struct trl_reliability_totals {
    uint64_t n, right;
    double accuracy, confidence; /* share of right answers, mean probability: 0 of no answers */
    double brier, ece, largest;  /* largest: of the differences of bins that are not empty */
} trl_reliability_totals;

TRL_API trl_reliability_totals trl_reliability_get(const trl_reliability *r);

/* What a tagged file tells of. */
typedef enum trl_reliable {
    TRL_RELIABLE_TOKENS,     /* the label of a token */
    TRL_RELIABLE_SPANS,      /* a chunk with its type */
    TRL_RELIABLE_BOUNDARIES, /* its first and last token */
    TRL_RELIABLE_SEQUENCES,  /* the whole labelling */
    TRL_N_RELIABLE,
} trl_reliable;

/* Adds what 'trellis tag --confidence' printed of data with a label column: r[TRL_N_RELIABLE], each
 * with its n_bins.  Of 'trellis tag --marginals' there are tokens alone (and sequences, with
 * --probability).  "-": standard input.  TRL_EPARSE with its place for another number of columns,
 * no probabilities, or one outside of [0, 1]; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_reliability_file(const char *path, trl_reliability *r, trl_error *err);

/* Adds the constituents that 'trellis parse --spans' listed, every one of them, with the trees that
 * are right, one for each sentence (cleaned as parsers do).  TRL_EPARSE, TRL_EIO, TRL_ENOMEM;
 * TRL_EINVAL when there are more or fewer sentences than trees. */
TRL_API trl_status trl_reliability_trees(const char *gold, const char *spans, trl_reliability *r,
                                         trl_error *err);

/* The same, and the trees that 'trellis parse' printed with their probabilities (--probability,
 * --nbest): every one of them is an answer, and is right when it has all nodes of the true tree and
 * no other.  Without empty lines in it the file has one tree for each sentence.  Either of the two
 * may be NULL. */
TRL_API trl_status trl_reliability_parses(const char *gold, const char *parsed,
                                          trl_reliability *constituents, trl_reliability *trees,
                                          trl_error *err);

TRL_END_DECLS

#endif
