/* translation.h -- how good translations are: the F of Turian et al. and BLEU.
 *
 * Turian, Shen, Melamed 2003: words of candidate and reference are matched one to one; matches that
 * are contiguous in both are a run; the size of a matching is (sum over runs of length^e)^(1/e),
 * that of the pair the largest of any matching, M.
 *
 *     precision = M / |candidate|    recall = M / |reference|    F = their harmonic mean
 *
 * e = 1 counts words whatever their order, e = 2 rewards long runs.  Over a corpus M and lengths
 * are added up.  For e = 2 the best matching is searched for by branch and bound, longest runs
 * first, with at most TRL_TURIAN_NODES nodes a pair; pairs that need more have the best found, and
 * are counted.
 *
 * BLEU (Papineni et al. 2002) with one reference: the geometric mean of the clipped precisions of 1
 * to 4 words over the corpus, times exp(1 - r / c) when the candidates are shorter.  Of a sentence,
 * 1 is added to matches and n-grams of 2 and more words (Lin, Och 2004).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TRANSLATION_H
#define TRELLIS_TRANSLATION_H

#include "trellis/compare.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

#define TRL_TURIAN_NODES 10000
#define TRL_BLEU_ORDER 4

typedef struct trl_translation_sentence {
    size_t test, gold;                                        /* words */
    double size[2];                                           /* M for e = 1 and e = 2 */
    bool exact;                                               /* size[1] is proven */
    double f[2], bleu;                                        /* of this sentence, in percent */
    uint64_t match[TRL_BLEU_ORDER], possible[TRL_BLEU_ORDER]; /* n-grams of the candidate */
} trl_translation_sentence;

typedef struct trl_translation_totals {
    size_t sentences, test, gold;                /* words */
    size_t inexact;                              /* sentences whose size[1] is not proven */
    double precision[2], recall[2], f[2];        /* e = 1, 2; in percent */
    double bleu, brevity, ngram[TRL_BLEU_ORDER]; /* bleu and ngram in percent */
} trl_translation_totals;

typedef struct trl_translation trl_translation;

/* Reads two files with a sentence a line, words separated by blanks; an empty line of `test` means
 * that there is no translation.  TRL_EPARSE with path:row:col for files of different length,
 * TRL_EINVAL for empty files, TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_translation_files(const char *gold, const char *test, trl_translation **out,
                                         trl_error *err);
TRL_API void trl_translation_free(trl_translation *t); /* accepts NULL */
TRL_API const trl_translation_sentence *trl_translation_sentences(const trl_translation *t,
                                                                  size_t *n);
TRL_API trl_translation_totals trl_translation_get_totals(const trl_translation *t);

/* A translation, its reference, and the exponent of runs. */
typedef struct trl_turian_pair {
    const uint32_t *test;
    size_t n;
    const uint32_t *gold;
    size_t m;
    double e;
} trl_turian_pair;

/* M^e of two sentences as word ids, e >= 1; *exact (or NULL): whether it is proven.  TRL_ENOMEM. */
TRL_API trl_status trl_turian_size(const trl_turian_pair *x, double *size, bool *exact,
                                   trl_error *err);

typedef enum trl_translation_measure {
    TRL_F_1,
    TRL_F_2,
    TRL_BLEU,
    TRL_TRANSLATION_MEASURES
} trl_translation_measure;

typedef struct trl_translation_comparison {
    size_t sentences;
    double score[2][TRL_TRANSLATION_MEASURES];
    trl_bootstrap difference[TRL_TRANSLATION_MEASURES];
    trl_test wilcoxon[TRL_TRANSLATION_MEASURES]; /* of the scores of sentences */
} trl_translation_comparison;

/* Two translations of the same sentences.  TRL_EINVAL when they are not of as many sentences, and
 * as trl_bootstrap_mean; TRL_ENOMEM. */
TRL_API trl_status trl_translation_compare(const trl_translation *a, const trl_translation *b,
                                           const trl_bootstrap_options *o,
                                           trl_translation_comparison *out, trl_error *err);

TRL_END_DECLS

#endif
