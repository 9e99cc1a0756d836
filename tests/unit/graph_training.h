/* graph_training.h -- graphs under training, without files: objective and gradient at given
 * weights. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_GRAPH_TRAINING_H
#define TRL_TEST_GRAPH_TRAINING_H

#include "support.h"

#include "train/gradient.h"
#include "train_graph/train_graph.h"

typedef struct problem {
    trl_graph_corpus corpus;
    trl_graph_training t;
    trl_train_options o;
} problem;

static inline void problem_close(problem *p)
{
    trl_graph_training_fini(&p->t);
    trl_graph_corpus_fini(&p->corpus);
}

/* The objective, penalty included; its gradient to g. */
static inline double value_at(const problem *p, const double *w, double *g)
{
    trl_error err;
    trl_gradient *by;
    double F;
    assert_ok(trl_gradient_new(&p->t.design, &p->corpus.corpus.family[0].names, &p->t.view,
                               p->t.pool, &by, &err));
    assert_ok(trl_gradient_eval(by, w, p->o.c2, g, &F, &err));
    trl_gradient_free(by);
    return F;
}

#endif
