/* mbr.c -- posteriors of brackets; the tree that maximises their sum. */
/* SPDX-License-Identifier: MIT */
#include "chart/mbr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- posteriors ------------------------------------------------------------------------------ */

/* Sums of one cell, by label.  A label is in `touched` once, whatever was added to it: a sum of 0
 * does not mean that nothing was added. */
typedef struct sums {
    double *p, *above, *any; /* [labels] */
    uint8_t *on;             /* [labels]: whether it is in touched */
    uint32_t *touched;       /* [n], of at most `labels` */
    size_t n;
} sums;

static bool sums_init(sums *s, size_t labels, trl_arena *arena)
{
    *s = (sums){.p = trl_arena_get(arena, labels, sizeof *s->p),
                .above = trl_arena_get(arena, labels, sizeof *s->above),
                .any = trl_arena_get(arena, labels, sizeof *s->any),
                .on = trl_arena_get(arena, labels, sizeof *s->on),
                .touched = trl_arena_get(arena, labels, sizeof *s->touched)};
    if (!s->p || !s->above || !s->any || !s->on || !s->touched)
        return false;
    memset(s->p, 0, labels * sizeof *s->p);
    memset(s->above, 0, labels * sizeof *s->above);
    memset(s->any, 0, labels * sizeof *s->any);
    memset(s->on, 0, labels * sizeof *s->on);
    return true;
}

static void add(sums *s, uint32_t label, double p, double above, double any)
{
    if (!s->on[label])
        s->touched[s->n++] = label;
    s->on[label] = 1;
    s->p[label] += p;
    s->above[label] += above;
    s->any[label] += any;
}

static void clear(sums *s, uint32_t label)
{
    s->p[label] = s->above[label] = s->any[label] = 0.0;
    s->on[label] = 0;
}

/* Whether the label stands above place k of the rule's chain (k = chain_length: above its child).
 */
static bool stands_above(const trl_grammar *g, const trl_unary *rule, uint32_t k, uint32_t label)
{
    bool found = g->state[rule->parent].base == label;
    while (!found && k-- > 0)
        found = g->chain_pool[rule->chain + k] == label;
    return found;
}

/* Adds the labels that a unary rule puts below its parent.  A tree has one state after the unary
 * rules of a cell, which sum_cell counts, and at most one unary rule: `any` counts a label where it
 * stands uppermost. */
static void sum_chain(const trl_grammar *g, const trl_unary *rule, double p, sums *s)
{
    for (uint32_t k = 0; k < rule->chain_length; k++) {
        const uint32_t label = g->chain_pool[rule->chain + k];
        add(s, label, p, p * (k + 1.0), stands_above(g, rule, k, label) ? 0.0 : p);
    }
    const trl_state *child = &g->state[rule->child];
    if (child->type == TRL_STATE_PHRASE)
        add(s, child->base, p, p * (rule->chain_length + 1.0),
            stands_above(g, rule, rule->chain_length, child->base) ? 0.0 : p);
}

static void sum_cell(const trl_chart *c, size_t cell, sums *s)
{
    const trl_grammar *g = c->g;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
        const trl_state *a = &g->state[c->s->item[x] & TRL_STATE_MASK];
        const double p = c->after[x] * c->out_after[x];
        if (a->type == TRL_STATE_PHRASE && p > 0.0)
            add(s, a->base, p, 0.0, p);
    }
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        const trl_unary_edge *u = &c->unary[e];
        const double p = c->out_after[u->parent] * c->unary_exp[e] * c->before[u->child];
        if (p > 0.0)
            sum_chain(g, &g->unary[u->rule], p, s);
    }
}

static int by_p(const void *a, const void *b)
{
    const trl_bracket *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->label < y->label ? -1 : x->label > y->label;
}

#define LEAST 1e-4 /* brackets with smaller posteriors are dropped */

