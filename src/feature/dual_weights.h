/* dual_weights.h -- weights in single precision that follow the kept adjoints of all examples.
 *
 * For optimisers that keep an adjoint a_i of every example and work at the weights
 *
 *     w = scale * sum_i A_i^T a_i                        (train/sdca.c: scale = 1 / (2 c2))
 *
 * Half the bytes of doubles and one vector, not two, so that what is used often stays in the
 * second-level cache; nothing is ever out of date.  Lone attributes (on at a single token) have
 * no weights in memory at all: theirs are the adjoints of that token, which are at hand anyway,
 * times their values.  Weights of constants are doubles: all examples add to them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DUAL_WEIGHTS_H
#define TRL_DUAL_WEIGHTS_H

#include "feature/design.h"

typedef struct trl_dual_weights {
    const trl_design *d;
    double scale;
    float *w;                           /* [trl_design_alloc]; lone ones are not kept */
    double *constant[TRL_FAMILIES_MAX]; /* [n_constant] */
    float *own_row, *own_entry;         /* [n_tokens] sums of squared values of lone rows and
                                           entries; NULL: there are none */
} trl_dual_weights;

/* Everything starts at 0.  TRL_ENOMEM. */
trl_status trl_dual_weights_init(trl_dual_weights *z, const trl_design *d, double scale,
                                 trl_error *err);
void trl_dual_weights_fini(trl_dual_weights *z);

/* Scores of the tokens from .. (as trl_gather, trl_gather_shared).  `kept` are the kept node
 * adjoints of these tokens, [n][step]. */
void trl_dual_weights_gather(const trl_dual_weights *z, size_t from, const float *kept,
                             const trl_tables *t);
void trl_dual_weights_gather_shared(const trl_dual_weights *z, double *const out[TRL_FAMILIES_MAX]);

/* Asks for the lists of the tokens from .. from + n - 1 and their kept adjoints.  (To ask for the
 * weights as well costs as much as it saves: most are in cache.) */
void trl_dual_weights_prefetch(const trl_dual_weights *z, size_t from, size_t n, const float *kept);

/* w += by * A^T delta, live cells only; delta[f] is [n][step], pads 0, NULL where there are no
 * rows.  The caller adds to the kept adjoints. */
void trl_dual_weights_add(trl_dual_weights *z, size_t from, size_t n,
                          float *const delta[TRL_FAMILIES_MAX], float by);

/* The weights as doubles [n_weights]; `kept` are the kept node adjoints of all tokens. */
void trl_dual_weights_get(const trl_dual_weights *z, const float *kept, double *w);

/* Takes over weights of trl_dual_weights_get (those of lone attributes are ignored). */
void trl_dual_weights_set(trl_dual_weights *z, const double *w);

#endif
