/* lazy.h -- weights that drift along a slowly changing direction, updated only when touched.
 *
 * Stochastic methods with a dense step, w <- (1 - a) w + b dir, would touch every weight for every
 * example.  Here w = scale * v, and v += (drift - at) * dir is caught up for a row or an entry
 * only when an example uses it; `at` is the drift it has seen.  A step is then two scalars:
 *
 *     scale *= 1 - a,   drift += b / scale
 *
 * `dir` changes only by trl_lazy_scatter, whose rows have just been gathered and are current.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LAZY_H
#define TRL_LAZY_H

#include "feature/design.h"

typedef struct trl_lazy {
    const trl_design *d;
    double           *v, *dir;              /* [trl_design_alloc] */
    double           *row_at[TRL_FAMILIES]; /* [n_dense] */
    double           *entry_at;             /* by weight, up to the last entry */
    double            constant_at;
    double            drift, scale;
} trl_lazy;

/* v and dir start at 0.  TRL_ENOMEM. */
trl_status trl_lazy_init(trl_lazy *z, const trl_design *d, trl_error *err);
void       trl_lazy_fini(trl_lazy *z);

/* Scores of the tokens from .. at the current weights (as trl_gather, trl_gather_shared). */
void trl_lazy_gather(trl_lazy *z, size_t from, const trl_tables *t);
void trl_lazy_gather_shared(trl_lazy *z, double *const out[TRL_FAMILIES]);

/* Brings everything up to date and folds scale into v: v are the weights, scale is 1. */
void trl_lazy_flush(trl_lazy *z);

#endif
