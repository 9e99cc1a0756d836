/* tree_score.c -- the score of a given tree by a sentence's tables, and its counts in the adjoint.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "parser/tree_gather.h"

static double edge_score(trl_tree_gather *ga, int anchor, size_t at, uint32_t r, double w)
{
    if (!ga->t.edge[anchor])
        return 0.0;
    const uint32_t q = ga->f->edge_class[r];
    const size_t place = at * ga->f->n_classes + q;
    if (ga->t.edge[anchor][place] < 0.0)
        ga->t.fill(ga->t.self, anchor, at, q);
    if (ga->a.edge[anchor])
        ga->a.edge[anchor][place] += w;
    return log(ga->t.edge[anchor][place]);
}

static double unary_score(trl_tree_gather *ga, const trl_bnode *n, const trl_bnode *child, double w)
{
    const trl_chart *c = ga->c;
    const size_t cell = trl_cell(n->from, n->to);
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        const uint32_t from = c->s->item[c->unary[e].child] & TRL_STATE_MASK;
        if (c->unary[e].rule != n->rule || from != child->state)
            continue;
        if (ga->a.unary_at)
            ga->a.unary_at[e] += w;
        if (ga->a.unary)
            ga->a.unary[n->rule] += w;
        return ga->t.unary[n->rule] + ga->t.unary_at[e];
    }
    return -(double)INFINITY;
}

static double node_score(trl_tree_gather *ga, const trl_btree *tree, const trl_bnode *n, double w)
{
    if (n->left != TRL_NO_NODE && n->right == TRL_NO_NODE)
        return unary_score(ga, n, &tree->node[n->left], w);
    const uint32_t x = trl_skeleton_find(ga->c->s, n->from, n->to, n->state);
    if (x == TRL_NO_ID || !(ga->c->s->item[x] & TRL_BEFORE))
        return -(double)INFINITY;
    if (ga->a.item)
        ga->a.item[x] += w;
    double sum = ga->t.item[x];
    if (n->left == TRL_NO_NODE)
        return sum;
    if (ga->a.binary)
        ga->a.binary[n->rule] += w;
    sum += log(ga->t.binary_exp[n->rule]);
    sum += edge_score(ga, TRL_EDGE_FIRST, n->from, n->rule, w);
    sum += edge_score(ga, TRL_EDGE_SPLIT, tree->node[n->right].from, n->rule, w);
    return sum + edge_score(ga, TRL_EDGE_END, n->to, n->rule, w);
}

double trl_tree_gather_tree(trl_tree_gather *ga, const trl_btree *tree, double weight_)
{
    double sum = 0.0;
    for (size_t x = 0; x < tree->n; x++)
        sum += node_score(ga, tree, &tree->node[x], weight_);
    return sum;
}
