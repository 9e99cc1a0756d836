/* loss.h -- sums over examples of the logistic loss and its derivatives, in terms of odds = exp h.
 *
 * v = y b.  With p = odds t / (1 + odds t), the probability of +1 when h has grown by ln t,
 *
 *     d loss / d ln t  = sum |v| p - sum_{v > 0} v,        d^2 = sum |v| p (1 - p).
 *
 * No example needs a logarithm or an exponential: a step multiplies its odds.  Sums are taken in
 * pieces of TRL_LOSS_PIECE examples, added in order: the result does not depend on the number of
 * threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_LOSS_H
#define TRL_BOOST_LOSS_H

#include <stddef.h>
#include <stdint.h>

#define TRL_LOSS_PIECE ((size_t)16384)

static inline size_t trl_loss_pieces(size_t n)
{
    return (n + TRL_LOSS_PIECE - 1) / TRL_LOSS_PIECE;
}

typedef struct trl_slope {
    double first, second;
} trl_slope;

/* first = sum |v| p (without the positive value), second as above; n <= TRL_LOSS_PIECE. */
trl_slope trl_loss_slope(size_t n, const double *v, const double *odds, double t);

/* The signed weight y b / (1 + exp(y h)) in units: rounded scale * (v > 0 ? v (1 - p) : v p). */
static inline int64_t trl_loss_weight(double v, double odds, double scale)
{
    const double r = 1.0 / (1.0 + odds);
    const double w = scale * (v > 0.0 ? v * r : v * (odds * r));
    return (int64_t)(w < 0.0 ? w - 0.5 : w + 0.5);
}

/* sum |v| ln(1 + exp(-y h)). */
double trl_loss_value(size_t n, const double *v, const double *odds);

#endif
