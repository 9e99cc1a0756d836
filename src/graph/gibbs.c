/* gibbs.c -- Gibbs sampling. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "graph/problem.h"

/* Draws a label from the row of log-scores, which becomes the distribution. */
static uint32_t draw(trl_rng *rng, uint32_t n, double *row)
{
    double max = -HUGE_VAL, sum = 0.0;
    for (uint32_t x = 0; x < n; x++)
        max = row[x] > max ? row[x] : max;
    for (uint32_t x = 0; x < n; x++)
        sum += row[x] = exp(row[x] - max);
    double u = trl_rng_unit(rng) * sum;
    uint32_t y = n;
    for (uint32_t x = 0; x < n; x++) {
        if (y == n && u < row[x])
            y = x;
        u -= row[x];
        row[x] /= sum;
    }
    while (y == n || !(row[y] > 0.0)) /* rounding went past the end */
        y--;
    return y;
}

static void count_factors(const trl_graph_view *g, const uint32_t *y, double *factor)
{
    for (size_t a = 0; a < g->n_factors; a++) {
        size_t cell = 0;
        for (size_t k = g->scope_at[a]; k < g->scope_at[a + 1]; k++)
            cell = cell * g->labels[g->scope[k]] + y[g->scope[k]];
        factor[g->cell_at[a] + cell] += 1.0;
    }
}

static void sweep(const trl_problem *p, trl_rng *rng, double *row, uint32_t *y, double *variable)
{
    for (uint32_t v = 0; v < p->g->n_variables; v++) {
        trl_local_scores(p, v, y, row);
        y[v] = draw(rng, p->g->labels[v], row);
        for (size_t x = 0; variable && x < p->g->labels[v]; x++)
            variable[p->g->label_at[v] + x] += row[x];
    }
}

static void divide(size_t n, double by, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] /= by;
}

trl_status trl_gibbs(const trl_problem *p, const trl_method_options *o, double *variable,
                     double *factor, uint32_t *best, trl_error *err)
{
    const trl_graph_view *g = p->g;
    const size_t labels = g->label_at[g->n_variables], cells = g->cell_at[g->n_factors];
    double *row = trl_arena_get(p->arena, p->l->max_width, sizeof *row);
    uint32_t *y = trl_arena_get(p->arena, g->n_variables, sizeof *y);
    if (!row || !y)
        return trl_fail_mem(err);
    const trl_status st = trl_search_allowed(p, y, err);
    if (st != TRL_OK)
        return st;
    trl_rng rng = trl_rng_seed(o->seed);
    double score = -HUGE_VAL;
    memset(variable, 0, labels * sizeof *variable);
    memset(factor, 0, cells * sizeof *factor);
    for (uint64_t k = 0; k < o->burn_in + o->samples; k++) {
        const bool kept = k >= o->burn_in;
        sweep(p, &rng, row, y, kept ? variable : NULL);
        if (kept)
            count_factors(g, y, factor);
        if (best && trl_problem_score(p, y) > score) {
            score = trl_problem_score(p, y);
            memcpy(best, y, g->n_variables * sizeof *y);
        }
    }
    divide(labels, (double)o->samples, variable);
    divide(cells, (double)o->samples, factor);
    if (best)
        trl_climb(p, row, best);
    return TRL_OK;
}
