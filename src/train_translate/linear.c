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
        const double margin = p->y[i] * h, e = exp(-fabs(margin)); /* one exp for both */
        const double wrong = (margin > 0.0 ? e : 1.0) / (1.0 + e), slope = -p->y[i] * wrong;
        F += log1p(e) + (margin < 0.0 ? -margin : 0.0);
        for (size_t k = begin; k < p->end[i]; k++)
            g[p->feature[k]] += slope;
        g[p->n_features] += slope;
        begin = p->end[i];
    }
    return F;
}

/* The problem in other units, w = scale z: the curvature is then about 1 along every axis, and
 * L-BFGS takes less than half the time where some features are rare and others frequent. */
typedef struct scaled {
    const trl_linear_problem *p;
    double *scale, *w; /* [n_features + 1] */
} scaled;

static void set_scale(scaled *x)
{
    const trl_linear_problem *p = x->p;
    const size_t n = p->n_features, active = p->n ? p->end[p->n - 1] : 0;
    size_t yes = 0;
    for (size_t i = 0; i < p->n; i++)
        yes += p->y[i] > 0;
    const double share = ((double)yes + 1.0) / ((double)p->n + 2.0), curve = share * (1.0 - share);
    for (size_t f = 0; f < n; f++)
        x->scale[f] = 2.0 * p->c2;
    x->scale[n] = curve * ((double)p->n + 1.0);
    for (size_t k = 0; k < active; k++)
        x->scale[p->feature[k]] += curve;
    for (size_t f = 0; f <= n; f++)
        x->scale[f] = x->scale[f] > 0.0 ? 1.0 / sqrt(x->scale[f]) : 1.0;
}

static trl_status eval(void *self, const double *z, double *g, double *F, trl_error *err)
{
    const scaled *x = self;
    const size_t n = x->p->n_features + 1;
    (void)err;
    for (size_t f = 0; f < n; f++)
        x->w[f] = x->scale[f] * z[f];
    *F = trl_linear_objective(x->p, x->w, g);
    if (x->p->no_intercept) /* stays 0, where it begins */
        g[n - 1] = 0.0;
    for (size_t f = 0; f < n; f++)
        g[f] *= x->scale[f];
    return TRL_OK;
}

trl_status trl_linear_fit(const trl_linear_problem *p, double *w, trl_error *err)
{
    const size_t n = p->n_features + 1;
    scaled x = {p, trl_alloc(n, sizeof *x.scale), trl_alloc(n, sizeof *x.w)};
    trl_ending ending;
    const trl_function f = {.self = &x, .n = n, .eval = eval};
    const trl_lbfgs_options o = {
        .memory = 6, .max_iter = 200, .epsilon = 1e-4, .period = 10, .delta = 1e-6};
    const trl_descent how = {.pool = trl_pool_new(1), .x = w, .ending = &ending};
    memset(w, 0, (p->n_features + 65) * sizeof *w);
    trl_status st = x.scale && x.w && how.pool ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        set_scale(&x);
        st = trl_lbfgs(&f, &o, &how, err);
        for (size_t k = 0; k < n; k++)
            w[k] *= x.scale[k];
    }
    trl_pool_free(how.pool);
    trl_free(x.scale);
    trl_free(x.w);
    return st;
}
