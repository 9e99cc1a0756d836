/* candidates.c -- the tree with the best expected brackets, and the most probable ones. */
/* SPDX-License-Identifier: MIT */
#include "parser/candidates.h"

#include <math.h>

#include "base/fail.h"
#include "base/mem.h"

#define MISSING 3.0 /* below the log probability of the last tree of the list */

void trl_candidates_fini(trl_candidates *c)
{
    trl_free(c->list);
    trl_nbest_fini(&c->best);
    trl_free(c->first.node);
    trl_tree_sum_fini(&c->sum);
    *c = (trl_candidates){0};
}

/* ---- what the first stage says --------------------------------------------------------------- */

/* Whether a node above v has the same label and span. */
static bool repeats(const trl_node *node, uint32_t v)
{
    for (uint32_t u = node[v].parent;
         u != TRL_NO_NODE && node[u].from == node[v].from && node[u].to == node[v].to;
         u = node[u].parent)
        if (node[u].label == node[v].label)
            return true;
    return false;
}

/* The sum over the constituents below the root of their posteriors less lambda.  Of X over X in
 * one span the upper has the probability that there is any, the lower the rest of the expected
 * count. */
static double expected_gain(const trl_brackets *b, const trl_node_list *t)
{
    double sum = 0.0;
    for (uint32_t v = 1; v < t->n; v++) {
        const trl_node *x = &t->node[v];
        if (x->child == TRL_NO_NODE)
            continue;
        const size_t cell = trl_cell(x->from, x->to);
        sum -= TRL_LAMBDA;
        for (uint32_t k = b->first[cell]; k < b->first[cell + 1]; k++)
            if (b->bracket[k].label == x->label)
                sum +=
                    repeats(t->node, v) ? b->bracket[k].p - b->bracket[k].any : b->bracket[k].any;
    }
    return sum;
}

bool trl_same_tree(const trl_node_list *a, const trl_node_list *b)
{
    bool eq = a->n == b->n;
    for (size_t k = 0; eq && k < a->n; k++)
        eq = a->node[k].label == b->node[k].label && a->node[k].from == b->node[k].from &&
             a->node[k].to == b->node[k].to;
    return eq;
}

static void add(trl_candidates *c, const trl_decoder *d, trl_node *node, size_t n, double log_p)
{
    const trl_node_list tree = {node, n};
    trl_candidate *x = &c->list[c->n];
    const bool pruner = d->pruner_posteriors.n > 0;
    *x = (trl_candidate){
        node,
        tree,
        {[TRL_SAID_LOG_P] = log_p,
         [TRL_SAID_GAIN] = expected_gain(&c->brackets, &tree),
         [TRL_SAID_PRUNER] = pruner ? expected_gain(&d->pruner_posteriors, &tree) : 0.0,
         [TRL_SAID_FOREIGN] = isfinite(log_p) ? 0.0 : 1.0,
         [TRL_SAID_FIRST] = c->n == 0 ? 1.0 : 0.0}};
    c->n++;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The first one, with its log sum of derivations. */
static trl_status find_first(trl_candidates *c, trl_decoder *d, const trl_tree_model *m,
                             double *score, trl_error *err)
{
    trl_status st = trl_decode_brackets(d, &c->brackets, err);
    if (st != TRL_OK || d->failure)
        return st;
    st = trl_mbr_tree(&c->brackets, m->fine.state[m->fine.root].base, TRL_LAMBDA, &c->first,
                      &d->arena, err);
    return st == TRL_OK ? trl_chart_tree_sum(&d->chart, &d->tables,
                                             &(trl_node_list){c->first.node, c->first.n}, &c->sum,
                                             score, err)
                        : st;
}

trl_status trl_candidates_of(trl_candidates *c, trl_decoder *d, const trl_tree_model *m,
                             size_t most, trl_error *err)
{
    double score = 0.0;
    c->n = 0;
    if (d->failure)
        return TRL_OK;
    trl_status st = find_first(c, d, m, &score, err);
    if (st != TRL_OK || d->failure)
        return st;
    const double log_z = d->chart.log_z;
    st = trl_chart_nbest(&d->chart, &d->tables, &(trl_nbest_want){most, log_z}, &c->best, &d->arena,
                         err);
    trl_candidate *list = trl_reserve(c->list, &c->cap, c->best.n + 1, sizeof *list);
    if (st == TRL_OK && !list)
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    c->list = list;
    const trl_node_list first = {c->first.node, c->first.n};
    add(c, d, c->first.node, c->first.n, score - log_z);
    for (size_t k = 0; k < c->best.n; k++) {
        const trl_node_list tree = {c->best.tree[k].node, c->best.tree[k].n};
        if (!trl_same_tree(&first, &tree))
            add(c, d, c->best.tree[k].node, tree.n, c->best.tree[k].score - log_z);
    }
    const double least = c->best.n ? c->best.tree[c->best.n - 1].score - log_z - MISSING : -MISSING;
    if (!(c->list[0].said[TRL_SAID_LOG_P] > least))
        c->list[0].said[TRL_SAID_LOG_P] = least;
    return TRL_OK;
}
