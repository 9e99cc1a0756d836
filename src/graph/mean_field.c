/* mean_field.c -- the best product of independent distributions.
 *
 *     log q_v(x) = E[ sum of theta_a with y_v = x ] + constant, expectations over the others.
 *
 * A forbidden cell that has any probability forbids its label.  Where there are such cells, q
 * starts at an allowed labelling, from where the bound is finite and never falls.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "graph/problem.h"

/* out[x] += E[theta_a | y_v = x], v at place `slot`; where slot is the arity: out[0] += E[theta_a].
 */
static void expect(const trl_problem *p, size_t a, size_t slot, const double *q, double *out)
{
    const trl_graph_view *g = p->g;
    const size_t m = trl_arity(g, a), first = g->scope_at[a];
    const double *theta = p->table[g->table_of[a]];
    size_t index[TRL_GRAPH_MAX_ARITY] = {0};
    for (size_t i = 0; i < g->cell_at[a + 1] - g->cell_at[a]; i++) {
        double w = 1.0;
        for (size_t k = 0; k < m; k++)
            if (k != slot)
                w *= q[g->label_at[g->scope[first + k]] + index[k]];
        if (w > 0.0)
            out[slot < m ? index[slot] : 0] += w * theta[i];
        for (size_t k = m; k-- > 0; index[k] = 0)
            if (++index[k] < g->labels[g->scope[first + k]])
                break;
    }
}

/* Turns logarithms into probabilities; false: all are 0. */
static bool exponentiate(size_t n, double *x)
{
    double max = -HUGE_VAL, sum = 0.0;
    for (size_t j = 0; j < n; j++)
        max = x[j] > max ? x[j] : max;
    if (max == -HUGE_VAL)
        return false;
    for (size_t j = 0; j < n; j++)
        sum += x[j] = exp(x[j] - max);
    for (size_t j = 0; j < n; j++)
        x[j] /= sum;
    return true;
}

/* The new q_v; returns how much it changed. */
static double update(const trl_problem *p, uint32_t v, double *row, double *q)
{
    const trl_graph_view *g = p->g;
    double change = 0.0;
    for (size_t x = 0; x < g->labels[v]; x++)
        row[x] = p->node[g->label_at[v] + x];
    for (size_t i = p->l->link_at[v]; i < p->l->link_at[v + 1]; i++) {
        const uint32_t e = p->l->link[i], a = p->l->edge_factor[e];
        expect(p, a, e - g->scope_at[a], q, row);
    }
    if (!exponentiate(g->labels[v], row)) /* not from an allowed start */
        return 0.0;
    for (size_t x = 0; x < g->labels[v]; x++) {
        change = fmax(change, fabs(row[x] - q[g->label_at[v] + x]));
        q[g->label_at[v] + x] = row[x];
    }
    return change;
}

static trl_status start(const trl_problem *p, double *q, trl_error *err)
{
    const trl_graph_view *g = p->g;
    if (!p->has_zeros) {
        for (uint32_t v = 0; v < g->n_variables; v++) {
            for (size_t i = g->label_at[v]; i < g->label_at[v + 1]; i++)
                q[i] = p->node[i];
            exponentiate(g->labels[v], q + g->label_at[v]);
        }
        return TRL_OK;
    }
    uint32_t *y = trl_arena_get(p->arena, g->n_variables, sizeof *y);
    if (!y)
        return trl_fail_mem(err);
    const trl_status st = trl_search_allowed(p, y, err);
    if (st != TRL_OK)
        return st;
    for (uint32_t v = 0; v < g->n_variables; v++)
        for (uint32_t x = 0; x < g->labels[v]; x++)
            q[g->label_at[v] + x] = x == y[v];
    return TRL_OK;
}

static double bound(const trl_problem *p, const double *q)
{
    const trl_graph_view *g = p->g;
    double value = 0.0;
    for (size_t a = 0; a < g->n_factors; a++)
        expect(p, a, trl_arity(g, a), q, &value);
    for (size_t i = 0; i < g->label_at[g->n_variables]; i++)
        value -= q[i] > 0.0 ? q[i] * log(q[i]) : 0.0;
    return value;
}

static void factor_products(const trl_graph_view *g, const double *q, double *factor)
{
    for (size_t a = 0; a < g->n_factors; a++) {
        size_t index[TRL_GRAPH_MAX_ARITY] = {0};
        const size_t m = trl_arity(g, a), first = g->scope_at[a];
        for (size_t i = g->cell_at[a]; i < g->cell_at[a + 1]; i++) {
            factor[i] = 1.0;
            for (size_t k = 0; k < m; k++)
                factor[i] *= q[g->label_at[g->scope[first + k]] + index[k]];
            for (size_t k = m; k-- > 0; index[k] = 0)
                if (++index[k] < g->labels[g->scope[first + k]])
                    break;
        }
    }
}

trl_status trl_mean_field(const trl_problem *p, const trl_method_options *o, trl_infer_result *out,
                          double *variable, double *factor, trl_error *err)
{
    double *row = trl_arena_get(p->arena, p->l->max_width, sizeof *row);
    if (!row)
        return trl_fail_mem(err);
    const trl_status st = start(p, variable, err);
    if (st != TRL_OK)
        return st;
    bool converged = p->g->n_variables == 0;
    while (!converged && out->updates < o->max_updates) {
        out->change = 0.0;
        for (uint32_t v = 0; v < p->g->n_variables; v++, out->updates++)
            out->change = fmax(out->change, update(p, v, row, variable));
        out->iterations++;
        converged = out->change <= o->tolerance;
    }
    out->converged = converged;
    out->log_z = bound(p, variable);
    out->log_z_status = TRL_VALUE_LOWER;
    factor_products(p->g, variable, factor);
    return TRL_OK;
}
