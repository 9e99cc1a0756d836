/* graph_objective.c -- the objectives of graphs by their ids. */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_objective.h"

#include "base/fail.h"

static const trl_graph_objective_fn functions[TRL_OBJECTIVES] = {
    [TRL_OBJ_LIKELIHOOD] = trl_graph_likelihood,
    [TRL_OBJ_BETHE] = trl_graph_likelihood,
    [TRL_OBJ_TRW] = trl_graph_likelihood,
    [TRL_OBJ_PERCEPTRON] = trl_graph_perceptron,
};

trl_graph_objective_fn trl_graph_objective(const trl_objective *o, bool pieces)
{
    if (pieces && o->id == TRL_OBJ_PIECEWISE)
        return trl_graph_piecewise;
    return functions[o->id];
}

trl_infer_method trl_graph_method(const trl_objective *o, trl_infer_method asked)
{
    switch (o->id) {
    case TRL_OBJ_LIKELIHOOD:
        return TRL_INFER_EXACT;
    case TRL_OBJ_BETHE:
        return TRL_INFER_BP;
    case TRL_OBJ_TRW:
        return TRL_INFER_TRW;
    default:
        return asked;
    }
}

trl_status trl_graph_failed(trl_status st, trl_error *err)
{
    return st == TRL_EINVAL ? trl_fail(err, TRL_ENUMERIC, "a score is not a number") : st;
}

double trl_graph_gold_score(const trl_graph_scores *x)
{
    double sum = 0.0;
    for (size_t a = 0; a < x->view.n; a++)
        sum += x->view.factor[a].score[x->view.factor[a].gold];
    return sum;
}
