/* objective.c -- the table of objectives, and what they share. */
/* SPDX-License-Identifier: MIT */
#include "chain/objective.h"

#include <string.h>

static const trl_objective objectives[] = {
    {"likelihood", "crf", trl_obj_likelihood, true, false},
    {"memm", "memm", trl_obj_memm, true, true},
    {"pseudolikelihood", "pl", trl_obj_pseudo, true, false},
    {"pseudolikelihood-edge", "ple", trl_obj_pseudo_edge, true, false},
    {"piecewise", "pw", trl_obj_piecewise, true, false},
    {"piecewise-nota", "nota", trl_obj_nota, true, true},
    {"perceptron", "ap", trl_obj_perceptron, false, false},
    {"m-estimation", "mest", NULL, true, false}, /* not a sum over score tables: src/mest */
    {"hmm", "hmm", NULL, true, false},           /* counted: model/hmm.h */
};

const trl_objective *trl_objective_at(size_t k)
{
    return k < sizeof objectives / sizeof *objectives ? &objectives[k] : NULL;
}

const trl_objective *trl_objective_find(const char *name)
{
    for (size_t k = 0; trl_objective_at(k); k++)
        if (strcmp(name, objectives[k].name) == 0 || strcmp(name, objectives[k].brief) == 0)
            return &objectives[k];
    return NULL;
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
