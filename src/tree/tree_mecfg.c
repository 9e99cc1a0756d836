/* tree_mecfg.c -- the maximum-entropy context-free grammar, MECFG [SM05b, 5].
 *
 *     loss = - sum over the nodes of the gold tree of log p(its rule | A, x, i, j)
 *
 * What is chosen from: tree_local.h.  A maximum-entropy classifier on gold nodes; no chart is run.
 *
 * [SM05b] Sutton, McCallum. Fast, piecewise training for discriminative finite-state and parsing
 *         models. CIIR report IR-403, 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "tree/tree_mecfg.h"


trl_status trl_tree_local_gold(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                               double *value, trl_error *err)
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
                              .what = n->right == TRL_NO_NODE ? TRL_CHOOSE_UNARY : TRL_CHOOSE_BINARY,
                              .nota = t->nota};
        st = trl_tree_choose(&w->gather, t->expansions, &c, value, &w->arena, err);
    }
    return st;
}

trl_status trl_tree_local_gather(const trl_tree_task *t, const trl_tree_example *e,
                                 trl_tree_worker *w, bool adjoint, trl_error *err)
{
    const trl_status st = trl_chart_init(&w->chart, t->f->g, &e->s, &w->arena, err);
    return st == TRL_OK ? trl_tree_gather_scores(&w->gather, t->f, &e->seen, &w->chart, t->binary_exp,
                                                 t->unary, adjoint, &w->arena, err)
                        : st;
}

static trl_status loss(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                       bool adjoint, double *value, trl_error *err)
{
    *value = 0.0;
    const trl_status st = trl_tree_local_gather(t, e, w, adjoint, err);
    return st == TRL_OK ? trl_tree_local_gold(t, e, w, value, err) : st;
}

const trl_tree_objective trl_tree_mecfg = {"mecfg", "memm", true, loss};