static void best_tag(const trl_chart *c, size_t i, trl_brackets *b, sums *s)
{
    const size_t cell = trl_cell(i, i + 1);
    b->tag[i] = TRL_NO_ID;
    b->tag_p[i] = 0.0;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
        const trl_state *a = &c->g->state[c->s->item[x] & TRL_STATE_MASK];
        if (a->type == TRL_STATE_TAG)
            add(s, a->base, c->before[x] * c->out_before[x], 0.0, 0.0);
    }
    for (size_t k = 0; k < s->n; k++) {
        const uint32_t label = s->touched[k];
        if (b->tag[i] == TRL_NO_ID || s->p[label] > b->tag_p[i]) {
            b->tag[i] = label;
            b->tag_p[i] = s->p[label];
        }
        clear(s, label);
    }
    s->n = 0;
}

trl_status trl_chart_brackets(const trl_chart *c, trl_brackets *b, trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(c->n), labels = c->g->labels.n;
    sums s;
    size_t most = c->n_items;
    for (size_t e = 0; e < c->n_unary; e++)
        most += 1 + c->g->unary[c->unary[e].rule].chain_length;
    *b = (trl_brackets){c->n,
                        trl_arena_get(arena, cells + 1, sizeof *b->first),
                        trl_arena_get(arena, most, sizeof *b->bracket),
                        trl_arena_get(arena, c->n, sizeof *b->tag),
                        trl_arena_get(arena, c->n, sizeof *b->tag_p),
                        c->s->must,
                        c->s->n_must};
    if (!sums_init(&s, labels, arena) || !b->first || !b->bracket || !b->tag || !b->tag_p)
        return trl_fail_mem(err);
    uint32_t n = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        b->first[cell] = n;
        sum_cell(c, cell, &s);
        for (size_t k = 0; k < s.n; k++) {
            const uint32_t label = s.touched[k];
            if (s.p[label] > LEAST)
                b->bracket[n++] = (trl_bracket){label, s.p[label], s.above[label], s.any[label]};
            clear(&s, label);
        }
        s.n = 0;
        qsort(b->bracket + b->first[cell], n - b->first[cell], sizeof *b->bracket, by_p);
    }
    b->first[cells] = n;
    for (size_t i = 0; i < c->n; i++)
        best_tag(c, i, b, &s);
    return TRL_OK;
}

static void mix_cell(trl_bracket *b, size_t n, const trl_bracket *q, size_t n_q, double share)
{
    for (size_t x = 0; x < n; x++) {
        b[x].p *= 1.0 - share;
        b[x].above *= 1.0 - share;
        b[x].any *= 1.0 - share;
        for (size_t y = 0; y < n_q; y++)
            if (q[y].label == b[x].label) {
                b[x].p += share * q[y].p;
                b[x].above += share * q[y].above;
                b[x].any += share * q[y].any;
            }
    }
    qsort(b, n, sizeof *b, by_p);
}

void trl_brackets_mix(trl_brackets *b, const trl_brackets *other, double share)
{
    for (size_t cell = 0; cell < trl_chart_cells(b->n); cell++)
        if (b->first[cell + 1] > b->first[cell])
            mix_cell(b->bracket + b->first[cell], b->first[cell + 1] - b->first[cell],
                     other->bracket + other->first[cell],
                     other->first[cell + 1] - other->first[cell], share);
}

/* Adds a share of the brackets q to the n of one span, of which b has room for all. */
static size_t add_share(trl_bracket *b, size_t n, const trl_bracket *q, size_t n_q,
                        const uint32_t *label, double share)
{
    for (size_t y = 0; y < n_q; y++) {
        const uint32_t l = label ? label[q[y].label] : q[y].label;
        size_t x = 0;
        while (x < n && b[x].label != l)
            x++;
        if (l == TRL_NO_ID)
            continue;
        if (x == n)
            b[n++] = (trl_bracket){l, 0.0, 0.0, 0.0};
        b[x].p += share * q[y].p;
        b[x].above += share * q[y].above;
        b[x].any += share * q[y].any;
    }
    return n;
}

