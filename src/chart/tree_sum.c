/* tree_sum.c -- an inside pass over the brackets of one tree.
 *
 * A span's nodes from the uppermost X1 to the lowest Xr are one unary rule, or none when r = 1.  Xr
 * is a tag, or has children c1 .. cm, m > 1, and right-branching binary rules over active states
 * @Xr:
 *
 *     before(A)    = e^item(A) sum over rules A -> B @A   after_c1(B) tail_2(@A)
 *     tail_k(@A)   = e^item(@A) sum over rules @A -> B @A' after_ck(B) tail_k+1(@A'),  k < m
 *     tail_m       = after_cm
 *     after(A)     = before(A), r = 1
 *     after(A)     = sum over unary rules A -> B by X2 .. Xr-1 of before(B), r > 1
 *
 * Sums of a node are relative to the largest; its log is stored separately.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/tree_sum.h"

#include <math.h>

#include "base/fail.h"
#include "base/mem.h"

/* The sums of a node's states: sum[first .. first + n), times exp(scale). */
typedef struct trl_node_sums {
    size_t first, n;
    double scale;
} trl_node_sums;

typedef struct pass {
    const trl_chart *c;
    const trl_tree_tables *t;
    const trl_node *node;
    trl_tree_sum *s;
    bool failed;
} pass;

void trl_tree_sum_fini(trl_tree_sum *s)
{
    trl_free(s->sum);
    trl_free(s->node);
    *s = (trl_tree_sum){0};
}

/* ---- sums of states -------------------------------------------------------------------------- */

static trl_node_sums begin(const pass *p, double scale)
{
    return (trl_node_sums){.first = p->s->n_sum, .scale = scale};
}

/* Adds to the last sums that were begun. */
static void add(pass *p, trl_node_sums *to, uint32_t item, double value)
{
    trl_state_sum *v = to->n ? p->s->sum + to->first : NULL; /* there may be no sums yet */
    for (size_t k = 0; k < to->n; k++)
        if (v[k].item == item) {
            v[k].value += value;
            return;
        }
    if (!(value > 0.0))
        return;
    v = trl_reserve(p->s->sum, &p->s->cap_sum, p->s->n_sum + 1, sizeof *v);
    if (!v) {
        p->failed = true;
        return;
    }
    p->s->sum = v;
    v[p->s->n_sum++] = (trl_state_sum){item, value};
    to->n++;
}

