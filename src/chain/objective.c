/* objective.c -- the objectives of chains by their ids, and what they share. */
/* SPDX-License-Identifier: MIT */
#include "chain/objective.h"

#include <string.h>

static const trl_objective_fn functions[TRL_OBJECTIVES] = {
    [TRL_OBJ_LIKELIHOOD] = trl_obj_likelihood, [TRL_OBJ_MEMM] = trl_obj_memm,
    [TRL_OBJ_PSEUDO] = trl_obj_pseudo,         [TRL_OBJ_PSEUDO_EDGE] = trl_obj_pseudo_edge,
    [TRL_OBJ_PIECEWISE] = trl_obj_piecewise,   [TRL_OBJ_NOTA] = trl_obj_nota,
    [TRL_OBJ_PERCEPTRON] = trl_obj_perceptron,
    /* m-estimation is not a sum over score tables (src/mest), hmm is counted (model/hmm.h) */
};

static const trl_objective_fn partial[TRL_OBJECTIVES] = {
    [TRL_OBJ_LIKELIHOOD] = trl_obj_likelihood_partial,
    [TRL_OBJ_MEMM] = trl_obj_memm_partial,
};

trl_objective_fn trl_chain_objective_partial(const trl_objective *o)
{
    if (partial[o->id])
        return partial[o->id];
    return trl_factor_objective_partial(o) ? trl_obj_by_factors : NULL;
}

trl_objective_fn trl_chain_objective(const trl_objective *o)
{
    if (functions[o->id])
        return functions[o->id];
    return trl_factor_objective_of(o) ? trl_obj_by_factors : NULL;
}

void trl_add_path(const trl_chain *c, const uint32_t *y, double amount, trl_tables *adjoint)
{
    size_t cell = 0;
    for (size_t t = 0; t < adjoint->n; t++)
        for (size_t f = 0; f <= (size_t)c->order && f <= t; f++) {
            cell = y[t - f];
            for (size_t k = f; k > 0; k--)
                cell = cell * c->L + y[t - k + 1];
            if (adjoint->row[f])
                adjoint->row[f][t * adjoint->step[f] + cell] += amount;
            if (adjoint->shared[f])
                adjoint->shared[f][cell] += amount;
        }
}

void trl_clear_rows(trl_tables *adjoint)
{
    for (size_t f = 0; f < TRL_FAMILIES; f++)
        if (adjoint->row[f])
            memset(adjoint->row[f], 0, adjoint->n * adjoint->step[f] * sizeof(double));
}
