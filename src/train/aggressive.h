/* aggressive.h -- online methods that change the weights as little as makes the best wrong
 * labelling lose by its cost: passive-aggressive [CDK+06] and AROW [CKD09], as CRFsuite has them.
 *
 * For a sequence whose best labelling y' has d > 0 wrong labels, delta the features of the gold
 * labelling less those of y' and loss = s(y') - s(y) + cost:
 *
 *     pa      cost = sqrt(d), or 1;  w <- w + v tau delta,  v the weight of the sequence,
 *             tau = loss / |delta|^2           type 0
 *                 = min(c, that)               type 1
 *                 = loss / (|delta|^2 + 1/2c)  type 2
 *             the result is the mean of the weights after every sequence
 *     arow    cost = d;  delta times v;  w_k <- w_k + alpha sigma_k delta_k,
 *             alpha = loss / (gamma + sum of sigma_k delta_k^2);
 *             sigma_k <- 1 / (1 / sigma_k + delta_k^2 / gamma)
 *
 * [CDK+06] Crammer, Dekel, Keshet, Shalev-Shwartz, Singer. Online passive-aggressive algorithms.
 * JMLR 7, 2006.   [CKD09] Crammer, Kulesza, Dredze. Adaptive regularization of weight vectors.
 * NIPS 2009.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_AGGRESSIVE_H
#define TRL_AGGRESSIVE_H

#include "train/optimizer.h"
#include "train/table_examples.h"

typedef struct trl_aggressive_options {
    bool arow;
    uint64_t type;   /* pa: 0, 1, 2 */
    double c;        /* pa: > 0 */
    bool flat;       /* pa: the cost is 1 */
    bool last;       /* pa: the result is the last weights */
    double variance; /* arow: the first sigma, > 0 */
    double gamma;    /* arow: > 0 */
    uint64_t max_iter;
    double epsilon; /* ends when the mean loss of a pass is at most this */
    uint64_t seed;
} trl_aggressive_options;

/* As trl_sgd, one iteration being a pass over all examples in a new order.  The examples' loss must
 * be the perceptron's on chains: s(y') - s(y), times the weight of the sequence.  TRL_ENOMEM,
 * TRL_EMODEL for a state of another run, TRL_ENUMERIC, or what the examples return. */
trl_status trl_aggressive(trl_table_examples *examples, const trl_aggressive_options *o,
                          const trl_descent *how, trl_error *err);

#endif
