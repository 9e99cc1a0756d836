/* learner.c -- whole objectives from what a learner has. */
/* SPDX-License-Identifier: MIT */
#include "train/learner.h"

#include <float.h>
#include <math.h>

#include "base/fail.h"
#include "base/spill.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/gradient.h"

static trl_status eval_tables(void *self, const double *x, double *g, double *F, trl_error *err)
{
    trl_batch *b = self;
    return trl_gradient_eval(b->gradient, x, b->c2, g, F, err);
}

static trl_status eval_whole(void *self, const double *x, double *g, double *F, trl_error *err)
{
    trl_batch *b = self;
    return b->l->whole(b->l->self, x, b->c2, g, F, err);
}

trl_status trl_batch_init(trl_batch *b, const trl_learner *l, double c2, trl_pool *pool,
                          trl_error *err)
{
    *b = (trl_batch){.l = l, .c2 = c2, .f = {b, l->n_weights, eval_whole, l->memory != NULL}};
    if (l->whole)
        return TRL_OK;
    if (!l->task)
        return trl_sparse_batch_new(l->examples, c2, pool, &b->sparse, &b->f, err);
    b->f.eval = eval_tables;
    trl_spill *before = trl_spill_use(l->design->spill);
    const trl_status st = trl_gradient_new(l->design, l->names, l->task, pool, &b->gradient, err);
    trl_spill_use(before);
    return st;
}

void trl_batch_fini(trl_batch *b)
{
    trl_gradient_free(b->gradient);
    trl_sparse_batch_free(b->sparse);
    *b = (trl_batch){0};
}

/* The value alone: whole objectives have no other way than with the gradient. */
static trl_status whole_value(const trl_learner *l, const trl_value_point *at, double *F,
                              trl_error *err)
{
    double *g = trl_alloc64(l->n_weights + 64, sizeof *g);
    const trl_status st = g ? l->whole(l->self, at->x, at->c2, g, F, err) : trl_fail_mem(err);
    trl_free(g);
    return st;
}

trl_status trl_learner_value(const trl_learner *l, const trl_value_point *at, trl_pool *pool,
                             double *F, double *norm, trl_error *err)
{
    *F = *norm = NAN;
    const trl_weights_at w = {at->x, at->c2};
    if (l->task && at->enough < DBL_MAX) {
        *F = at->enough;
        return trl_objective_until(l->design, l->task, pool, &w, F, err);
    }
    if (l->task && isfinite(at->enough))
        return trl_objective_value(l->design, l->task, pool, &w, F, err);
    if (l->task) {
        double both[2] = {NAN, NAN};
        const trl_status st = trl_gradient_norm(l->design, l->task, pool, &w, both, err);
        *F = both[0];
        *norm = both[1];
        return st;
    }
    if (l->whole)
        return whole_value(l, at, F, err);
    return l->smooth ? trl_sparse_value(l->examples, &(trl_sparse_point){at->x, at->c2, at->enough},
                                        pool, F, err)
                     : TRL_OK;
}
