/* lazy_weights.h -- weights that drift along a slowly changing direction, updated only when
 * touched.
 *
 * A stochastic method with a dense step
 *
 *     w_r <- w_r + a (dir_r / m - lambda w_r)          for every weight r, for every example
 *
 * would touch all weights all the time.  Here a row (or an entry) remembers the time `at`, the sum
 * of all a so far, when it was last current.  While dir_r stays as it is the steps follow the
 * linear equation dw/dt = dir_r / m - lambda w, whose solution after a gap g is
 *
 *     w_r <- e w_r + (1 - e) dir_r / (lambda m),      e = exp(-lambda g),
 *
 * so catching up is cheap, and `dir` changes only by trl_lazy_scatter, whose rows
 * have just been gathered and are current.  Methods without drift keep the time at 0 and use
 * `scale`: w = scale * v.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LAZY_H
#define TRL_LAZY_H

#include "feature/design.h"

/* The numbers of one entry are adjacent: one cache miss instead of three. */
typedef struct trl_lazy_entry {
    double v, dir, at;
} trl_lazy_entry;

typedef struct trl_lazy {
    const trl_design *d;
    double *v, *dir;                  /* [trl_design_alloc] constants and dense rows */
    double *row_at[TRL_FAMILIES_MAX]; /* [n_dense] */
    trl_lazy_entry *entry;            /* by weight, up to the last entry */
    bool *is_entry;                   /* which of those are entries */
    double constant_at[TRL_FAMILIES_MAX];
    double time, lambda, m; /* m > 0 */
    double scale;
} trl_lazy;

/* Everything starts at 0.  TRL_ENOMEM. */
trl_status trl_lazy_init(trl_lazy *z, const trl_design *d, trl_error *err);
void trl_lazy_fini(trl_lazy *z);

/* Scores of the tokens from .. at the current weights (as trl_gather, trl_gather_shared).  While
 * drift is 0 only the tables are written, and threads may gather in parallel.  Pairs as sets are
 * those of a view (pair_view.h), whose scores are 0 before. */
void trl_lazy_gather(trl_lazy *z, size_t from, const trl_tables *t);
void trl_lazy_gather_shared(trl_lazy *z, double *const *out);

/* Prefetches everything that gathering the tokens from .. from + n - 1 will touch. */
void trl_lazy_prefetch(const trl_lazy *z, size_t from, size_t n);

/* Adds A^T adjoint to dir (or to v, for trying out a step), live cells only.  The example's
 * scores must have been gathered since the last step. */
void trl_lazy_scatter(trl_lazy *z, size_t from, const trl_tables *adjoint, bool to_v);

/* Brings everything up to date, multiplies scale into v and sets the time to 0. */
void trl_lazy_flush(trl_lazy *z);

/* Weights and direction as plain vectors [n_weights]; in a flushed (or fresh) state only. */
void trl_lazy_get(const trl_lazy *z, double *w, double *dir); /* either may be NULL */
void trl_lazy_set(trl_lazy *z, const double *w, const double *dir);

/* w = a v - b dir, in a flushed state. */
void trl_lazy_average(const trl_lazy *z, double a, double b, double *w);

/* dir = 0. */
void trl_lazy_clear_dir(trl_lazy *z);

/* One weight, in a state where time is 0: v <- by v, the change times `counted` goes to dir (as
 * averages count a step). */
void trl_lazy_multiply(trl_lazy *z, uint64_t weight, double by, double counted);
double trl_lazy_at(const trl_lazy *z, uint64_t weight); /* its v */

/* ||v||^2. */
double trl_lazy_norm2(const trl_lazy *z);

#endif
