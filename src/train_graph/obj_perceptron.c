/* obj_perceptron.c -- the structured perceptron's loss on graphs [Col02].
 *
 *     value = s(y) - max_y' s(y')
 *     a subgradient: + 1 on the cells of the true labels, - 1 on those of the best
 *
 * Where the best labelling is only searched for (max-product, mplp), one that scores below the true
 * one proves no mistake: value and step are 0.
 *
 * [Col02] Collins. Discriminative training methods for hidden Markov models. EMNLP 2002.
 */
/* SPDX-License-Identifier: MIT */
#include "train_graph/graph_objective.h"

trl_status trl_graph_perceptron(const trl_graph_scores *x, double *value, trl_error *err)
{
    const trl_graph_view g = trl_graph_look(x->example->graph);
    const trl_infer_input in = {.table = x->table};
    trl_infer_result r;
    const trl_status st = trl_infer_best(x->plan, &in, x->work, &r, err);
    if (st != TRL_OK)
        return trl_graph_failed(st, err);
    *x->converged = r.converged;
    const double gold = trl_graph_score(x->example->graph, x->table, x->view.gold);
    *value = 0.0;
    if (r.score < gold)
        return TRL_OK;
    for (size_t a = 0; a < x->view.n; a++) {
        const trl_scored_factor *f = &x->view.factor[a];
        size_t best = 0;
        for (size_t k = g.scope_at[a]; k < g.scope_at[a + 1]; k++)
            best = best * g.labels[g.scope[k]] + r.y[g.scope[k]];
        f->adjoint[f->gold] += x->view.weight;
        f->adjoint[best] -= x->view.weight;
    }
    return trl_factor_value(&x->view, gold - r.score, value, err);
}