trl_status trl_brackets_average(const trl_brackets *const *from, const uint32_t *const *label,
                                size_t n, trl_brackets *out, trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(from[0]->n);
    size_t all = 0;
    for (size_t k = 0; k < n; k++)
        all += from[k]->first[cells];
    *out = *from[0];
    out->first = trl_arena_get(arena, cells + 1, sizeof *out->first);
    out->bracket = trl_arena_get(arena, all + 1, sizeof *out->bracket);
    if (!out->first || !out->bracket)
        return trl_fail_mem(err);
    uint32_t at = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        size_t m = 0;
        out->first[cell] = at;
        for (size_t k = 0; k < n; k++) {
            const uint32_t first = from[k]->first[cell];
            m = add_share(out->bracket + at, m, from[k]->bracket + first,
                          from[k]->first[cell + 1] - first, k ? label[k] : NULL, 1.0 / (double)n);
        }
        qsort(out->bracket + at, m, sizeof *out->bracket, by_p);
        at += (uint32_t)m;
    }
    out->first[cells] = at;
    return TRL_OK;
}

/* ---- the best tree --------------------------------------------------------------------------- */

typedef struct table {
    double *best;    /* [cells] */
    uint32_t *split; /* [cells] */
} table;

/* Whether the cell must be a constituent.  Nothing that crosses it has a posterior. */
static bool forced(const trl_brackets *b, size_t cell)
{
    for (size_t k = 0; k < b->n_must; k++)
        if (b->must[k].cell == cell)
            return true;
    return false;
}

static double gain_of(const trl_brackets *b, size_t cell, double lambda)
{
    double sum = b->n_must && forced(b, cell) ? 1.0 : 0.0;
    for (uint32_t k = b->first[cell]; k < b->first[cell + 1] && b->bracket[k].p > lambda; k++)
        sum += b->bracket[k].p - lambda;
    return sum;
}

static void fill(const trl_brackets *b, double lambda, table *t)
{
    for (size_t j = 1; j <= b->n; j++)
        for (size_t i = j; i-- > 0;) {
            double top = j - i == 1 ? 0.0 : -(double)INFINITY;
            uint32_t at = 0;
            for (size_t k = i + 1; k < j; k++) {
                const double v = t->best[trl_cell(i, k)] + t->best[trl_cell(k, j)];
                if (v > top) {
                    top = v;
                    at = (uint32_t)k;
                }
            }
            t->best[trl_cell(i, j)] = top + gain_of(b, trl_cell(i, j), lambda);
            t->split[trl_cell(i, j)] = at;
        }
}

/* Appends a node under `parent` as its last child. */
static uint32_t append(trl_nodes *b, uint32_t label, uint32_t parent, size_t i, size_t j)
{
    trl_node *p = trl_reserve(b->node, &b->cap, b->n + 1, sizeof *p);
    if (!p)
        return TRL_NO_NODE;
    b->node = p;
    const uint32_t me = (uint32_t)b->n++;
    p[me] = (trl_node){label, parent, TRL_NO_NODE, TRL_NO_NODE, (uint32_t)i, (uint32_t)j};
    if (parent == TRL_NO_NODE)
        return me;
    uint32_t *link = &p[parent].child;
    while (*link != TRL_NO_NODE)
        link = &p[*link].next;
    *link = me;
    return me;
}

/* What a label must be worth, the one that is left out, the node above. */
typedef struct chain_of_labels {
    double lambda;
    uint32_t skip;
    uint32_t parent;
} chain_of_labels;

/* The mean number of brackets above it, where it is there. */
static double depth(const trl_bracket *b)
{
    return b->above / b->p;
}

