/* temperature.h -- scores divided by a temperature.
 *
 *     p(y) = exp(s(y) / T) / sum_y' exp(s(y') / T)
 *
 * whatever s is: the scores of a CRF, the log-probabilities of a locally normalised model, scores
 * of a perceptron.  The order of labellings stays, so that Viterbi and n-best lists do; marginals
 * become flatter (T > 1) or sharper [GPSW17].
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEMPERATURE_H
#define TRL_TEMPERATURE_H

#include "chain/chain.h"
#include "trellis/calibrate.h"

/* Copies the rows of *s, times `cool` = 1 / T, to the arena, and sets *s to them.  `c` gives L.
 * Rows that nobody may read (pads, pairs of the first token) are copied unread.  TRL_ENOMEM. */
trl_status trl_cool_tables(const trl_chain *c, double cool, trl_arena *arena, trl_tables *s,
                           trl_error *err);

#endif
