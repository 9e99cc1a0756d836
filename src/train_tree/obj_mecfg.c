/* obj_mecfg.c -- the maximum-entropy context-free grammar, MECFG [SM05b, 5].
 *
 *     loss = - sum over the nodes of the gold tree of log p(its rule | A, x, i, j)
 *
 * tree_local.h describes the choices.  A maximum-entropy classifier on gold nodes; no chart is run.
 *
 * [SM05b] Sutton, McCallum. Fast, piecewise training for discriminative finite-state and parsing
 *         models. CIIR report IR-403, 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "train_tree/obj_mecfg.h"

trl_status trl_tree_local_gold(const trl_tree_task *t, const trl_tree_example *e,
                               trl_tree_worker *w, double *value, trl_error *err)
{
    trl_status st = TRL_OK;
    for (size_t x = 0; st == TRL_OK && x < e->gold.n; x++) {
        const trl_bnode *n = &e->gold.node[x];
        if (n->left == TRL_NO_NODE)
            continue; /* a tag */
        const trl_choice c = {.item = trl_skeleton_find(&e->s, n->from, n->to, n->state),
                              .rule = n->rule,
                              .i = n->from,
                              .j = n->to,
                              .what =
                                  n->right == TRL_NO_NODE ? TRL_CHOOSE_UNARY : TRL_CHOOSE_BINARY,
                              .nota = t->nota};
        st = trl_tree_choose(&w->chooser, &c, value, err);
    }
    return st;
}

trl_status trl_tree_local_begin(const trl_tree_task *t, const trl_tree_example *e,
                                trl_tree_worker *w, bool adjoint, trl_error *err)
{
    w->chart = (trl_chart){
        .g = t->f->g, .s = &e->s, .n = e->s.n, .n_items = e->s.first[trl_chart_cells(e->s.n)]};
    const trl_gather_source source = {t->f, &e->seen, &w->chart, t->binary_exp, t->unary, adjoint};
    const trl_status st = trl_tree_gather_items(&w->gather, &source, &w->arena, err);
    return st == TRL_OK ? trl_chooser_begin(&w->chooser, t->chooser, &w->gather, err) : st;
}

trl_status trl_loss_mecfg(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                          bool adjoint, double *value, trl_error *err)
{
    *value = 0.0;
    trl_status st = trl_tree_local_begin(t, e, w, adjoint, err);
    if (st == TRL_OK)
        st = trl_tree_local_gold(t, e, w, value, err);
    if (st == TRL_OK && adjoint)
        trl_chooser_end(&w->chooser);
    return st;
}
