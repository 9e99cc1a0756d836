/* obj_piecewise.c -- piecewise training: every factor its own normalised model [SM05, eq. 13].
 *
 *     value = sum_a [ theta_a(y_a) - A_a ],   A_a = log sum over all cells of exp theta_a
 *     d value / d theta_a = [gold cell] - exp(theta_a - A_a)
 *
 * The value bounds the likelihood from below on every graph: A <= sum_a A_a (Proposition 1). Chains
 * have a faster form (chain/obj_piecewise.c).
 *
 * [SM05] Sutton, McCallum. Piecewise training for undirected models. UAI 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "train/factors.h"

trl_status trl_factor_piecewise(const trl_factor_view *x, double *value, trl_error *err)
{
    size_t most = 0;
    double sum = 0.0;
    for (size_t a = 0; a < x->n; a++)
        most = x->factor[a].n_cells > most ? x->factor[a].n_cells : most;
    double *p = trl_arena_get(x->arena, most, sizeof *p);
    if (!p)
        return trl_fail_mem(err);
    for (size_t a = 0; a < x->n; a++) {
        const trl_scored_factor *f = &x->factor[a];
        memcpy(p, f->score, f->n_cells * sizeof *p);
        sum += trl_log_p(f->n_cells, p, f->gold);
        for (size_t c = 0; c < f->n_cells; c++)
            f->adjoint[c] -= x->weight * p[c];
        f->adjoint[f->gold] += x->weight;
    }
    return trl_factor_value(x, sum, value, err);
}
