/* obj_tree_perceptron.c -- the structured perceptron on trees [Col02].
 *
 *     loss = max_t' score(t') - score(t),       a subgradient: counts of the best tree minus gold
 *
 * [Col02] Collins. Discriminative training methods for hidden Markov models. EMNLP 2002.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "train_tree/tree_task.h"

trl_status trl_loss_tree_perceptron(const trl_tree_task *t, const trl_tree_example *e,
                                    trl_tree_worker *w, bool adjoint, double *value, trl_error *err)
{
    trl_chart *c = &w->chart;
    trl_tree_gather *ga = &w->gather;
    const trl_gather_source source = {t->f, &e->seen, c, t->binary_exp, t->unary, adjoint};
    trl_btree best = {0};
    trl_status st = trl_chart_init(c, t->f->g, &e->s, &w->arena, err);
    if (st == TRL_OK)
        st = trl_tree_gather_scores(ga, &source, &w->arena, err);
    if (st == TRL_OK)
        st = trl_chart_best(c, &ga->t, &w->arena, err);
    if (st == TRL_OK && isfinite(c->log_z))
        st = trl_chart_tree(c, &best, err);
    if (st == TRL_OK)
        *value = trl_tree_gather_tree(ga, &best, 1.0) - trl_tree_gather_tree(ga, &e->gold, -1.0);
    if (st == TRL_OK && !isfinite(*value))
        st = trl_fail(err, TRL_ENUMERIC, "the score of a tree is not a number");
    trl_btree_fini(&best);
    return st;
}
