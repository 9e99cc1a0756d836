/* partial_oracle.h -- values of the objectives where labels are notes, by enumeration.
 *
 *     value = expectation, over independent draws of the soft labels, of
 *
 *     likelihood  log sum over allowed y of exp s(y) - log sum over all y of exp(s(y) + cost(y))
 *     memm        log sum over allowed y of prod_t p(y_t | source_t)^w_t
 *     others      sum of the terms whose conditioning labels are known, each the log of a sum
 *                 over allowed outcomes minus that over all outcomes, times w of its last token
 *
 * Long double, one labelling at a time.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_PARTIAL_ORACLE_H
#define TRL_TEST_PARTIAL_ORACLE_H

#include "objective_oracle.h"

typedef struct noted {
    const random_chain *r;
    trl_label_note note[ORACLE_T];
    const double *cost; /* [T][L]; NULL: none */
    uint32_t y[ORACLE_T];
} noted;

static inline bool allows(const trl_label_note *n, uint32_t y)
{
    for (size_t k = 0; k < n->n; k++)
        if (n->label[k] == y)
            return true;
    return false;
}

/* The positions v0 .. v1 of y have labels that their notes (or, once drawn, d) allow. */
static inline bool allowed(const noted *x, const uint32_t *d, const uint32_t *y, size_t v0,
                           size_t v1)
{
    for (size_t v = v0; v <= v1; v++)
        if (x->note[v].kind == TRL_LABEL_SOFT ? y[v] != d[v] : !allows(&x->note[v], y[v]))
            return false;
    return true;
}

static inline long double log_sum_add(long double a, long double b)
{
    const long double max = a > b ? a : b, min = a > b ? b : a;
    return min == -HUGE_VALL ? max : max + log1pl(expl(min - max));
}

/* log of the sum of exp(score) over the labellings that differ from d at v0 .. v1 only, by the
 * factors u0 .. u1. */
typedef struct oracle_span {
    size_t u0, u1, v0, v1;
} oracle_span;

static inline long double log_sum(const noted *x, const uint32_t *d, const oracle_span *at,
                                  bool only)
{
    const oracle o = {.r = x->r};
    const size_t n = power(x->r->shape.L, at->v1 - at->v0 + 1);
    long double sum = -HUGE_VALL;
    uint32_t y[ORACLE_T];
    for (size_t k = 0; k < n; k++) {
        outcome(&o, d, at->v0, at->v1, k, y);
        if (only && !allowed(x, d, y, at->v0, at->v1))
            continue;
        long double s = factors_of(x->r, y, at->u0, at->u1);
        for (size_t t = 0; !only && x->cost && t < x->r->shape.T; t++)
            s += (long double)x->cost[t * x->r->shape.L + y[t]];
        sum = log_sum_add(sum, s);
    }
    return sum;
}

/* A term; 0 where something that it conditions on, within reach of its factors, is not known. */
static inline long double noted_term(const noted *x, const uint32_t *d, oracle_span at)
{
    const size_t order = (size_t)x->r->shape.order;
    const size_t from = at.u0 < order ? 0 : at.u0 - order;
    for (size_t t = from; t <= at.u1; t++)
        if ((t < at.v0 || t > at.v1) &&
            (x->note[t].kind == TRL_LABEL_ANY || x->note[t].kind == TRL_LABEL_SET))
            return 0.0L;
    return (long double)x->note[at.v1].weight *
           (log_sum(x, d, &at, true) - log_sum(x, d, &at, false));
}

static inline long double noted_memm(const noted *x, const uint32_t *d)
{
    const oracle o = {.r = x->r};
    const size_t T = x->r->shape.T;
    long double sum = -HUGE_VALL;
    uint32_t y[ORACLE_T];
    for (size_t k = 0; k < power(x->r->shape.L, T); k++) {
        outcome(&o, d, 0, T - 1, k, y);
        long double s = 0.0L;
        for (size_t t = 0; allowed(x, d, y, 0, T - 1) && t < T; t++)
            s += (long double)x->note[t].weight *
                 (factors_of(x->r, y, t, t) - log_sum(x, y, &(oracle_span){t, t, t, t}, false));
        if (allowed(x, d, y, 0, T - 1))
            sum = log_sum_add(sum, s);
    }
    return sum;
}

static inline long double noted_drawn(const noted *x, const char *name, const uint32_t *d)
{
    const size_t T = x->r->shape.T, last = T - 1, order = (size_t)x->r->shape.order;
    const bool pairs = strcmp(name, "pseudolikelihood-edge") == 0;
    if (strcmp(name, "likelihood") == 0) {
        const oracle_span all = {0, last, 0, last};
        return log_sum(x, d, &all, true) - log_sum(x, d, &all, false);
    }
    if (strcmp(name, "memm") == 0)
        return noted_memm(x, d);
    long double sum = 0.0L;
    for (size_t t = pairs && T > 1 ? 1 : 0; t < T; t++) {
        const size_t first = t < order ? 0 : t - order, to = t + order < last ? t + order : last;
        if (strcmp(name, "piecewise") == 0)
            sum += noted_term(x, d, (oracle_span){t, t, first, t});
        else if (strcmp(name, "pseudolikelihood") == 0)
            sum += noted_term(x, d, (oracle_span){t, to, t, t});
        else if (pairs)
            sum += noted_term(x, d, (oracle_span){T > 1 ? t - 1 : t, to, T > 1 ? t - 1 : t, t});
        else
            for (size_t v = first; v <= t; v++)
                sum += noted_term(x, d, (oracle_span){t, t, v, v});
    }
    return sum;
}

/* Over all draws of the soft labels from position t on. */
static inline long double noted_value(noted *x, const char *name, size_t t)
{
    while (t < x->r->shape.T && x->note[t].kind != TRL_LABEL_SOFT) {
        x->y[t] = x->note[t].label[0];
        t++;
    }
    if (t == x->r->shape.T)
        return noted_drawn(x, name, x->y);
    long double sum = 0.0L;
    for (size_t k = 0; k < x->note[t].n; k++) {
        x->y[t] = x->note[t].label[k];
        sum += (long double)x->note[t].p[k] * noted_value(x, name, t + 1);
    }
    return sum;
}

#endif
