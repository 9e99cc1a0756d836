/* derivation.c -- the score of a derivation, part by part. */
/* SPDX-License-Identifier: MIT */
#include "parser/derivation.h"

#include <math.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_dump.h"

void trl_parts_fini(trl_parts *p)
{
    trl_free(p->part);
    trl_free(p->name);
    trl_buf_fini(&p->names);
    *p = (trl_parts){0};
}

/* A part without its name, which the caller appends to `names` next. */
static bool add(trl_parts *p, trl_parse_part_kind kind, const trl_bnode *n, double score)
{
    trl_parse_part *part = trl_reserve(p->part, &p->cap, p->n + 1, sizeof *part);
    p->part = part ? part : p->part;
    size_t *name = trl_reserve(p->name, &p->name_cap, p->n + 2, sizeof *name);
    p->name = name ? name : p->name;
    if (!part || !name)
        return false;
    part[p->n] = (trl_parse_part){.kind = kind, .from = n->from, .to = n->to, .score = score};
    name[p->n++] = p->names.len;
    return true;
}

static double edge_score(trl_tree_tables *t, int anchor, size_t at, uint32_t rule)
{
    if (!t->edge[anchor])
        return 0.0;
    const uint32_t q = t->edge_class[rule];
    const size_t place = at * t->n_classes + q;
    if (t->edge[anchor][place] < 0.0)
        t->fill(t->self, anchor, at, q);
    return log(t->edge[anchor][place]);
}

static bool add_edges(trl_parts *p, trl_decoder *d, const trl_grammar *g, const trl_bnode *n)
{
    const size_t at[TRL_EDGE_ANCHORS] = {[TRL_EDGE_FIRST] = n->from,
                                         [TRL_EDGE_SPLIT] = d->tree.node[n->right].from,
                                         [TRL_EDGE_END] = n->to};
    static const trl_parse_part_kind kind[TRL_EDGE_ANCHORS] = {
        [TRL_EDGE_FIRST] = TRL_PARSE_PART_FIRST,
        [TRL_EDGE_SPLIT] = TRL_PARSE_PART_SPLIT,
        [TRL_EDGE_END] = TRL_PARSE_PART_END};
    bool ok = true;
    for (int k = 0; k < TRL_EDGE_ANCHORS && ok; k++) {
        const double score = edge_score(&d->tables, k, at[k], n->rule);
        if (score == 0.0)
            continue;
        ok = add(p, kind[k], n, score);
        trl_tree_name_binary(g, n->rule, false, &p->names);
    }
    return ok;
}

static bool add_unary(trl_parts *p, trl_decoder *d, const trl_grammar *g, const trl_bnode *n)
{
    const trl_chart *c = &d->chart;
    const size_t cell = trl_cell(n->from, n->to);
    const uint32_t child = d->tree.node[n->left].state;
    double own = 0.0;
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++)
        if (c->unary[e].rule == n->rule &&
            (c->s->item[c->unary[e].child] & TRL_STATE_MASK) == child)
            own = d->tables.unary_at[e];
    bool ok = add(p, TRL_PARSE_PART_RULE, n, d->tables.unary[n->rule]);
    trl_tree_name_unary(g, n->rule, false, &p->names);
    if (ok && own != 0.0) {
        ok = add(p, TRL_PARSE_PART_STATE, n, own);
        trl_tree_name_unary(g, n->rule, false, &p->names);
    }
    return ok;
}

static bool add_state(trl_parts *p, trl_decoder *d, const trl_grammar *g, const trl_bnode *n,
                      const trl_str *word)
{
    const uint32_t x = trl_skeleton_find(d->chart.s, n->from, n->to, n->state);
    const double score = x == TRL_NO_ID ? -(double)INFINITY : d->tables.item[x];
    if (score == 0.0 && n->left != TRL_NO_NODE)
        return true;
    if (!add(p, n->left == TRL_NO_NODE ? TRL_PARSE_PART_WORD : TRL_PARSE_PART_STATE, n, score))
        return false;
    const trl_str name = trl_strtab_get(&g->names, n->state);
    trl_buf_add(&p->names, name.p, name.n);
    if (n->left == TRL_NO_NODE) {
        trl_buf_str(&p->names, " -> ");
        trl_buf_add(&p->names, word[n->from].p, word[n->from].n);
    }
    return true;
}

static bool add_node(trl_parts *p, trl_decoder *d, const trl_grammar *g, const trl_bnode *n,
                     const trl_str *word)
{
    if (n->left != TRL_NO_NODE && n->right == TRL_NO_NODE)
        return add_unary(p, d, g, n);
    if (!add_state(p, d, g, n, word))
        return false;
    if (n->left == TRL_NO_NODE)
        return true;
    const bool ok = add(p, TRL_PARSE_PART_RULE, n, log(d->tables.binary_exp[n->rule]));
    trl_tree_name_binary(g, n->rule, false, &p->names);
    return ok && add_edges(p, d, g, n);
}

trl_status trl_parts_of(trl_parts *p, trl_decoder *d, const trl_grammar *g, const trl_str *word,
                        trl_error *err)
{
    bool ok = true;
    p->n = 0;
    p->names.len = 0;
    for (size_t x = 0; x < d->tree.n && ok; x++)
        ok = add_node(p, d, g, &d->tree.node[x], word);
    if (!ok || p->names.failed)
        return trl_fail_mem(err);
    for (size_t k = 0; k < p->n; k++) {
        const size_t end = k + 1 < p->n ? p->name[k + 1] : p->names.len;
        p->part[k].name = (trl_str){p->names.data + p->name[k], end - p->name[k]};
    }
    return TRL_OK;
}
