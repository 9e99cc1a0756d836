/* obj_pieces.c -- piecewise training over pieces of several factors [SM05].
 *
 *     value = sum over pieces r of s_r(y) - A(theta | r),   A the exact log-partition function of r
 *
 * Factors that are in no piece are pieces by themselves (train/obj_piecewise.c).  One piece of all
 * factors is the likelihood; the bound A(theta) <= sum_r A(theta | r) holds for any pieces.
 *
 * [SM05] Sutton, McCallum. Piecewise training of undirected models. UAI 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "train_graph/graph_objective.h"

static trl_status one_piece(const trl_graph_scores *x, const trl_graph_piece *p, double *sum,
                            trl_error *err)
{
    const trl_graph_view g = trl_graph_look(p->graph);
    const double **table = trl_arena_get(x->view.arena, p->n + 1, sizeof *table);
    if (!table)
        return trl_fail_mem(err);
    for (size_t i = 0; i < p->n; i++)
        table[i] = x->view.factor[p->factor[i]].score;
    trl_infer_result r;
    const trl_status st =
        trl_infer_marginals(p->plan, &(trl_infer_input){.table = table}, x->work, &r, err);
    if (st != TRL_OK)
        return trl_graph_failed(st, err);
    *sum -= r.log_z;
    for (size_t i = 0; i < p->n; i++) {
        const trl_scored_factor *f = &x->view.factor[p->factor[i]];
        for (size_t c = 0; c < f->n_cells; c++)
            f->adjoint[c] -= x->view.weight * r.factor[g.cell_at[i] + c];
        f->adjoint[f->gold] += x->view.weight;
        *sum += f->score[f->gold];
    }
    return TRL_OK;
}

trl_status trl_graph_piecewise(const trl_graph_scores *x, double *value, trl_error *err)
{
    const trl_graph_pieces *p = x->pieces;
    trl_scored_factor *alone = trl_arena_get(x->view.arena, p->n_single + 1, sizeof *alone);
    double sum = 0.0, rest = 0.0;
    trl_status st = alone ? TRL_OK : trl_fail_mem(err);
    for (size_t k = 0; st == TRL_OK && k < p->n; k++)
        if (p->piece[k].n > 0)
            st = one_piece(x, &p->piece[k], &sum, err);
    if (st == TRL_OK)
        st = trl_factor_value(&x->view, sum, value, err);
    if (st != TRL_OK || p->n_single == 0)
        return st;
    trl_factor_view view = x->view;
    for (size_t i = 0; i < p->n_single; i++)
        alone[i] = x->view.factor[p->single[i]];
    view.factor = alone;
    view.n = p->n_single;
    st = trl_factor_piecewise(&view, &rest, err);
    *value += rest;
    return st;
}
