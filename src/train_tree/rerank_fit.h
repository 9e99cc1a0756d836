/* rerank_fit.h -- learning the second stage of parsing from lists of candidates.
 *
 * Of every list the candidates with the fewest wrong and missing brackets, B, are right:
 *
 *     minimise  - sum over lists of log (sum over t in B of p(t)) + c2 ||w||^2,
 *
 * p(t) being the log-linear choice of reranker.h.  [CJ05] do the same.  The weights of the first
 * stage's numbers have a hundredth of the penalty.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RERANK_FIT_H
#define TRL_RERANK_FIT_H

#include "train/sparse.h"
#include "train_tree/rerank_lists.h"

#define TRL_RERANK_SAID_SCALE 10.0

/* The weights: of what the first stage says, divided by the scale, then of the keys. */
typedef struct trl_rerank_fit {
    const trl_rerank_lists *l;
    size_t n_weights;
    uint32_t left_out; /* a fold, or TRL_NO_ID */
    const double *w;   /* while it is evaluated */
    double **score;    /* [threads]: scratch, of the longest list */
    size_t threads;
    trl_sparse_task task;
} trl_rerank_fit;

/* Borrows l.  TRL_ENOMEM. */
trl_status trl_rerank_fit_init(trl_rerank_fit *f, const trl_rerank_lists *l, size_t threads,
                               trl_error *err);
void trl_rerank_fit_fini(trl_rerank_fit *f);

/* Minimises from w, of n_weights + 64 elements, on all lists but those of f->left_out. */
trl_status trl_rerank_fit_run(trl_rerank_fit *f, double c2, trl_pool *pool, double *w,
                              trl_error *err);

/* p of the candidates of a list by w, in f->score[0]. */
const double *trl_rerank_fit_p(trl_rerank_fit *f, const trl_rerank_choice *c, const double *w);

/* - log of the sum of p over the right candidates. */
double trl_rerank_loss(const trl_rerank_choice *c, const double *p);

/* The candidate with the best expected brackets, the list having `share` in them. */
size_t trl_rerank_choose(const trl_rerank_choice *c, const double *p, double share);

#endif