/* The chosen labels of a span, uppermost first, below `parent`; returns the lowest. */
static uint32_t append_labels(trl_nodes *out, const trl_brackets *b, size_t i, size_t j,
                              const chain_of_labels *x)
{
    double lambda = x->lambda;
    uint32_t skip = x->skip;
    uint32_t parent = x->parent;
    const uint32_t from = b->first[trl_cell(i, j)], to = b->first[trl_cell(i, j) + 1];
    uint32_t last = TRL_NO_ID;
    while (parent != TRL_NO_NODE) { /* selection by depth, ties by place */
        uint32_t next = TRL_NO_ID;
        for (uint32_t k = from; k < to && b->bracket[k].p > lambda; k++) {
            const double d = depth(&b->bracket[k]);
            const double done = last == TRL_NO_ID ? -1.0 : depth(&b->bracket[last]);
            const bool later = d > done || (d == done && k > last);
            if (b->bracket[k].label != skip && later &&
                (next == TRL_NO_ID || d < depth(&b->bracket[next])))
                next = k;
        }
        if (next == TRL_NO_ID)
            break;
        last = next;
        parent = append(out, b->bracket[next].label, parent, i, j);
    }
    if (parent != TRL_NO_NODE && last == TRL_NO_ID && from < to && j - i > 1 && skip == TRL_NO_ID &&
        b->n_must && forced(b, trl_cell(i, j)))
        parent = append(out, b->bracket[from].label, parent, i, j);
    return parent;
}

/* A phrase over all words that is more probable than none, but of which no label is above lambda:
 * its most probable label; TRL_NO_ID: there is none. */
static uint32_t likely_phrase(const trl_brackets *b, uint32_t root_label)
{
    const size_t whole = trl_cell(0, b->n);
    double sum = 0.0;
    uint32_t best = TRL_NO_ID;
    for (uint32_t k = b->first[whole]; k < b->first[whole + 1]; k++) {
        if (b->bracket[k].label == root_label)
            continue;
        sum += b->bracket[k].p;
        if (best == TRL_NO_ID) /* p descends */
            best = k;
    }
    return sum > 0.5 ? best : TRL_NO_ID;
}

typedef struct span {
    uint32_t i, j, parent;
} span;

static bool build(const trl_brackets *b, const table *t, uint32_t root_label, double lambda,
                  span *stack, trl_nodes *out)
{
    size_t n = 0;
    const uint32_t root = append(out, root_label, TRL_NO_NODE, 0, b->n);
    if (root == TRL_NO_NODE)
        return false;
    stack[n++] = (span){0, (uint32_t)b->n, root};
    while (n) {
        span s = stack[--n];
        const bool whole = s.i == 0 && s.j == b->n;
        s.parent = append_labels(
            out, b, s.i, s.j, &(chain_of_labels){lambda, whole ? root_label : TRL_NO_ID, s.parent});
        if (whole && s.parent == root && likely_phrase(b, root_label) != TRL_NO_ID)
            s.parent = append(out, b->bracket[likely_phrase(b, root_label)].label, root, 0, b->n);
        if (s.parent == TRL_NO_NODE)
            return false;
        if (s.j - s.i == 1) {
            if (append(out, b->tag[s.i], s.parent, s.i, s.j) == TRL_NO_NODE)
                return false;
            continue;
        }
        const uint32_t k = t->split[trl_cell(s.i, s.j)];
        stack[n++] = (span){k, s.j, s.parent};
        stack[n++] = (span){s.i, k, s.parent};
    }
    return true;
}

trl_status trl_mbr_tree(const trl_brackets *b, uint32_t root_label, double lambda, trl_nodes *out,
                        trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(b->n);
    table t = {trl_arena_get(arena, cells, sizeof *t.best),
               trl_arena_get(arena, cells, sizeof *t.split)};
    span *stack = trl_arena_get(arena, b->n + 2, sizeof *stack);
    if (!t.best || !t.split || !stack)
        return trl_fail_mem(err);
    fill(b, lambda, &t);
    out->n = 0;
    return build(b, &t, root_label, lambda, stack, out) ? TRL_OK : trl_fail_mem(err);
}
