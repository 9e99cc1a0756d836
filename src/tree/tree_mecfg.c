/* tree_mecfg.c -- the maximum-entropy context-free grammar, MECFG [SM05b, 5].
 *
 *     loss = - sum over the nodes of the gold tree of log p(its rule | A, x, i, j)
 *
 * What is chosen from, and by which level: tree_local.h.  A maximum-entropy classifier on gold
 * nodes; no chart is run.
 *
 * [SM05b] Sutton, McCallum. Fast, piecewise training for discriminative finite-state and parsing
 *         models. CIIR report IR-403, 2005.
 */
/* SPDX-License-Identifier: MIT */
#include "tree/tree_mecfg.h"

#include <string.h>

#include "base/fail.h"

/* The choice that node n makes; `below`: it is the child of a unary rule. */
static trl_choice choice_of(const trl_skeleton *s, const trl_bnode *n, bool below, bool nota)
{
    return (trl_choice){.item = trl_skeleton_find(s, n->from, n->to, n->state),
                        .rule = n->rule,
                        .i = n->from,
                        .j = n->to,
                        .after = !below,
                        .what = n->left == TRL_NO_NODE    ? TRL_CHOOSE_WORD
                                : n->right == TRL_NO_NODE ? TRL_CHOOSE_UNARY
                                                          : TRL_CHOOSE_BINARY,
                        .nota = nota};
}

trl_status trl_tree_local_gold(const trl_tree_task *t, const trl_tree_example *e, trl_tree_worker *w,
                               double *value, trl_error *err)
{
    uint8_t *below = trl_arena_get(&w->arena, e->gold.n, 1);
    if (!below)
        return trl_fail_mem(err);
    memset(below, 0, e->gold.n);
    trl_status st = TRL_OK;
    for (size_t x = 0; st == TRL_OK && x < e->gold.n; x++) {
        const trl_bnode *n = &e->gold.node[x];
        if (n->left == TRL_NO_NODE && !t->nota)
            continue; /* nothing to choose from */
        if (n->left != TRL_NO_NODE && n->right == TRL_NO_NODE)
            below[n->left] = 1;
        const trl_choice c = choice_of(&e->s, n, below[x], t->nota);
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
