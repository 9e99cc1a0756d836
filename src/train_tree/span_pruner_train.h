/* span_pruner_train.h -- the span pruner's weights, by the conditional likelihood of coarse
 * trees. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPAN_PRUNER_TRAIN_H
#define TRL_SPAN_PRUNER_TRAIN_H

#include "train/sparse.h"
#include "chart/coarse.h"
#include "parser/given_tags.h"
#include "grammar/tree_set.h"

/* Called for every tree before any weight has learnt from it, so that charts are pruned like those
 * of unseen sentences.  Called by several threads, each with its own worker number. */
typedef struct trl_span_pruner_hook {
    void *self;
    trl_status (*chart)(void *self, size_t tree, size_t worker, const trl_coarse_chart *c,
                        const trl_gains *gains, trl_error *err);
} trl_span_pruner_hook;

typedef struct trl_span_pruner_options {
    unsigned span_bits, word_bits; /* log2 of the rows of the two tables */
    uint64_t passes, batch, seed;
    double c2, eta;
} trl_span_pruner_options;

/* Loss of single trees and its gradient: spans' weights first, then words'.  Everything borrowed.
 */
typedef struct trl_span_pruner_task {
    const trl_coarse *coarse;
    const trl_observer *observer;
    const trl_tree_set *trees;
    const trl_given_list *tags; /* [trees], of labels of `fine`; or NULL */
    const trl_grammar *fine;
    size_t most; /* of longer trees longer spans are given (given_spans.h); 0: of none */
    trl_span_pruner span_pruner;      /* with the prepared weights as `exact` */
    const trl_span_pruner_hook *hook; /* or NULL */
    uint8_t *done;                    /* [trees]: the hook has been called */
    float least;                      /* smaller derivatives by gains are left out: 1e-3 */
    struct trl_span_pruner_worker *worker;
    size_t n_workers;
    trl_sparse_task sparse;
} trl_span_pruner_task;
/* What a span pruner is trained on: a coarse grammar, what is seen of words, trees. */
typedef struct trl_span_pruner_data {
    const trl_coarse *c;
    const trl_observer *o;
    const trl_tree_set *trees;
    const trl_given_list *tags; /* [trees], of labels of `fine`; or NULL */
    const trl_grammar *fine;
    size_t most; /* of longer trees longer spans are given (given_spans.h); 0: of none */
} trl_span_pruner_data;

trl_status trl_span_pruner_task_init(trl_span_pruner_task *t, const trl_span_pruner_data *data,
                                     unsigned span_bits, unsigned word_bits, size_t n_workers,
                                     trl_error *err);
void trl_span_pruner_task_fini(trl_span_pruner_task *t);

/* Who is told of passes, and who works at the same time; both may be NULL. */
typedef struct trl_span_pruner_watch {
    const trl_watcher *watcher;
    const trl_span_pruner_hook *hook;
} trl_span_pruner_watch;

/* Trains the weights of s, which has been initialised, and rounds them.  `watcher` (or NULL) may
 * stop it, `hook` (or NULL) is told of every tree once. */
trl_status trl_span_pruner_train(trl_span_pruner *s, const trl_span_pruner_data *data,
                                 const trl_span_pruner_options *options, trl_pool *pool,
                                 const trl_span_pruner_watch *watch, trl_error *err);

#endif
