/* compare.h -- is the difference between two systems more than chance?
 *
 * Two systems, A and B, processed the same n units (sentences).  Differences are B - A throughout;
 * all p-values are two-sided: the probability of a difference at least as large if the systems were
 * equally good.
 *
 *     McNemar        units that only one system got wholly right: only_a against only_b, a fair
 *                    coin when the systems are alike [McN47].  Exact binomial below
 *                    TRL_MCNEMAR_EXACT of them, beyond it chi-square with one degree of freedom,
 *                    (|only_a - only_b| - 1)^2 / (only_a + only_b) [Edw48]
 *     paired t       mean of b_i - a_i over its standard error, n - 1 degrees of freedom
 *     Wilcoxon       signed ranks of b_i - a_i, zeros left out, ties share their ranks [Wil45];
 *                    what differs by less than 1e-12 of the largest value, by rounding, is equal.
 *                    Exact up to TRL_WILCOXON_EXACT differences without ties, beyond it, and
 *                    with ties whatever their number, normal with corrections for ties and
 *                    continuity
 *     Holm           p-values of several tests at once, made larger so that the probability of any
 *                    false alarm among them is at most the level [Hol79]
 *     bootstrap      units drawn with replacement [ET93]: the interval holds the middle of the
 *                    resampled differences d*, p counts those with |d* - d| >= |d| [BBK12]
 *
 * The functions on arrays serve any measurements; trl_compare reads tagged files and trees.
 *
 * [BBK12] Berg-Kirkpatrick, Burkett, Klein. An empirical investigation of statistical significance
 *         in NLP. EMNLP 2012, sec. 2.
 * [Edw48] Edwards. Note on the correction for continuity. Psychometrika 13, 1948.
 * [ET93]  Efron, Tibshirani. An introduction to the bootstrap. 1993, ch. 13 and 16.
 * [Hol79] Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of
 *         Statistics 6, 1979.
 * [McN47] McNemar. Note on the sampling error of the difference. Psychometrika 12, 1947.
 * [Wil45] Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_COMPARE_H
#define TRELLIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/parseval.h"
#include "trellis/status.h"

TRL_BEGIN_DECLS

#define TRL_MCNEMAR_EXACT 25
#define TRL_WILCOXON_EXACT 50

/* ---- tests on arrays ------------------------------------------------------------------------- */

typedef struct trl_test {
    double statistic;
    double p;
    size_t n; /* units that were counted */
    bool exact;
} trl_test;

/* statistic: chi-square, or the smaller count when exact.  No unit at all: p = 1. */
TRL_API trl_test trl_mcnemar(uint64_t only_a, uint64_t only_b);

/* statistic: t.  p is 1 when all differences are 0, 0 when all are the same number other than 0,
 * and NaN for n < 2 or a value that is not finite. */
TRL_API trl_test trl_paired_t(size_t n, const double *a, const double *b);

/* statistic: the sum of the ranks of positive b_i - a_i.  O(n log n).  TRL_EINVAL for a value
 * that is not finite, TRL_ENOMEM; *out is then untouched. */
TRL_API trl_status trl_wilcoxon(size_t n, const double *a, const double *b, trl_test *out,
                                trl_error *err);

typedef struct trl_bootstrap_options {
    uint64_t resamples, seed; /* 10000, 1 */
    double confidence;        /* of the interval: 0.95 */
} trl_bootstrap_options;

TRL_API trl_bootstrap_options trl_bootstrap_options_default(void);

typedef struct trl_bootstrap {
    double difference, low, high, p;
} trl_bootstrap;

/* Compares the means of a and b.  O(n resamples); the same seed gives the same bits.  TRL_EINVAL
 * for n = 0, no resamples or a confidence outside (0, 1); TRL_ENOMEM; *out is then untouched. */
TRL_API trl_status trl_bootstrap_mean(size_t n, const double *a, const double *b,
                                      const trl_bootstrap_options *options, trl_bootstrap *out,
                                      trl_error *err);

