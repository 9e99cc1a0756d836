/* dual_weights.h -- weights in single precision, as the sum of the stored adjoints of all examples.
 *
 * For optimisers that store an adjoint a_i of every example and work at the weights
 *
 *     w = scale * sum_i A_i^T a_i                        (train/sdca.c: scale = 1 / (2 c2))
 *
 * This takes half the bytes of doubles and one vector instead of two, so that frequent weights stay
 * in the second-level cache, and no weight is ever out of date.  Singleton attributes (on at one
 * token only) have no weights in memory at all: theirs are the adjoints of that token, which are
 * loaded anyway, times their values.  Weights of constants are doubles: all examples add to them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DUAL_WEIGHTS_H
#define TRL_DUAL_WEIGHTS_H

#include "feature/design.h"

typedef struct trl_dual_weights {
    const trl_design *d;
    double scale;
    float *w;                           /* [trl_design_alloc]; singletons are not stored */
    double *constant[TRL_FAMILIES_MAX]; /* [n_constant] */
    float *own_row, *own_entry; /* [n_tokens] sums of squared values of singleton rows and entries;
                                   NULL: there are none */
} trl_dual_weights;

/* Everything starts at 0.  TRL_ENOMEM. */
trl_status trl_dual_weights_init(trl_dual_weights *z, const trl_design *d, double scale,
                                 trl_error *err);
void trl_dual_weights_fini(trl_dual_weights *z);

/* Scores of the tokens from .. (as trl_gather, trl_gather_shared).  `kept` are the stored node
 * adjoints of these tokens, [n][step].  Pairs as sets are those of a view (pair_view.h), whose
 * scores are 0 before. */
void trl_dual_weights_gather(const trl_dual_weights *z, size_t from, const float *kept,
                             const trl_tables *t);
void trl_dual_weights_gather_shared(const trl_dual_weights *z, double *const *out);

/* Prefetches the lists of a family for the tokens from .. from + n - 1 and their stored adjoints.
 * (Prefetching the weights as well costs as much as it saves: most are in cache.) */
void trl_dual_weights_prefetch(const trl_dual_weights *z, size_t family, size_t from, size_t n,
                               const float *kept);

/* w += by * A^T delta, live cells only; delta[f] is [n][step], pads 0, NULL where there are no
 * rows.  The caller adds delta to the stored adjoints. */
void trl_dual_weights_add(trl_dual_weights *z, size_t from, size_t n, float *const *delta,
                          float by);

/* Weights of the family's constants += by * delta, one row of it; scores, a shared table, become
 * these weights. */
void trl_dual_weights_add_constants(trl_dual_weights *z, size_t family, const float *delta,
                                    double by, double *scores);

/* The same as _add for pairs as sets of a view (t->chain): delta has a number for each of its
 * cells. */
void trl_dual_weights_add_pairs(trl_dual_weights *z, size_t from, const trl_tables *t,
                                const float *delta, float by);

/* The weights as doubles [n_weights]; `kept` are the stored node adjoints of all tokens. */
void trl_dual_weights_get(const trl_dual_weights *z, const float *kept, double *w);

/* Takes over weights of trl_dual_weights_get (those of singletons are ignored). */
void trl_dual_weights_set(trl_dual_weights *z, const double *w);

#endif
