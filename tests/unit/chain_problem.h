/* chain_problem.h -- a random corpus with a chain objective on it, ready to be optimised. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_CHAIN_PROBLEM_H
#define TRL_TEST_CHAIN_PROBLEM_H

#include "random_corpus.h"

#include "chain/chain_task.h"
#include "train/gradient.h"
#include "train/optimizer.h"
#include "train/sgd.h"

typedef struct chain_problem {
    trl_corpus c;
    trl_design d;
    trl_chain_task chain;
    trl_task task;
    trl_pool *pool;
    trl_gradient *g;
    double c2;
} chain_problem;

static inline double *problem_vector(const chain_problem *p)
{
    double *x = trl_alloc64(trl_design_alloc(&p->d), sizeof *x);
    assert_non_null(x);
    memset(x, 0, trl_design_alloc(&p->d) * sizeof *x);
    return x;
}

static inline void problem_make(trl_rng *rng, const corpus_shape *h, const trl_design_options *o,
                                const char *objective, size_t threads, chain_problem *p)
{
    trl_error err;
    *p = (chain_problem){0};
    random_corpus(rng, h, &p->c);
    assert_ok(trl_design_build(&p->d, &p->c, o, &err));
    assert_ok(trl_chain_task_init(&p->chain, &p->c, o->order, trl_objective_find(objective),
                                  TRL_SGD_BATCH_MAX, &err));
    p->task = trl_chain_task_view(&p->chain);
    p->pool = trl_pool_new(threads);
    assert_non_null(p->pool);
    assert_ok(
        trl_gradient_new(&p->d, &p->c.family[TRL_NODE].names, &p->task, p->pool, &p->g, &err));
}

static inline void problem_fini(chain_problem *p)
{
    trl_gradient_free(p->g);
    trl_chain_task_fini(&p->chain);
    trl_design_fini(&p->d);
    trl_corpus_fini(&p->c);
    trl_pool_free(p->pool);
}

static inline trl_status problem_eval(void *self, const double *x, double *g, double *F,
                                      trl_error *err)
{
    chain_problem *p = self;
    return trl_gradient_eval(p->g, x, p->c2, g, F, err);
}

static inline trl_function problem_function(chain_problem *p)
{
    return (trl_function){.self = p, .n = (size_t)p->d.n_weights, .eval = problem_eval};
}

/* F at x; ||g|| into *norm when that is wanted. */
static inline double problem_value(chain_problem *p, const double *x, double *norm)
{
    trl_error err;
    double F, sum = 0.0, *g = problem_vector(p);
    assert_ok(problem_eval(p, x, g, &F, &err));
    for (uint64_t i = 0; i < p->d.n_weights; i++)
        sum += g[i] * g[i];
    if (norm)
        *norm = sqrt(sum);
    trl_free(g);
    return F;
}

#endif
