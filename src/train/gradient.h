/* gradient.h -- the regularised objective of a whole corpus, and its gradient.
 *
 *     F(w) = - sum_i value_i(w) + c2 ||w||^2          (minimised)
 *
 * Deterministic: the corpus is cut into lanes by its size alone; every lane sums its own share,
 * lanes are added in order.  Any number of threads gives the same bits.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRADIENT_H
#define TRL_GRADIENT_H

#include "base/pool.h"
#include "feature/design.h"
#include "feature/pair_view.h"
#include "train/task.h"

#define TRL_LANES_MAX 16

typedef struct trl_gradient trl_gradient;

/* All pointers are borrowed and must outlive the object.  `names`: of family 0 in the corpus, for
 * finding implied rows (feature/implied_rows.h); NULL: do not look for them.  TRL_ENOMEM. */
trl_status trl_gradient_new(const trl_design *d, const trl_strtab *names, const trl_task *task,
                            trl_pool *pool, trl_gradient **out, trl_error *err);
void trl_gradient_free(trl_gradient *g); /* accepts NULL */

/* w and grad have trl_design_alloc(d) doubles.  grad is overwritten.  Whatever the task's
 * evaluate returns; TRL_ENUMERIC when F is not finite. */
trl_status trl_gradient_eval(trl_gradient *g, const double *w, double c2, double *grad, double *F,
                             trl_error *err);

/* Weights and penalty. */
typedef struct trl_weights_at {
    const double *w;
    double c2;
} trl_weights_at;

/* F alone, with hardly any memory: for optimisers that only estimate it on the way. */
trl_status trl_objective_value(const trl_design *d, const trl_task *task, trl_pool *pool,
                               const trl_weights_at *at, double *F, trl_error *err);

/* F and the norm of its gradient, into F_norm, with little more memory than a gradient takes, by
 * one thread (gradient_once.c). */
trl_status trl_gradient_norm(const trl_design *d, const trl_task *task, trl_pool *pool,
                             const trl_weights_at *at, double F_norm[2], trl_error *err);

/* F where it is not above the *F given, else any value above that: examples are left out once their
 * losses, none of them negative, come to more.  By one thread. */
trl_status trl_objective_until(const trl_design *d, const trl_task *task, trl_pool *pool,
                               const trl_weights_at *at, double *F, trl_error *err);

/* Allocates score tables for up to n positions in the arena: rows for every family that has
 * them.  False when memory ran out. */
bool trl_tables_get(const trl_design *d, size_t n, trl_arena *arena, trl_tables *out);

/* The same for a sequence that starts at token `from`, with pairs as sets unless `pairs` is NULL.
 */
bool trl_tables_get_sets(const trl_design *d, const trl_pair_sets *pairs, size_t from, size_t n,
                         trl_arena *arena, trl_tables *out);

/* The same with a view of the sets `all` (feature/pair_view.h), whose scores are 0. */
bool trl_tables_get_view(const trl_design *d, const trl_pair_sets *all, size_t from, size_t n,
                         trl_arena *arena, trl_tables *out);

/* Makes sets for views where the task takes them and they are worth it, which *has says.
 * TRL_ENOMEM. */
trl_status trl_task_pairs(const trl_task *task, const trl_design *d, trl_pair_sets *out, bool *has,
                          trl_error *err);

/* Multiplies all cells, rows, shared ones and those of a view. */
void trl_tables_scale(const trl_design *d, trl_tables *t, double by);

/* Allocates the shared tables (zeroed) on the heap, as one block: free out->shared's with
 * trl_shared_free. */
trl_status trl_shared_new(const trl_design *d, trl_tables *out, trl_error *err);
/* Adds a set_table (zeroed) to them. */
trl_status trl_shared_sets(const trl_design *d, const trl_pair_sets *pairs, trl_tables *out,
                           trl_error *err);
void trl_shared_free(trl_tables *t);
void trl_shared_clear(const trl_design *d, trl_tables *t);

#endif
