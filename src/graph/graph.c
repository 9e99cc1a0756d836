/* graph.c -- building factor graphs. */
/* SPDX-License-Identifier: MIT */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

trl_status trl_graph_new(trl_graph **out, trl_error *err)
{
    if (!out)
        return trl_fail_null(err);
    trl_graph *g = trl_zalloc(1, sizeof *g);
    if (!g)
        return trl_fail_mem(err);
    g->label_at = trl_zalloc(1, sizeof *g->label_at);
    g->scope_at = trl_zalloc(1, sizeof *g->scope_at);
    g->cell_at = trl_zalloc(1, sizeof *g->cell_at);
    if (!g->label_at || !g->scope_at || !g->cell_at) {
        trl_graph_free(g);
        return trl_fail_mem(err);
    }
    *out = g;
    return TRL_OK;
}

void trl_graph_free(trl_graph *g)
{
    if (!g)
        return;
    for (size_t t = 0; t < g->n_tables; t++)
        trl_free(g->table[t]);
    trl_free(g->table);
    trl_free(g->about);
    trl_free(g->labels);
    trl_free(g->label_at);
    trl_free(g->scope);
    trl_free(g->scope_at);
    trl_free(g->table_of);
    trl_free(g->cell_at);
    trl_free(g);
}

trl_graph_view trl_graph_look(const trl_graph *g)
{
    if (!g)
        return (trl_graph_view){0};
    return (trl_graph_view){.n_variables = g->n_variables,
                            .n_factors = g->n_factors,
                            .n_tables = g->n_tables,
                            .labels = g->labels,
                            .label_at = g->label_at,
                            .scope_at = g->scope_at,
                            .scope = g->scope,
                            .table_of = g->table_of,
                            .cell_at = g->cell_at,
                            .table = (const double *const *)g->table};
}

/* Room for element n of two or three arrays of the same capacity. */
static bool grow(void **p, size_t n, size_t *cap, const size_t *size, size_t arrays)
{
    if (n < *cap)
        return true;
    const size_t next = *cap < 16 ? 16 : 2 * *cap;
    for (size_t k = 0; k < arrays; k++) {
        void *q = trl_realloc(p[k], next + 1, size[k]);
        if (!q)
            return false;
        p[k] = q;
    }
    *cap = next;
    return true;
}

trl_status trl_graph_add_variable(trl_graph *g, uint32_t labels, trl_error *err)
{
    if (!g)
        return trl_fail_null(err);
    if (labels == 0)
        return trl_fail(err, TRL_EINVAL, "a variable needs at least one label");
    if (g->n_variables == TRL_GRAPH_MAX_VARIABLES)
        return trl_fail(err, TRL_EINVAL, "more than %zu variables", TRL_GRAPH_MAX_VARIABLES);
    void *p[2] = {g->labels, g->label_at};
    const bool ok = grow(p, g->n_variables, &g->cap_variables,
                         (const size_t[]){sizeof *g->labels, sizeof *g->label_at}, 2);
    g->labels = p[0];
    g->label_at = p[1];
    if (!ok)
        return trl_fail_mem(err);
    g->labels[g->n_variables] = labels;
    g->label_at[g->n_variables + 1] = g->label_at[g->n_variables] + labels;
    g->n_variables++;
    return TRL_OK;
}

trl_status trl_graph_take_table(trl_graph *g, size_t cells, double *theta, trl_error *err)
{
    if (cells == 0)
        return trl_fail(err, TRL_EINVAL, "a table needs at least one cell");
    for (size_t i = 0; theta && i < cells; i++)
        if (!(theta[i] < HUGE_VAL))
            return trl_fail(err, TRL_EINVAL, "cell %zu of a table is %g", i, theta[i]);
    if (g->n_tables == UINT32_MAX)
        return trl_fail(err, TRL_EINVAL, "too many tables");
    void *p[2] = {g->table, g->about};
    const bool ok = grow(p, g->n_tables, &g->cap_tables,
                         (const size_t[]){sizeof *g->table, sizeof *g->about}, 2);
    g->table = p[0];
    g->about = p[1];
    if (!ok)
        return trl_fail_mem(err);
    g->about[g->n_tables] = (trl_graph_table){cells, UINT32_MAX};
    g->table[g->n_tables++] = theta;
    return TRL_OK;
}

trl_status trl_graph_add_table(trl_graph *g, size_t cells, const double *theta, trl_error *err)
{
    if (!g)
        return trl_fail_null(err);
    if (!theta)
        return trl_graph_take_table(g, cells, NULL, err);
    double *copy = trl_alloc(cells, sizeof *copy);
    if (!copy)
        return trl_fail_mem(err);
    if (cells)
        memcpy(copy, theta, cells * sizeof *copy);
    const trl_status st = trl_graph_take_table(g, cells, copy, err);
    if (st != TRL_OK)
        trl_free(copy);
    return st;
}

