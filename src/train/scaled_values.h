/* scaled_values.h -- optimisers that go example by example, on values that are far from 1.
 *
 * In the weights v_j = p_j w_j (scaling.h) scores are sums of values x_ij / p_j times v_j, near 1
 * again, and the objective is the same function,
 *
 *     F = - sum_i value_i(v) + c2 sum_j v_j^2 / p_j^2.
 *
 * The optimisers know one penalty for all weights, c2 ||v||^2.  So p is at least 1 where there is a
 * penalty (a weight of small values lacks nothing: its penalty is the steepest thing about it), and
 * what is too much for the far weights is given back, by the proximal point method [Roc76]:
 *
 *     c2 v^2 / p^2 + c2 q (v - v')^2 = c2 (v - q v')^2 + constant,       q = 1 - 1 / p^2,
 *
 * v' being the weight after the last pass.  When v stays where it is, v = v', and F is at its
 * minimum.  Gradient descent (sgd.c), whose decay is a factor, is given the factor back instead.
 *
 * [Roc76] Rockafellar. Monotone operators and the proximal point algorithm. SIAM J. Control and
 * Optimization 14, 1976.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SCALED_VALUES_H
#define TRL_SCALED_VALUES_H

#include "feature/design.h"
#include "train/optimizer.h"

/* The weights that are scaled. */
typedef struct trl_far_weights {
    size_t n;
    const uint64_t *weight; /* [n] ascending */
    const double *p;        /* [n_weights] */
} trl_far_weights;

/* q above, of one weight. */
static inline double trl_far_share(const trl_far_weights *far, uint64_t weight)
{
    return 1.0 - 1.0 / (far->p[weight] * far->p[weight]);
}

/* ||w||^2 of the scaled weights v; `far` NULL: they are not scaled. */
double trl_far_norm2(const trl_far_weights *far, size_t n, const double *v);

/* What an optimiser is given in the place of `d` and `how`.  Nothing else is to use the design
 * while it is open: lists by attribute are those of the unscaled one. */
typedef struct trl_scaled_values {
    const trl_design *d;
    trl_descent how;            /* x is scaled, and undone again for its watcher */
    const trl_far_weights *far; /* NULL: nothing is scaled, d and how are the given ones */

    trl_far_weights list;
    trl_design own;
    double *p, *w;
    uint64_t *weight;
    trl_watcher eye;
    const trl_watcher *outer;
} trl_scaled_values;

/* c2 is 0 where there is no penalty.  TRL_ENOMEM.  In any case trl_scaled_values_close, which
 * unscales how->x. */
trl_status trl_scaled_values_open(trl_scaled_values *s, const trl_design *d, double c2,
                                  const trl_descent *how, trl_error *err);
void trl_scaled_values_close(trl_scaled_values *s);

#endif
