/* obj_likelihood.c -- the likelihood of a graph, exact or by an estimate of log Z.
 *
 *     value = s(y) - A(theta),     d value / d theta_a = [gold cell] - mu_a,     mu_a = dA / d
 * theta_a
 *
 *     likelihood   A = log Z, mu its marginals, by a junction tree
 *     bethe        A = Bethe's estimate at a fixed point of loopy belief propagation [YFW05];
 * messages are stationary there, so that the pseudo-marginals are its gradient trw          A = the
 * tree-reweighted bound, not below log Z [WJW05], with its pseudo-marginals
 *
 * Messages start anew, or from those of the iteration before (graph_messages.h): within the
 * tolerance the value is the same.  Where messages have not settled, value and gradient are what
 * they stand at: the gradient is not quite the value's, and the example is counted.
 *
 * [YFW05] Yedidia, Freeman, Weiss. Constructing free-energy approximations and generalized belief
 *         propagation algorithms. IEEE Trans. Information Theory 51(7), 2005.
 * [WJW05] Wainwright, Jaakkola, Willsky. A new class of upper bounds on the log partition function.
 *         IEEE Trans. Information Theory 51(7), 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "num/blas1.h"
#include "train_graph/graph_objective.h"

trl_status trl_graph_likelihood(const trl_graph_scores *x, double *value, trl_error *err)
{
    const trl_graph_view g = trl_graph_look(x->example->graph);
    const trl_infer_input in = {.table = x->table, .messages = x->messages};
    trl_infer_result r;
    const trl_status st = trl_infer_marginals(x->plan, &in, x->work, &r, err);
    if (st != TRL_OK)
        return trl_graph_failed(st, err);
    for (size_t a = 0; a < x->view.n; a++) {
        const trl_scored_factor *f = &x->view.factor[a];
        trl_add_scaled(f->n_cells, -x->view.weight, r.factor + g.cell_at[a], f->adjoint);
        f->adjoint[f->gold] += x->view.weight;
    }
    *x->converged = r.converged;
    return trl_factor_value(&x->view, trl_graph_gold_score(x) - r.log_z, value, err);
}
