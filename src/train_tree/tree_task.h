/* tree_task.h -- a treebank ready for training, and its losses.
 *
 * An objective is a function from the score table of one example to a loss and its adjoint: one
 * file each.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_TASK_H
#define TRL_TREE_TASK_H

#include "train/objectives.h"
#include "train/sparse.h"
#include "parser/given_tags.h"
#include "parser/tree_choose.h"

typedef struct trl_tree_example {
    trl_skeleton s; /* one block at s.first, */
    bool stored;    /* in a store, or else on the heap */
    trl_seen seen;  /* one heap block at seen.at */
    trl_btree gold;
    size_t source;              /* the tree it was made from */
    const trl_given_list *tags; /* of its words; or NULL */
    trl_span_state *nota;       /* [n_nota] NOTA instances, all in s; owned */
    size_t n_nota;
} trl_tree_example;
void trl_tree_example_fini(trl_tree_example *e);

/* Scratch of one thread. */
typedef struct trl_tree_worker {
    trl_arena arena;
    trl_chart chart; /* what gather points to */
    trl_tree_gather gather;
    trl_chooser chooser; /* of local objectives */
} trl_tree_worker;

typedef struct trl_tree_task trl_tree_task;

/* The loss of example e, gathered and charted by the objective itself; leaves the adjoint in the
 * worker's gather when `adjoint`. */
typedef trl_status (*trl_tree_loss_fn)(const trl_tree_task *t, const trl_tree_example *e,
                                       trl_tree_worker *w, bool adjoint, double *loss,
                                       trl_error *err);

trl_status trl_loss_tree_likelihood(const trl_tree_task *t, const trl_tree_example *e,
                                    trl_tree_worker *w, bool adjoint, double *loss, trl_error *err);
trl_status trl_loss_tree_perceptron(const trl_tree_task *t, const trl_tree_example *e,
                                    trl_tree_worker *w, bool adjoint, double *loss, trl_error *err);
trl_status trl_loss_mecfg(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                          bool adjoint, double *loss, trl_error *err);
trl_status trl_loss_pt_cfg(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                           bool adjoint, double *loss, trl_error *err);

struct trl_tree_task {
    const trl_objective *objective;
    trl_tree_loss_fn loss; /* its code */
    trl_tree_features *f;
    trl_tree_example *example;
    size_t n_examples;
    trl_tree_worker *worker; /* [n_workers] */
    size_t n_workers;
    double *binary_exp, *unary;  /* of the prepared weights */
    trl_chooser_shared *chooser; /* of local objectives; else NULL */
    bool nota;                   /* some example has a NOTA instance */
    trl_sparse_task sparse;
};

/* Examples, borrowed. */
typedef struct trl_task_examples {
    trl_tree_example *example;
    size_t n_examples;
} trl_task_examples;

/* Everything is borrowed.  TRL_ENOMEM. */
trl_status trl_tree_task_init(trl_tree_task *t, const trl_objective *objective,
                              trl_tree_features *f, const trl_task_examples *x, size_t n_workers,
                              trl_error *err);

/* What MECFG and PT-CFG need in addition; borrowed.  TRL_ENOMEM. */
trl_status trl_tree_task_local(trl_tree_task *t, const trl_expansions *x,
                               const trl_rule_index *lists, trl_error *err);
void trl_tree_task_fini(trl_tree_task *t);

#endif
