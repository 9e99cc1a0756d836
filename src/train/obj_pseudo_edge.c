/* obj_pseudo_edge.c -- pseudolikelihood per factor: its labels given all others [SM05, eq. 25].
 *
 *     value = sum_a log p(y_a | all other labels, x)
 *
 * over the factors a of two and more variables; all factors that touch them matter.  A variable
 * that none of these holds has a term of its own.  A graph that is one such factor gives the
 * likelihood. Chains have a faster form (chain/obj_pseudo_edge.c).
 *
 * [SM05] Sutton, McCallum. Piecewise training for undirected models. UAI 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "train/factors.h"

trl_status trl_factor_pseudo_edge(const trl_factor_view *x, double *value, trl_error *err)
{
    trl_factor_index i;
    double sum = 0.0;
    const trl_status st = trl_factor_index_init(&i, x, err);
    bool *held = trl_arena_get(x->arena, x->n_variables, sizeof *held);
    if (st != TRL_OK || !held)
        return st != TRL_OK ? st : trl_fail_mem(err);
    memset(held, 0, x->n_variables * sizeof *held);
    for (size_t a = 0; a < x->n; a++) {
        const trl_scored_factor *f = &x->factor[a];
        if (f->n_variables < 2)
            continue;
        sum += trl_block_term(&i, f->n_variables, f->variable,
                              trl_block_factors(&i, f->n_variables, f->variable));
        for (size_t k = 0; k < f->n_variables; k++)
            held[f->variable[k]] = true;
    }
    for (uint32_t v = 0; v < x->n_variables; v++)
        if (!held[v])
            sum += trl_block_term(&i, 1, &v, trl_block_factors(&i, 1, &v));
    return trl_factor_value(x, sum, value, err);
}
