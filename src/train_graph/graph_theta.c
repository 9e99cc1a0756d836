/* graph_theta.c -- scores to log-potentials. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_theta.h"

#include <string.h>

#include "num/blas1.h"

const double *trl_graph_theta(const trl_factor_scores *s, size_t cells, trl_arena *arena)
{
    const bool spread = s->spread.cell;
    if (!spread && (!s->shared || !s->row) && (s->shared || s->row))
        return s->shared ? s->shared : s->row;
    double *theta = trl_arena_get(arena, cells, sizeof *theta);
    const double *const parts[] = {s->shared, s->row};
    if (theta && spread)
        trl_spread_cells(&s->spread, s->shared, s->row, theta);
    else if (theta && s->shared)
        trl_sum_vectors(cells, 2, parts, theta);
    else if (theta) /* all its features were dropped */
        memset(theta, 0, cells * sizeof *theta);
    return theta;
}