/* Corrects n p-values: with the k-th smallest p of n, adjusted = max over j <= k of
 * min(1, (n - j + 1) p_j).  NaN stays NaN and counts as a test.  `adjusted` may be `p`.  O(n log
 * n). TRL_EINVAL for NULL, TRL_ENOMEM; `adjusted` is then untouched. */
TRL_API trl_status trl_holm(size_t n, const double *p, double *adjusted, trl_error *err);

/* ---- two taggings of the same sentences ------------------------------------------------------ */

typedef struct trl_compare trl_compare;

TRL_API trl_status trl_compare_new(trl_compare **out, trl_error *err); /* TRL_ENOMEM */
TRL_API void trl_compare_free(trl_compare *c);                         /* accepts NULL */

/* One sentence of n > 0 tokens: its true tags and the two systems' (NUL-terminated, borrowed
 * during the call).  TRL_ENOMEM: c is then only good for trl_compare_free. */
TRL_API trl_status trl_compare_add(trl_compare *c, size_t n, const char *const *gold,
                                   const char *const *a, const char *const *b, trl_error *err);

/* The columns of the tags, from 0 on, in the file of gold and in those of the systems; both 0 (the
 * default): the last one of each.  To be set before files are read. */
TRL_API void trl_compare_set_columns(trl_compare *c, size_t gold, size_t systems);

/* Three files that are read side by side. */
typedef struct trl_compare_paths {
    const char *gold, *a, *b;
} trl_compare_paths;

/* Reads three column files side by side; the last column of each, or as set, is the tag.
 * TRL_EPARSE, with path:row:col, where the sentences or the tokens (first columns; a file of tags
 * alone has none) are not the same; TRL_EIO; TRL_ENOMEM.  After a failure c is only good for
 * trl_compare_free. */
TRL_API trl_status trl_compare_files(trl_compare *c, const trl_compare_paths *path, trl_error *err);

/* Reads three files of trees, a sentence a line, and counts brackets as parseval.h says;
 * options->max_errors and max_length do not matter.  A sentence that is an error or skipped in A or
 * B is left out of both and counted in *left_out.  TRL_EPARSE, with the path, when the files do not
 * have the same number of lines; TRL_EPARSE, TRL_EINVAL, TRL_EIO, TRL_ENOMEM as trl_parseval_new.
 * After a failure c is only good for trl_compare_free.  Do not add tags to the same c. */
TRL_API trl_status trl_compare_trees(trl_compare *c, const trl_parseval_options *options,
                                     const trl_compare_paths *path, uint64_t *left_out,
                                     trl_error *err);

TRL_API size_t trl_compare_sentences(const trl_compare *c);

/* Wrong tags of system 0 (A) or 1 (B), [sentences]; borrowed until c changes.  Of trees: missing
 * and surplus brackets. */
TRL_API const double *trl_compare_errors(const trl_compare *c, int system);

typedef enum trl_measure {                /* in percent, as in score.h and parseval.h */
                           TRL_ACCURACY,  /* of tags */
                           TRL_SENTENCES, /* wholly right; of trees: all brackets */
                           TRL_PRECISION,
                           TRL_RECALL,
                           TRL_F1,
                           TRL_MEASURES
} trl_measure;

typedef struct trl_comparison {
    uint64_t sentences, tokens, chunks; /* chunks, or brackets, in gold */
    bool chunk_tags;   /* trees, or every true tag is O or like B-NP; there are chunks */
    bool broken_iobes; /* of tags: as in trl_score_totals */
    double score[2][TRL_MEASURES];
    trl_bootstrap difference[TRL_MEASURES];
    double errors[2];              /* trl_compare_errors, mean */
    uint64_t only_a, only_b;       /* sentences that only this system got wholly right */
    trl_test mcnemar, t, wilcoxon; /* t, wilcoxon: of the errors per sentence */
} trl_comparison;

/* TRL_EINVAL as trl_bootstrap_mean (no sentence: n = 0), TRL_ENOMEM; *out is then untouched. */
TRL_API trl_status trl_compare_run(const trl_compare *c, const trl_bootstrap_options *options,
                                   trl_comparison *out, trl_error *err);

TRL_END_DECLS

#endif
