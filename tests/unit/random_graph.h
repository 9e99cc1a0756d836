/* random_graph.h -- small factor graphs of every shape, and what enumeration says of them. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_RANDOM_GRAPH_H
#define TRL_TEST_RANDOM_GRAPH_H

#include "support.h"

#include "base/rng.h"
#include "trellis/graph.h"

typedef enum graph_shape {
    SHAPE_TREE,
    SHAPE_CYCLE,
    SHAPE_GRID,
    SHAPE_TRIPLES,
    SHAPE_ANY,
    SHAPES
} graph_shape;

typedef struct graph_recipe {
    graph_shape shape;
    double scale; /* of the log-potentials */
    double zeros; /* share of -inf */
    bool unary, shared;
} graph_recipe;

static inline double random_normal(trl_rng *rng)
{
    const double u = trl_rng_unit(rng) + 0x1p-60, v = trl_rng_unit(rng);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static inline void random_factor(trl_rng *rng, trl_graph *g, const graph_recipe *r, size_t n,
                                 const uint32_t *v)
{
    trl_error err = {0};
    const trl_graph_view look = trl_graph_look(g);
    size_t cells = 1;
    for (size_t k = 0; k < n; k++)
        cells *= look.labels[v[k]];
    /* shared: the table of an earlier factor with the same shape, where there is one */
    for (size_t a = 0; r->shared && a < look.n_factors; a++) {
        bool same = look.scope_at[a + 1] - look.scope_at[a] == n;
        for (size_t k = 0; same && k < n; k++)
            same = look.labels[look.scope[look.scope_at[a] + k]] == look.labels[v[k]];
        if (same) {
            assert_ok(trl_graph_add_factor(g, n, v, look.table_of[a], &err));
            return;
        }
    }
    double *theta = malloc(cells * sizeof *theta);
    assert_non_null(theta);
    for (size_t i = 0; i < cells; i++)
        theta[i] = trl_rng_unit(rng) < r->zeros ? -HUGE_VAL : r->scale * random_normal(rng);
    theta[trl_rng_below(rng, cells)] = 0.0;
    assert_ok(trl_graph_add_table(g, cells, theta, &err));
    assert_ok(trl_graph_add_factor(g, n, v, (uint32_t)look.n_tables, &err));
    free(theta);
}

static inline void random_pairs(trl_rng *rng, trl_graph *g, const graph_recipe *r, uint32_t n)
{
    for (uint32_t v = 1; v < n; v++) {
        const uint32_t u = (uint32_t)trl_rng_below(rng, v);
        if (r->shape == SHAPE_TREE) /* either order of the variables */
            random_factor(rng, g, r, 2, v % 2 ? (uint32_t[]){u, v} : (uint32_t[]){v, u});
        else if (r->shape == SHAPE_CYCLE)
            random_factor(rng, g, r, 2, (uint32_t[]){v - 1, v});
        else if (r->shape == SHAPE_GRID) { /* three wide */
            if (v % 3)
                random_factor(rng, g, r, 2, (uint32_t[]){v - 1, v});
            if (v >= 3)
                random_factor(rng, g, r, 2, (uint32_t[]){v, v - 3});
        } else if (r->shape == SHAPE_TRIPLES && v >= 2)
            random_factor(rng, g, r, 3, (uint32_t[]){v, v - 2, v - 1});
    }
    if (r->shape == SHAPE_CYCLE && n > 2)
        random_factor(rng, g, r, 2, (uint32_t[]){n - 1, 0});
}

static inline trl_graph *random_graph(trl_rng *rng, const graph_recipe *r)
{
    trl_error err = {0};
    trl_graph *g = NULL;
    assert_ok(trl_graph_new(&g, &err));
    const uint32_t n = 2 + (uint32_t)trl_rng_below(rng, 6);
    for (uint32_t v = 0; v < n; v++)
        assert_ok(trl_graph_add_variable(g, 1 + (uint32_t)trl_rng_below(rng, 4), &err));
    for (uint32_t v = 0; r->unary && v < n; v++)
        random_factor(rng, g, r, 1, &v);
    random_pairs(rng, g, r, n);
    for (size_t k = 0; r->shape == SHAPE_ANY && k < n; k++) { /* of up to four variables */
        uint32_t v[4];
        size_t m = 0, want = trl_rng_below(rng, 5);
        for (uint32_t u = 0; u < n && m < want; u++)
            if (trl_rng_below(rng, n) < want)
                v[m++] = u;
        random_factor(rng, g, r, m, v);
    }
    return g;
}

/* What there is to know, by looking at every labelling. */
typedef struct graph_truth {
    double log_z, best; /* -inf: everything is forbidden */
    double *variable, *factor;
    size_t n_best;
} graph_truth;

static inline bool next_labelling(const trl_graph_view *g, uint32_t *y, const uint32_t *evidence)
{
    for (size_t v = g->n_variables; v-- > 0;) {
        if (evidence && evidence[v] != TRL_UNOBSERVED)
            continue;
        if (++y[v] < g->labels[v])
            return true;
        y[v] = 0;
    }
    return false;
}

static inline size_t cell_of(const trl_graph_view *g, size_t a, const uint32_t *y)
{
    size_t cell = 0;
    for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
        cell = cell * g->labels[g->scope[k]] + y[g->scope[k]];
    return cell;
}

static inline graph_truth enumerate(const trl_graph *graph, const double *const *table,
                                    const uint32_t *evidence)
{
    const trl_graph_view g = trl_graph_look(graph);
    graph_truth t = {.best = -HUGE_VAL,
                     .variable = calloc(g.label_at[g.n_variables] + 1, sizeof(double)),
                     .factor = calloc(g.cell_at[g.n_factors] + 1, sizeof(double))};
    uint32_t *y = calloc(g.n_variables + 1, sizeof *y);
    assert_true(t.variable && t.factor && y);
    for (int pass = 0; pass < 2; pass++) { /* the largest score first, then sums */
        long double z = 0.0L;
        for (size_t v = 0; v < g.n_variables; v++)
            y[v] = evidence && evidence[v] != TRL_UNOBSERVED ? evidence[v] : 0;
        do {
            const double s = trl_graph_score(graph, table, y);
            if (pass == 0) {
                t.best = s > t.best ? s : t.best;
                continue;
            }
            const long double w = expl((long double)s - (long double)t.best);
            z += w;
            t.n_best += s > t.best - 1e-9;
            for (size_t v = 0; v < g.n_variables; v++)
                t.variable[g.label_at[v] + y[v]] += (double)w;
            for (size_t a = 0; a < g.n_factors; a++)
                t.factor[g.cell_at[a] + cell_of(&g, a, y)] += (double)w;
        } while (next_labelling(&g, y, evidence));
        if (t.best == -HUGE_VAL)
            break;
        t.log_z = t.best + (double)logl(z);
        for (size_t i = 0; pass == 1 && i < g.label_at[g.n_variables]; i++)
            t.variable[i] /= (double)z;
        for (size_t i = 0; pass == 1 && i < g.cell_at[g.n_factors]; i++)
            t.factor[i] /= (double)z;
    }
    if (t.best == -HUGE_VAL)
        t.log_z = -HUGE_VAL;
    free(y);
    return t;
}

static inline void truth_fini(graph_truth *t)
{
    free(t->variable);
    free(t->factor);
}

#endif
