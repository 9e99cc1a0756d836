/* objective_oracle.h -- values and adjoints of all objectives straight from their definitions.
 *
 * Every objective is a sum of terms.  A term compares labellings that differ only at positions
 * v0 .. v1 by the factors at positions u0 .. u1, and maybe NOTA, an outcome of score 0:
 *
 *     log p(gold outcome),   d / d score of a cell = [gold passes it] - sum of p over who passes it
 *
 *     likelihood  all positions, all factors           pseudolikelihood       t, all factors
 *     memm        t, the factor at t                   pseudolikelihood-edge  t-1 .. t, all factors
 *     piecewise   t - order .. t, the factor at t      nota                   as memm, plus NOTA
 *     pwpl        each of t - order .. t, the factor at t
 *
 * Long double, its own indexing, one exponential at a time.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_OBJECTIVE_ORACLE_H
#define TRL_TEST_OBJECTIVE_ORACLE_H

#include "chain/objective.h"
#include "random_chain.h"

enum { ORACLE_T = 5, ORACLE_L = 17, NOTA_ABSENT = 0, NOTA_WRONG, NOTA_RIGHT };

typedef struct oracle {
    const random_chain *r;
    long double value, weight;
    long double *row[TRL_FAMILIES]; /* [T][L^(f+1)] adjoint, without shared or row */
} oracle;

static inline size_t power(size_t x, size_t n)
{
    return n == 0 ? 1 : x * power(x, n - 1);
}

static inline void oracle_make(const random_chain *r, double weight, oracle *o)
{
    *o = (oracle){.r = r, .weight = (long double)weight};
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        o->row[f] = calloc(r->shape.T * power(r->shape.L, f + 1), sizeof *o->row[f]);
}

static inline void oracle_fini(oracle *o)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        free(o->row[f]);
}

/* The cell of family f at position t that the labelling y passes. */
static inline size_t cell_of(const random_chain *r, size_t f, size_t t, const uint32_t *y)
{
    size_t cell = 0;
    for (size_t d = 0; d <= f; d++)
        cell += y[t - d] * power(r->shape.L, d);
    return cell;
}

static inline long double factors_of(const random_chain *r, const uint32_t *y, size_t u0, size_t u1)
{
    long double s = 0.0L;
    for (size_t u = u0; u <= u1; u++)
        for (size_t f = 0; f <= (size_t)r->shape.order && f <= u; f++)
            s += family_score(r, (int)f, u, cell_of(r, f, u, y));
    return s;
}

static inline void add_cells(oracle *o, const uint32_t *y, size_t u0, size_t u1, long double p)
{
    for (size_t u = u0; u <= u1; u++)
        for (size_t f = 0; f <= (size_t)o->r->shape.order && f <= u; f++)
            o->row[f][u * power(o->r->shape.L, f + 1) + cell_of(o->r, f, u, y)] += o->weight * p;
}

/* Labels number k of all that positions v0 .. v1 can have, the rest as in gold. */
static inline void outcome(const oracle *o, const uint32_t *gold, size_t v0, size_t v1, size_t k,
                           uint32_t *y)
{
    memcpy(y, gold, o->r->shape.T * sizeof *y);
    for (size_t v = v0; v <= v1; v++, k /= o->r->shape.L)
        y[v] = (uint32_t)(k % o->r->shape.L);
}

static inline void oracle_term(oracle *o, const uint32_t *gold, size_t u0, size_t u1, size_t v0,
                               size_t v1, int nota)
{
    uint32_t y[ORACLE_T];
    const size_t n = power(o->r->shape.L, v1 - v0 + 1);
    long double max = nota ? 0.0L : -HUGE_VALL, z = 0.0L;
    for (size_t k = 0; k < n; k++) {
        outcome(o, gold, v0, v1, k, y);
        const long double s = factors_of(o->r, y, u0, u1);
        max = s > max ? s : max;
    }
    for (size_t k = 0; max > -HUGE_VALL && k < n; k++) {
        outcome(o, gold, v0, v1, k, y);
        z += expl(factors_of(o->r, y, u0, u1) - max);
    }
    const long double log_z = max + logl(z + (nota ? expl(-max) : 0.0L));
    for (size_t k = 0; max > -HUGE_VALL && k < n; k++) {
        outcome(o, gold, v0, v1, k, y);
        const long double s = factors_of(o->r, y, u0, u1);
        if (s > -HUGE_VALL)
            add_cells(o, y, u0, u1, -expl(s - log_z));
    }
    const long double s = nota == NOTA_RIGHT ? 0.0L : factors_of(o->r, gold, u0, u1);
    if (nota != NOTA_RIGHT)
        add_cells(o, gold, u0, u1, 1.0L);
    o->value += s == -HUGE_VALL ? s : s - log_z;
}

