/* translation.h -- private to scores of translations. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SCORE_TRANSLATION_H
#define TRL_SCORE_TRANSLATION_H

#include "trellis/translation.h"

/* Harmonic mean of size / test and size / gold, in percent; 0 when there is nothing. */
double trl_translation_f(double size, double test, double gold);

/* BLEU in percent from n-grams and lengths; `more` is added to matches and n-grams from 2 words on.
 */
double trl_bleu(const double *match, const double *possible, double gold, double more);

#endif
