/* gradient_once.c -- the objective of a whole corpus and the norm of its gradient, once.
 *
 * One example after the other, each scattered straight into the gradient: a vector of weights is
 * all that it needs.  gradient.c has a table of all tokens' adjoints and sums of every lane, which
 * pay over many evaluations and would here be the most memory that a stochastic optimiser's run
 * ever takes.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/blas1.h"
#include "train/gradient.h"

typedef struct once {
    const trl_design *d;
    const trl_task *task;
    const double *w;
    double enough; /* loss after which to end */
    double *grad;  /* of the sum of values: A^T adjoint; NULL: not asked for */
    trl_tables scores, adjoint;
    trl_arena arena;
} once;

static trl_status add_example(once *o, size_t i, double *value, trl_error *err)
{
    const size_t from = (size_t)o->d->first[i], n = (size_t)o->d->first[i + 1] - from;
    const trl_example e = {i, 0, &o->arena, 0};
    trl_tables s, a;
    trl_arena_reset(&o->arena);
    if (!trl_tables_get(o->d, n, &o->arena, &s) || !trl_tables_get(o->d, n, &o->arena, &a))
        return trl_fail_mem(err);
    for (size_t k = 0; k < o->d->n_families; k++) {
        s.shared[k] = o->scores.shared[k];
        a.shared[k] = o->adjoint.shared[k];
    }
    trl_gather(o->d, o->w, from, &s);
    const trl_status st = o->task->evaluate(o->task->self, &e, &s, &a, value, err);
    for (size_t k = 0; k < o->d->n_families; k++)
        a.shared[k] = NULL; /* scattered once, at the end */
    if (st == TRL_OK && o->grad)
        trl_scatter_all(o->d, from, &a, 1.0, o->grad);
    return st;
}

static trl_status add_examples(once *o, trl_pool *pool, double *value, trl_error *err)
{
    trl_tables shape = o->scores;
    double any = 0.0; /* a non-NULL row says "has rows" */
    for (size_t k = 0; k < o->d->n_families; k++)
        shape.row[k] = o->d->family[k].has_rows ? &any : NULL;
    trl_gather_shared(o->d, o->w, o->scores.shared);
    trl_status st = trl_task_prepare(o->task, &shape, err);
    double sum = 0.0, lost = 0.0; /* compensated */
    for (size_t i = 0; st == TRL_OK && i < o->d->n_sequences && -sum <= o->enough; i++) {
        double own = 0.0;
        st = trl_pool_check(pool, err);
        if (st == TRL_OK)
            st = add_example(o, i, &own, err);
        const double y = own - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    trl_task_finish(o->task, 0, &o->adjoint);
    if (o->grad)
        trl_scatter_shared(o->d, &o->adjoint, o->grad);
    *value = sum;
    return st;
}

/* F and ||dF/dw|| of the sums. */
static void finish(const once *o, trl_pool *pool, double c2, double value, double F_norm[2])
{
    const size_t n = (size_t)o->d->n_weights;
    trl_clear_dead(o->d, o->grad);
    trl_negate_add(n, 2.0 * c2, o->w, o->grad);
    F_norm[0] = c2 * trl_dot(pool, n, o->w, o->w) - value;
    F_norm[1] = sqrt(trl_dot(pool, n, o->grad, o->grad));
}

static trl_status run(once *o, trl_pool *pool, double *value, trl_error *err)
{
    trl_status st = trl_shared_new(o->d, &o->scores, err);
    if (st == TRL_OK)
        st = trl_shared_new(o->d, &o->adjoint, err);
    if (st == TRL_OK)
        st = add_examples(o, pool, value, err);
    trl_arena_fini(&o->arena);
    trl_shared_free(&o->scores);
    trl_shared_free(&o->adjoint);
    return st;
}

static trl_status finite(double F, trl_error *err)
{
    return isfinite(F) ? TRL_OK : trl_fail(err, TRL_ENUMERIC, "the objective is not finite");
}

trl_status trl_gradient_norm(const trl_design *d, const trl_task *task, trl_pool *pool,
                             const trl_weights_at *at, double F_norm[2], trl_error *err)
{
    double value = 0.0;
    once o = {.d = d, .task = task, .w = at->w, .enough = HUGE_VAL};
    o.grad = trl_alloc64(trl_design_alloc(d), sizeof *o.grad);
    if (!o.grad)
        return trl_fail_mem(err);
    memset(o.grad, 0, trl_design_alloc(d) * sizeof *o.grad);
    const trl_status st = run(&o, pool, &value, err);
    if (st == TRL_OK)
        finish(&o, pool, at->c2, value, F_norm);
    trl_free(o.grad);
    return st == TRL_OK ? finite(F_norm[0], err) : st;
}

trl_status trl_objective_until(const trl_design *d, const trl_task *task, trl_pool *pool,
                               const trl_weights_at *at, double *F, trl_error *err)
{
    double value = 0.0;
    const double penalty = at->c2 * trl_dot(pool, (size_t)d->n_weights, at->w, at->w);
    once o = {.d = d, .task = task, .w = at->w, .enough = *F - penalty};
    const trl_status st = run(&o, pool, &value, err);
    *F = penalty - value;
    return st == TRL_OK ? finite(*F, err) : st;
}
