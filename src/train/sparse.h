/* sparse.h -- stochastic training from sparse gradients, for structures whose features are looked
 * up, not compiled into a design: trees.
 *
 *     adagrad   w_k <- w_k - eta g_k / sqrt(sum of g_k^2 so far)     [DHS11]
 *     sgd       w <- w - eta_t g,  eta_t = eta tau / (tau + t), tau the steps of five passes
 *               [FKM08]
 *
 * g is the sum over a batch of the gradients of the loss and of c2 (b / n) ||w||^2; adagrad's is
 * divided by b.  The penalty of weights that a batch does not touch is applied when they are next
 * touched.  Examples of a batch are evaluated in parallel, the longest first, and applied in order,
 * each thread for its own share of the weights: any number of threads gives the same bits.
 *
 * [DHS11] Duchi, Hazan, Singer. Adaptive subgradient methods. JMLR 12, 2011.
 * [FKM08] Finkel, Kleeman, Manning. Efficient, feature-based, conditional random field parsing. ACL
 * 2008.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPARSE_H
#define TRL_SPARSE_H

#include "base/pool.h"
#include "feature/sparse_vector.h"
#include "train/optimizer.h"

/* Loss (to be minimised) of examples.  Sequences of calls: prepare, then evaluations at the same
 * weights by several threads, each with its own worker number. */
typedef struct trl_sparse_task {
    void *self;
    size_t n_examples, n_weights;
    trl_status (*prepare)(void *self, const double *w, trl_error *err);
    /* Appends the gradient to out (NULL: the loss alone is wanted). */
    trl_status (*evaluate)(void *self, size_t example, size_t worker, double *loss, trl_sparse *out,
                           trl_error *err);
    size_t (*size)(const void *self, size_t example); /* of words, say; NULL: all are alike */
} trl_sparse_task;

typedef struct trl_sparse_options {
    bool adaptive; /* adagrad, every example once a pass; else sgd, drawn with replacement */
    bool averaged; /* the result is the mean of the weights after the first pass */
    double c2, eta;
    uint64_t batch, max_iter, period;
    double delta; /* stop when the objective fell by less (relative) in `period` passes */
    uint64_t seed;
    const double *scale; /* [n_weights] the weights are those of the penalty times these; NULL: 1 */
} trl_sparse_options;

/* As trl_lbfgs, one iteration being one pass. */
trl_status trl_sparse_train(const trl_sparse_task *task, const trl_sparse_options *o,
                            const trl_descent *how, trl_error *err);

/* The same task as a function for L-BFGS: loss and dense gradient over all examples plus
 * c2 ||w||^2, summed in an order that does not depend on threads.  Release with _free. */
typedef struct trl_sparse_batch trl_sparse_batch;
trl_status trl_sparse_batch_new(const trl_sparse_task *task, double c2, trl_pool *pool,
                                trl_sparse_batch **out, trl_function *f, trl_error *err);
void trl_sparse_batch_free(trl_sparse_batch *b); /* accepts NULL */

/* Weights, penalty, and the value above which the true one need not be known. */
typedef struct trl_sparse_point {
    const double *w;
    double c2;
    double enough;
} trl_sparse_point;

/* The same value without a gradient.  No loss is negative: examples that come after the sum has
 * passed `enough` are left out.  TRL_ENOMEM, TRL_ENUMERIC when it is not finite, or what the task
 * returns. */
trl_status trl_sparse_value(const trl_sparse_task *task, const trl_sparse_point *at, trl_pool *pool,
                            double *F, trl_error *err);

#endif
