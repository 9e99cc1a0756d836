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

/* The three numbers of one entry lie together: one cache miss instead of three. */
typedef struct trl_lazy_entry {
    double v, dir, at;
} trl_lazy_entry;

typedef struct trl_lazy {
    const trl_design *d;
    double           *v, *dir;              /* [trl_design_alloc] constants and dense rows */
    double           *row_at[TRL_FAMILIES]; /* [n_dense] */
    trl_lazy_entry   *entry;                /* by weight, up to the last entry */
    bool             *is_entry;             /* which of those are entries */
    double            constant_at;
    double            drift, scale;
} trl_lazy;

/* Everything starts at 0.  TRL_ENOMEM. */
trl_status trl_lazy_init(trl_lazy *z, const trl_design *d, trl_error *err);
void       trl_lazy_fini(trl_lazy *z);

/* Scores of the tokens from .. at the current weights (as trl_gather, trl_gather_shared).  As long
 * as drift stays 0 nothing is written but the tables, and threads may gather side by side. */
void trl_lazy_gather(trl_lazy *z, size_t from, const trl_tables *t);
void trl_lazy_gather_shared(trl_lazy *z, double *const out[TRL_FAMILIES]);

/* Asks for everything that gathering the tokens from .. from + n - 1 will touch. */
void trl_lazy_prefetch(const trl_lazy *z, size_t from, size_t n);

/* Adds A^T adjoint to dir (or to v, for trying out a step), live cells only.  The example's
 * scores must have been gathered since the last step. */
void trl_lazy_scatter(trl_lazy *z, size_t from, const trl_tables *adjoint, bool to_v);

/* Brings everything up to date, folds scale into v and sets drift to 0. */
void trl_lazy_flush(trl_lazy *z);

/* Weights and direction as plain vectors [n_weights]; in a flushed (or fresh) state only. */
void trl_lazy_get(const trl_lazy *z, double *w, double *dir); /* either may be NULL */
void trl_lazy_set(trl_lazy *z, const double *w, const double *dir);

/* w = a v - b dir, in a flushed state. */
void trl_lazy_average(const trl_lazy *z, double a, double b, double *w);

/* ||v||^2. */
double trl_lazy_norm2(const trl_lazy *z);

#endif
