/* linear.c -- logistic regression with a quadratic penalty. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "train/lbfgs.h"
#include "train_translate/learn.h"

double trl_linear_objective(const trl_linear_problem *p, const double *w, double *g)
{
    double F = 0.0;
    size_t begin = 0;
    for (size_t f = 0; f < p->n_features; f++) {
        F += p->c2 * w[f] * w[f];
        g[f] = 2.0 * p->c2 * w[f];
    }
    g[p->n_features] = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        double h = w[p->n_features];
        for (size_t k = begin; k < p->end[i]; k++)
            h += w[p->feature[k]];
        const double y = p->y[i], slope = -y / (1.0 + exp(y * h));
        F += trl_inference_cost(y * h);
        for (size_t k = begin; k < p->end[i]; k++)
            g[p->feature[k]] += slope;
        g[p->n_features] += slope;
        begin = p->end[i];
    }
    return F;
}

static trl_status eval(void *self, const double *x, double *g, double *F, trl_error *err)
{
    (void)err;
    *F = trl_linear_objective(self, x, g);
    return TRL_OK;
}

trl_status trl_linear_fit(const trl_linear_problem *p, double *w, trl_error *err)
{
    trl_linear_problem copy = *p;
    trl_ending ending;
    const trl_function f = {.self = &copy, .n = p->n_features + 1, .eval = eval};
    const trl_lbfgs_options o = {
        .memory = 6, .max_iter = 200, .epsilon = 1e-4, .period = 10, .delta = 1e-6};
    const trl_descent how = {.pool = trl_pool_new(1), .x = w, .ending = &ending};
    memset(w, 0, (p->n_features + 65) * sizeof *w);
    const trl_status st = how.pool ? trl_lbfgs(&f, &o, &how, err) : trl_fail_mem(err);
    trl_pool_free(how.pool);
    return st;
}