static void rescale(pass *p, trl_node_sums *x)
{
    trl_state_sum *v = x->n ? p->s->sum + x->first : NULL;
    double top = 0.0;
    for (size_t k = 0; k < x->n; k++)
        top = fmax(top, v[k].value);
    for (size_t k = 0; k < x->n; k++)
        v[k].value /= top;
    x->scale += x->n ? log(top) : 0.0;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static double edge_at(const trl_tree_tables *t, int anchor, size_t at, uint32_t q)
{
    if (!t->edge[anchor])
        return 1.0;
    const double x = t->edge[anchor][at * t->n_classes + q];
    return x >= 0.0 ? x : t->fill(t->self, anchor, at, q);
}

typedef struct span {
    size_t i, k, j; /* k: the split */
} span;

static double rule_factor(const trl_tree_tables *t, uint32_t r, span x)
{
    const uint32_t q = t->edge_class[r];
    return t->binary_exp[r] * edge_at(t, TRL_EDGE_FIRST, x.i, q) *
           edge_at(t, TRL_EDGE_SPLIT, x.k, q) * edge_at(t, TRL_EDGE_END, x.j, q);
}

/* The pair (left, right) of the grammar, or NULL. */
static const trl_child_pair *find_pair(const trl_grammar *g, uint32_t left, uint32_t right)
{
    uint32_t lo = g->pair_by_left[left], hi = g->pair_by_left[left + 1];
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (g->pair[mid].right == right)
            return &g->pair[mid];
        if (g->pair[mid].right < right)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static uint32_t state_of(const pass *p, uint32_t item)
{
    return p->c->s->item[item] & TRL_STATE_MASK;
}

/* All rules with children among l and r and a parent of this label and type. */
static trl_node_sums combine(pass *p, trl_node_sums l, trl_node_sums r, uint32_t label,
                             trl_state_type type, span x)
{
    const trl_grammar *g = p->c->g;
    trl_node_sums out = begin(p, l.scale + r.scale);
    for (size_t a = 0; a < l.n; a++)
        for (size_t b = 0; b < r.n; b++) {
            const trl_state_sum left = p->s->sum[l.first + a], right = p->s->sum[r.first + b];
            const trl_child_pair *pair =
                find_pair(g, state_of(p, left.item), state_of(p, right.item));
            for (uint32_t rule = pair ? pair->first : 0; pair && rule < pair[1].first; rule++) {
                const uint32_t parent = g->binary_parent[rule];
                if (g->state[parent].base != label || g->state[parent].type != type)
                    continue;
                const uint32_t item = trl_skeleton_find(p->c->s, x.i, x.j, parent);
                if (item != TRL_NO_ID && (p->c->s->item[item] & TRL_BEFORE))
                    add(p, &out, item,
                        left.value * right.value * rule_factor(p->t, rule, x) *
                            p->c->item_exp[item]);
            }
        }
    rescale(p, &out);
    return out;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static trl_node_sums sum_tag(pass *p, const trl_node *v)
{
    const trl_skeleton *s = p->c->s;
    const size_t cell = trl_cell(v->from, v->to);
    trl_node_sums out = begin(p, 0.0);
    for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++) {
        const trl_state *a = &p->c->g->state[state_of(p, x)];
        if (a->type == TRL_STATE_TAG && a->base == v->label && (s->item[x] & TRL_BEFORE))
            add(p, &out, x, p->c->item_exp[x]);
    }
    rescale(p, &out);
    return out;
}

/* For a node with two children or more, of which `last` is the last: from right to left. */
static trl_node_sums sum_children(pass *p, uint32_t at, uint32_t last)
{
    const trl_node *v = &p->node[at];
    trl_node_sums tail = p->s->node[last];
    size_t split = p->node[last].from;
    while (split > v->from) {
        uint32_t child = v->child; /* the one that ends at the split */
        while (p->node[child].to != split)
            child = p->node[child].next;
        const size_t i = p->node[child].from;
        const bool whole = i == v->from;
        tail = combine(p, p->s->node[child], tail, v->label,
                       whole ? TRL_STATE_PHRASE : TRL_STATE_ACTIVE, (span){i, split, v->to});
        split = i;
    }
    return tail;
}

/* Whether the rule's chain are the labels between the nodes top and bottom. */
static bool same_chain(const pass *p, const trl_unary *rule, uint32_t top, uint32_t bottom)
{
    const trl_grammar *g = p->c->g;
    uint32_t v = p->node[top].child;
    for (uint32_t k = 0; k < rule->chain_length; k++, v = p->node[v].child)
        if (v == bottom || p->node[v].label != g->chain_pool[rule->chain + k])
            return false;
    return v == bottom && g->state[rule->parent].base == p->node[top].label;
}

static trl_node_sums sum_unary(pass *p, trl_node_sums below, uint32_t top, uint32_t bottom)
{
    const trl_chart *c = p->c;
    const size_t cell = trl_cell(p->node[top].from, p->node[top].to);
    trl_node_sums out = begin(p, below.scale);
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        if (!same_chain(p, &c->g->unary[c->unary[e].rule], top, bottom))
            continue;
        for (size_t k = 0; k < below.n; k++) {
            const trl_state_sum child = p->s->sum[below.first + k];
            if (child.item == c->unary[e].child)
                add(p, &out, c->unary[e].parent, child.value * c->unary_exp[e]);
        }
    }
    rescale(p, &out);
    return out;
}

/* Before becomes after without a unary rule. */
static void keep_after(pass *p, trl_node_sums *x, size_t cell)
{
    const trl_skeleton *s = p->c->s;
    size_t n = 0;
    for (size_t k = 0; k < x->n; k++) {
        const trl_state_sum v = p->s->sum[x->first + k];
        if ((s->item[v.item] & TRL_AFTER) &&
            trl_skeleton_allows(s, p->c->g, cell, state_of(p, v.item), TRL_NO_ID))
            p->s->sum[x->first + n++] = v;
    }
    x->n = n;
}

/* The sums of the uppermost node of a span, given those of all nodes after it. */
static trl_node_sums sum_span(pass *p, uint32_t top)
{
    const trl_node *node = p->node;
    uint32_t bottom = top;
    while (node[bottom].child != TRL_NO_NODE && node[node[bottom].child].next == TRL_NO_NODE)
        bottom = node[bottom].child;
    uint32_t last = node[bottom].child;
    while (last != TRL_NO_NODE && node[last].next != TRL_NO_NODE)
        last = node[last].next;
    trl_node_sums out =
        last == TRL_NO_NODE ? sum_tag(p, &node[bottom]) : sum_children(p, bottom, last);
    if (top != bottom)
        return sum_unary(p, out, top, bottom);
    keep_after(p, &out, trl_cell(node[top].from, node[top].to));
    return out;
}

static bool is_uppermost(const trl_node *node, uint32_t v)
{
    const uint32_t above = node[v].parent;
    return above == TRL_NO_NODE || node[above].child != v || node[v].next != TRL_NO_NODE;
}

trl_status trl_chart_tree_sum(const trl_chart *c, const trl_tree_tables *t,
                              const trl_node_list *tree, trl_tree_sum *s, double *score,
                              trl_error *err)
{
    trl_node_sums *all = trl_reserve(s->node, &s->cap_node, tree->n, sizeof *all);
    if (!all)
        return trl_fail_mem(err);
    s->node = all;
    s->n_sum = 0;
    pass p = {.c = c, .t = t, .node = tree->node, .s = s};
    for (size_t v = tree->n; v-- > 0 && !p.failed;)
        if (is_uppermost(tree->node, (uint32_t)v))
            all[v] = sum_span(&p, (uint32_t)v);
    if (p.failed)
        return trl_fail_mem(err);
    *score = -(double)INFINITY;
    for (size_t k = 0; k < all[0].n; k++)
        if (s->sum[all[0].first + k].item == c->root_item)
            *score = log(s->sum[all[0].first + k].value) + all[0].scale;
    return TRL_OK;
}
