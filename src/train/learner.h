/* learner.h -- the one contract of training: what a structure supplies to be trained.
 *
 * Chains, trees, graphs and M-estimation each fill in a trl_learner; the session (session.h) runs
 * any optimiser of the table (optimizers.h) on it.  The objective is minimised,
 *
 *     F(w) = sum_i loss_i(w) + c2 ||w||^2,
 *
 * and a learner computes it in one or more of these ways:
 *
 *     tables    scores = A w by a design matrix, a task from the scores of an example to its value
 *               and adjoint (task.h): every optimiser
 *     examples  loss and sparse gradient of single examples (sparse.h): lbfgs, owlqn, sgd, adagrad
 *     whole     F and its dense gradient, for objectives that are not a sum over examples:
 *               lbfgs, owlqn
 *     dual      an optimiser of the learner's own, for objectives with a dual of another form
 *     steps     no weights at all: a state that only the learner knows, changed step by step
 *               (boosting: a tree a step)
 *
 * Whole objectives are made of tables and examples here, so that L-BFGS serves everybody.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LEARNER_H
#define TRL_LEARNER_H

#include "base/pool.h"
#include "feature/design.h"
#include "train/optimizer.h"
#include "train/sparse.h"
#include "train/task.h"
#include "trellis/train.h"

/* A state in place of weights.  The session takes steps until the learner or the user ends them,
 * scores, saves and resumes; a step is an iteration. */
typedef struct trl_steps {
    /* The state before the first step. */
    trl_status (*begin)(void *self, trl_error *err);

    /* One step.  Fills number, objective and, with the last one, last and ending of *it.  When it
     * fails with TRL_ECANCEL the state is what it was before. */
    trl_status (*step)(void *self, trl_iteration *it, trl_error *err);

    /* The state has the best score so far: it will be the result unless a better one comes. */
    void (*mark)(void *self);

    /* No more steps will be taken.  Called once, after the last checkpoint; whatever has a score
     * after it is scored again. */
    trl_status (*end)(void *self, trl_error *err);

    /* Everything that further steps depend on, and back: TRL_EMODEL when it cannot be. */
    bool (*save)(const void *self, trl_buf *out);
    trl_status (*load)(void *self, const void *state, size_t size, trl_error *err);
} trl_steps;

/* What evaluations leave for those of later iterations, beside the weights (graphs: messages). */
typedef struct trl_memory {
    /* An iteration has ended: what its evaluations left counts from now on, not before. */
    void (*turn)(void *self);

    /* All that counts, and back: false when there is no memory, or it does not fit. */
    bool (*save)(const void *self, trl_buf *out);
    bool (*load)(void *self, const void *bytes, size_t size);
} trl_memory;

/* All pointers are borrowed; NULL: not supplied. */
typedef struct trl_learner {
    void *self;          /* first argument of the functions below */
    size_t n_weights;    /* 0 with steps */
    uint64_t n_features; /* weights that can differ from 0, for reports */
    bool smooth;         /* F has a gradient everywhere */
    bool fine;           /* examples are parts of outputs: many, with a small share each */
    double bottom;       /* without a penalty, below this F has no minimum; -HUGE_VAL: always one */
    uint64_t passes;     /* of adagrad when the options do not say; 0: adagrad's default */

    const trl_design *design; /* of tables, and for scaling values that are far from 1 */
    const trl_strtab *names;  /* of family 0 in the corpus, to find rows that imply others */
    const trl_task *task;     /* made for trl_session_lanes(o) lanes */

    const trl_sparse_task *examples;

    /* F and its gradient g; both w and g have n_weights + 64 elements. */
    trl_status (*whole)(void *self, const double *w, double c2, double *g, double *F,
                        trl_error *err);

    /* As trl_lbfgs, by the learner's own method. */
    trl_status (*dual)(void *self, const trl_train_options *o, const trl_descent *how,
                       trl_error *err);

    const trl_steps *steps;
    const trl_memory *memory; /* NULL: F is a function of the weights alone */

    /* The score of weights x (of the state after a step) on held-out data: the larger the better,
     * percent where that makes sense.  NaN: this iteration has none. */
    trl_status (*score)(void *self, const double *x, double *score, trl_error *err);

    /* All counts of the last score, valid until the next one; NULL: there is the number alone. */
    const struct trl_score *(*scored)(const void *self);

    /* What there is to say about the iteration that has ended, as a sentence; empty: nothing.
     * Called once per iteration, with or without somebody who listens. */
    void (*note)(void *self, char *text, size_t size);
} trl_learner;

/* F of any learner as a function for L-BFGS.  Release with trl_batch_fini. */
typedef struct trl_batch {
    const trl_learner *l;
    double c2;
    struct trl_gradient *gradient;
    trl_sparse_batch *sparse;
    trl_function f;
} trl_batch;
trl_status trl_batch_init(trl_batch *b, const trl_learner *l, double c2, trl_pool *pool,
                          trl_error *err);
void trl_batch_fini(trl_batch *b);

/* Weights, penalty, and the value above which the true one need not be known. */
typedef struct trl_value_point {
    const double *x;
    double c2;
    double enough;
} trl_value_point;

/* F at x by one pass, and the norm of its gradient where that is cheap; NaN: not known.  When
 * `enough` is finite the gradient is not needed, and any value above `enough` may be given instead
 * of the true one. */
trl_status trl_learner_value(const trl_learner *l, const trl_value_point *at, trl_pool *pool,
                             double *F, double *norm, trl_error *err);

#endif
