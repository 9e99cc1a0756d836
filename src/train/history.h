/* history.h -- the last m steps and gradient differences, and directions made of them.
 *
 * The quasi-Newton direction d = -H v is a linear combination of v, the steps s_i and the gradient
 * differences y_i, with coefficients that depend on inner products alone [CH14].  So two sweeps
 * over memory do: one for all inner products with the newest vectors, one for d; the usual two-loop
 * recursion needs 4m.  s and y are stored as bfloat16 (num/bf16_kernel.h), a quarter of the traffic
 * of doubles at no cost in iterations (docs/performance.md): the step taken is the rounded one, so
 * that s is exact, and all products are of the rounded vectors.
 *
 * Stored block by block, all vectors' share of a block together: a sweep reads one stream.
 *
 * [CH14] Chen, Wang, Zhou. Large-scale L-BFGS using MapReduce. NIPS 2014.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HISTORY_H
#define TRL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/pool.h"
#include "num/bf16_kernel.h"

#define TRL_HISTORY_MAX 32

typedef struct trl_history {
    size_t n, m; /* vector length, pairs kept at most */
    size_t used; /* pairs held */
    size_t next; /* slot of the next pair, cyclic */
    size_t blocks;
    trl_bf16 *pair; /* [blocks][m][2][TRL_BF16_BLOCK]: s / scale and y of every slot */
    double scale[TRL_HISTORY_MAX];               /* of a slot's s */
    double ss[TRL_HISTORY_MAX][TRL_HISTORY_MAX]; /* s_i . s_j by slot, likewise below */
    double sy[TRL_HISTORY_MAX][TRL_HISTORY_MAX];
    double yy[TRL_HISTORY_MAX][TRL_HISTORY_MAX];
    double vs[TRL_HISTORY_MAX], vy[TRL_HISTORY_MAX], vv; /* v . s_i, v . y_i, v . v */
    double *part;                                        /* per-piece sums */
    trl_pool *pool;
} trl_history;

bool trl_history_init(trl_history *h, size_t n, size_t m, trl_pool *pool);
void trl_history_fini(trl_history *h);

/* The current direction d is stored as the next pair's s, so that it is never copied. */

/* out = x + t d. */
void trl_history_step(const trl_history *h, double t, const double *x, double *out);

/* x . d */
double trl_history_dot(const trl_history *h, const double *x);

/* d = 0 where it does not point against v. */
void trl_history_cut(trl_history *h, const double *v);

/* d = to - from, rounded. */
void trl_history_set(trl_history *h, const double *from, const double *to);

/* Takes in s = step * d and y = g_new - g_old, unless s.y is too small for a positive definite
 * update (then the pair is dropped), and computes the products with v (g_new, or the
 * pseudo-gradient). */
void trl_history_push(trl_history *h, double step, const double *g_old, const double *g_new,
                      const double *v);

/* d = -H v for the v of the last push; with no pair held d = -v.  Also xt = x + d, unless x is
 * NULL. Returns the slope v . d, which needs no further sweep.  d replaces the oldest pair when no
 * slot is free: then only trl_history_push or trl_history_clear may follow. */
double trl_history_direction(trl_history *h, const double *v, const double *x, double *xt);

/* Forgets all pairs; `vv` is v . v. */
void trl_history_clear(trl_history *h, double vv);

bool trl_history_save(const trl_history *h, trl_buf *out);
bool trl_history_load(trl_history *h, const unsigned char **p, size_t *n);

#endif
