/* obj_tree_likelihood.c -- the CRF-CFG [FKM08, eq. 1-4].
 *
 *     P(t | s) = (1 / Z_s) prod_{r in t} exp(w . f(r, s)),      loss = -log P(t | s)
 *
 *     d loss / d score(r, i, k, j) = P(r, i, k, j | s) - [r over (i, k, j) is in t]
 *
 * Z over all trees of the chart; expectations by inside-outside.  Where words have tags with
 * scores, these are added to w . f of the tags: constants, without a derivative.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "train_tree/tree_task.h"

trl_status trl_loss_tree_likelihood(const trl_tree_task *t, const trl_tree_example *e,
                                    trl_tree_worker *w, bool adjoint, double *value, trl_error *err)
{
    trl_chart *c = &w->chart;
    trl_tree_gather *ga = &w->gather;
    const trl_gather_source source = {t->f, &e->seen, c, t->binary_exp, t->unary, adjoint};
    trl_status st = trl_chart_init(c, t->f->g, &e->s, &w->arena, err);
    if (st == TRL_OK)
        st = trl_tree_gather_scores(ga, &source, &w->arena, err);
    if (st == TRL_OK && e->tags)
        trl_given_list_add(e->tags, t->f->g, &e->s, ga->t.item);
    if (st == TRL_OK)
        st = trl_chart_inside(c, &ga->t, err);
    if (st != TRL_OK)
        return st;
    if (adjoint && isfinite(c->log_z))
        trl_chart_outside(c, &ga->t, &ga->a);
    *value = c->log_z - trl_tree_gather_tree(ga, &e->gold, -1.0);
    if (!isfinite(*value))
        return trl_fail(err, TRL_ENUMERIC, "the probability of a tree is not a number");
    return TRL_OK;
}