/* Whether source q of position t is wrong and has an instance. */
static inline bool in_set(const trl_nota_view *n, size_t t, size_t q, size_t gold)
{
    return n->any && q != gold && (n->all || (n->bits[t * n->words + q / 64] >> q % 64 & 1));
}

static inline void oracle_nota(oracle *o, const uint32_t *gold, size_t t, const trl_nota_view *n)
{
    const size_t L = o->r->shape.L;
    const size_t d = t < (size_t)o->r->shape.order ? t : (size_t)o->r->shape.order;
    size_t right = 0;
    for (size_t k = d; k > 0; k--)
        right = right * L + gold[t - k];
    oracle_term(o, gold, t, t, t, t, n->any ? NOTA_WRONG : NOTA_ABSENT);
    for (size_t q = 0; t > 0 && q < power(L, d); q++) {
        uint32_t y[ORACLE_T];
        memcpy(y, gold, o->r->shape.T * sizeof *y);
        y[t - 1] = (uint32_t)(q % L);
        if (d == 2)
            y[t - 2] = (uint32_t)(q / L);
        if (in_set(n, t, q, right))
            oracle_term(o, y, t, t, t, t, NOTA_RIGHT);
    }
}

/* False: this objective is not a sum of such terms (the perceptron's, m-estimation). */
static inline bool oracle_run(oracle *o, const char *name, const uint32_t *gold,
                              const trl_nota_view *nota)
{
    const size_t T = o->r->shape.T, last = T - 1, order = (size_t)o->r->shape.order;
    if (strcmp(name, "likelihood") == 0 || (strcmp(name, "pseudolikelihood-edge") == 0 && T == 1)) {
        oracle_term(o, gold, 0, last, 0, last, NOTA_ABSENT);
        return true;
    }
    for (size_t t = 0; t < T; t++) {
        if (strcmp(name, "memm") == 0)
            oracle_term(o, gold, t, t, t, t, NOTA_ABSENT);
        else if (strcmp(name, "pseudolikelihood") == 0)
            oracle_term(o, gold, 0, last, t, t, NOTA_ABSENT);
        else if (strcmp(name, "piecewise") == 0)
            oracle_term(o, gold, t, t, t < order ? 0 : t - order, t, NOTA_ABSENT);
        else if (strcmp(name, "piecewise-pseudolikelihood") == 0)
            for (size_t v = t < order ? 0 : t - order; v <= t; v++)
                oracle_term(o, gold, t, t, v, v, NOTA_ABSENT);
        else if (strcmp(name, "piecewise-nota") == 0)
            oracle_nota(o, gold, t, nota);
        else if (strcmp(name, "pseudolikelihood-edge") != 0)
            return false;
        else if (t > 0)
            oracle_term(o, gold, 0, last, t - 1, t, NOTA_ABSENT);
    }
    return true;
}

/* The value of an objective, its adjoint thrown away. */
static inline double objective_value(const char *name, const trl_chain_example *x)
{
    trl_error err;
    double value;
    trl_chain_sums sums;
    trl_tables adjoint = *x->scores;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        adjoint.shared[f] = NULL;
        if (x->scores->row[f])
            adjoint.row[f] = trl_arena_get(x->arena, adjoint.n, adjoint.step[f] * sizeof(double));
    }
    assert_ok(trl_chain_sums_init(&sums, x->chain, &err));
    trl_chain_example with = *x;
    with.by_factors = trl_factor_objective_of(trl_objective_find(name));
    assert_ok(trl_chain_objective(trl_objective_find(name))(&with, &adjoint, &sums, &value, &err));
    trl_chain_sums_fini(&sums);
    return value;
}

#endif