size_t trl_graph_cells(const trl_graph_view *g, size_t n, const uint32_t *variables, size_t limit)
{
    size_t cells = 1;
    for (size_t k = 0; k < n; k++)
        if (__builtin_mul_overflow(cells, (size_t)g->labels[variables[k]], &cells) || cells > limit)
            return SIZE_MAX;
    return cells;
}

/* Whether the table has, or is free to get, the shape of the scope. */
static trl_status check_shape(const trl_graph *g, size_t n, const uint32_t *variables,
                              uint32_t table, trl_error *err)
{
    const trl_graph_view v = trl_graph_look(g);
    const size_t cells = trl_graph_cells(&v, n, variables, SIZE_MAX - 1);
    const uint32_t first = g->about[table].factor;
    if (cells != g->about[table].n_cells)
        return trl_fail(err, TRL_EINVAL, "a table of %zu cells for a factor of %zu",
                        g->about[table].n_cells, cells);
    if (first == UINT32_MAX)
        return TRL_OK;
    const uint32_t *other = g->scope + g->scope_at[first];
    bool same = g->scope_at[first + 1] - g->scope_at[first] == n;
    for (size_t k = 0; same && k < n; k++)
        same = g->labels[variables[k]] == g->labels[other[k]];
    return same ? TRL_OK
                : trl_fail(err, TRL_EINVAL,
                           "the table %u is shared by factors whose variables have "
                           "other numbers of labels",
                           table);
}

static trl_status check_factor(const trl_graph *g, size_t n, const uint32_t *variables,
                               uint32_t table, trl_error *err)
{
    if (n > TRL_GRAPH_MAX_ARITY)
        return trl_fail(err, TRL_EINVAL, "a factor of %zu variables; at most %d are possible", n,
                        TRL_GRAPH_MAX_ARITY);
    if (table >= g->n_tables)
        return trl_fail(err, TRL_EINVAL, "there is no table %u", table);
    for (size_t k = 0; k < n; k++) {
        if (variables[k] >= g->n_variables)
            return trl_fail(err, TRL_EINVAL, "there is no variable %u", variables[k]);
        for (size_t j = 0; j < k; j++)
            if (variables[j] == variables[k])
                return trl_fail(err, TRL_EINVAL, "variable %u is twice in a factor", variables[k]);
    }
    return check_shape(g, n, variables, table, err);
}

trl_status trl_graph_add_factor(trl_graph *g, size_t n, const uint32_t *variables, uint32_t table,
                                trl_error *err)
{
    if (!g || (!variables && n))
        return trl_fail_null(err);
    const trl_status st = check_factor(g, n, variables, table, err);
    if (st != TRL_OK)
        return st;
    if (g->n_factors == UINT32_MAX - 1)
        return trl_fail(err, TRL_EINVAL, "too many factors");
    uint32_t *scope = trl_reserve(g->scope, &g->cap_scope, g->n_scope + n, sizeof *scope);
    if (!scope)
        return trl_fail_mem(err);
    g->scope = scope;
    void *p[3] = {g->table_of, g->scope_at, g->cell_at};
    const bool ok =
        grow(p, g->n_factors, &g->cap_factors,
             (const size_t[]){sizeof *g->table_of, sizeof *g->scope_at, sizeof *g->cell_at}, 3);
    g->table_of = p[0];
    g->scope_at = p[1];
    g->cell_at = p[2];
    if (!ok)
        return trl_fail_mem(err);
    if (n)
        memcpy(g->scope + g->n_scope, variables, n * sizeof *scope);
    g->n_scope += n;
    g->table_of[g->n_factors] = table;
    g->scope_at[g->n_factors + 1] = g->n_scope;
    g->cell_at[g->n_factors + 1] = g->cell_at[g->n_factors] + g->about[table].n_cells;
    if (g->about[table].factor == UINT32_MAX)
        g->about[table].factor = (uint32_t)g->n_factors;
    g->n_factors++;
    return TRL_OK;
}

double trl_graph_score(const trl_graph *g, const double *const *table, const uint32_t *y)
{
    double score = 0.0;
    if (!g || !y)
        return NAN;
    for (size_t a = 0; a < g->n_factors; a++) {
        size_t cell = 0;
        for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
            cell = cell * g->labels[g->scope[k]] + y[g->scope[k]];
        const double *theta = table ? table[g->table_of[a]] : g->table[g->table_of[a]];
        score += theta ? theta[cell] : (double)NAN;
    }
    return score;
}
