/* chart.c -- layout, inside, best tree.
 *
 *     before(A, i, j) = e^item(A,i,j) sum_{r = A -> B C, k} e^score(r,i,k,j)
 *                                                           after(B, i, k) after(C, k, j)
 *     after(A, i, j)  = before(A, i, j) + sum_{u = A -> B} e^score(u,i,j) before(B, i, j)
 *
 * Order: for every end j, starts k = j-1 .. 0.  When (k, j) is closed, it is combined with every
 * cell (i, k) on its left into (i, j): all cells that end at j have their items in `map`, so that
 * a rule finds its right child and its parent in one look-up each.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/chart.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"
#include "chart/chart_kernel.h"

#define LN2 0.693147180559945309417232

uint32_t trl_skeleton_find(const trl_skeleton *s, size_t i, size_t j, uint32_t state)
{
    size_t lo = s->first[trl_cell(i, j)], hi = s->first[trl_cell(i, j) + 1];
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const uint32_t at = s->item[mid] & TRL_STATE_MASK;
        if (at == state)
            return (uint32_t)mid;
        if (at < state)
            lo = mid + 1;
        else
            hi = mid;
    }
    return TRL_NO_ID;
}

static bool has_label(const trl_grammar *g, uint32_t label, uint32_t state, uint32_t rule)
{
    if (label == TRL_ANY_LABEL)
        return true;
    if (g->state[state].type != TRL_STATE_ACTIVE && g->state[state].base == label)
        return true;
    if (rule == TRL_NO_ID)
        return false;
    const trl_unary *u = &g->unary[rule];
    for (uint32_t k = 0; k < u->chain_length; k++)
        if (g->chain_pool[u->chain + k] == label)
            return true;
    return has_label(g, label, u->child, TRL_NO_ID);
}

bool trl_skeleton_allows(const trl_skeleton *s, const trl_grammar *g, size_t cell, uint32_t state,
                         uint32_t rule)
{
    for (size_t k = 0; k < s->n_must; k++)
        if (s->must[k].cell == cell && !has_label(g, s->must[k].label, state, rule))
            return false;
    return true;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Unary edges of one cell, in the order of children and rules; counts only when out is NULL. */
static size_t unaries_of_cell(const trl_chart *c, size_t cell, const uint32_t *at,
                              trl_unary_edge *out)
{
    const trl_grammar *g = c->g;
    const trl_skeleton *s = c->s;
    size_t n = 0;
    for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++) {
        if (!(s->item[x] & TRL_BEFORE))
            continue;
        const uint32_t child = s->item[x] & TRL_STATE_MASK;
        for (uint32_t u = g->by_child[child]; u < g->by_child[child + 1]; u++) {
            const uint32_t p = at[g->unary[u].parent];
            if (!p || !(s->item[p - 1] & TRL_AFTER))
                continue;
            if (s->n_must && !trl_skeleton_allows(s, g, cell, g->unary[u].parent, u))
                continue;
            if (out)
                out[n] = (trl_unary_edge){u, x, p - 1};
            n++;
        }
    }
    return n;
}

static void map_cell(const trl_chart *c, size_t cell, uint32_t *row, bool on)
{
    const trl_skeleton *s = c->s;
    for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++)
        row[s->item[x] & TRL_STATE_MASK] = on ? x + 1 : 0;
}

void trl_chart_map(const trl_chart *c, size_t j, bool on)
{
    for (size_t i = 0; i < j; i++)
        map_cell(c, trl_cell(i, j), c->map + i * c->g->n_states, on);
}

static bool lay_out_unaries(trl_chart *c, trl_arena *arena)
{
    const size_t cells = trl_chart_cells(c->n);
    c->unary_first = trl_arena_get(arena, cells + 1, sizeof *c->unary_first);
    if (!c->unary_first)
        return false;
    size_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t cell = 0; cell < cells; cell++) {
            map_cell(c, cell, c->map, true);
            if (pass == 0) {
                c->unary_first[cell] = (uint32_t)total;
                total += unaries_of_cell(c, cell, c->map, NULL);
            } else {
                unaries_of_cell(c, cell, c->map, c->unary + c->unary_first[cell]);
            }
            map_cell(c, cell, c->map, false);
        }
        c->unary_first[cells] = (uint32_t)total;
        if (pass == 0) {
            c->n_unary = total;
            c->unary = trl_arena_get(arena, total, sizeof *c->unary);
            c->unary_exp = trl_arena_get(arena, total, sizeof *c->unary_exp);
            if (!c->unary || !c->unary_exp)
                return false;
        }
    }
    return true;
}

trl_status trl_chart_init(trl_chart *c, const trl_grammar *g, const trl_skeleton *s,
                          trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(s->n), items = s->first[cells];
    *c = (trl_chart){.g = g, .s = s, .n = s->n, .n_items = items, .log_z = -(double)INFINITY};
    c->map = trl_arena_get(arena, s->n * g->n_states, sizeof *c->map);
    c->scale = trl_arena_get(arena, cells, sizeof *c->scale);
    c->before = trl_arena_get(arena, items, sizeof *c->before);
    c->after = trl_arena_get(arena, items, sizeof *c->after);
    c->out_before = trl_arena_get(arena, items, sizeof *c->out_before);
    c->out_after = trl_arena_get(arena, items, sizeof *c->out_after);
    c->item_exp = trl_arena_get(arena, items, sizeof *c->item_exp);
    if (!c->map || !c->scale || !c->before || !c->after || !c->out_before || !c->out_after ||
        !c->item_exp)
        return trl_fail_mem(err);
    memset(c->map, 0, s->n * g->n_states * sizeof *c->map);
    if (!lay_out_unaries(c, arena))
        return trl_fail_mem(err);
    c->root_item = s->n ? trl_skeleton_find(s, 0, s->n, g->root) : TRL_NO_ID;
    if (c->root_item != TRL_NO_ID && !(s->item[c->root_item] & TRL_AFTER))
        c->root_item = TRL_NO_ID;
    return TRL_OK;
}

/* ---- inside ---------------------------------------------------------------------------------- */

static trl_status exponentiate(trl_chart *c, const trl_tree_tables *t, trl_error *err)
{
    double worst = 0.0;
    for (size_t x = 0; x < c->n_items; x++) {
        c->item_exp[x] = c->s->item[x] & TRL_BEFORE ? exp(t->item[x]) : 0.0;
        worst += c->item_exp[x];
    }
    for (size_t e = 0; e < c->n_unary; e++) {
        c->unary_exp[e] = exp(t->unary[c->unary[e].rule] + t->unary_at[e]);
        worst += c->unary_exp[e];
    }
    if (!isfinite(worst))
        return trl_fail(err, TRL_ENUMERIC,
                        "a score of the tree model is too large or not a number");
    return TRL_OK;
}

static double pairs_of_cell(const trl_chart *c, size_t cell)
{
    double pairs = 0.0;
    for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++) {
        const uint32_t state = c->s->item[x] & TRL_STATE_MASK;
        if (c->s->item[x] & TRL_AFTER)
            pairs += (double)(c->g->pair_by_left[state + 1] - c->g->pair_by_left[state]);
    }
    return pairs;
}

double trl_chart_work(const trl_chart *c)
{
    const uint32_t *first = c->s->first;
    double sum = 0.0;
    for (size_t k = 1; k < c->n; k++)
        for (size_t i = 0; i < k; i++) {
            const double pairs = pairs_of_cell(c, trl_cell(i, k));
            size_t ends = 0;
            for (size_t j = k + 1; pairs > 0.0 && j <= c->n; j++) {
                const size_t right = trl_cell(k, j), up = trl_cell(i, j);
                ends += first[right] < first[right + 1] && first[up] < first[up + 1];
            }
            sum += pairs * (double)ends;
        }
    return 1e-6 * sum;
}

static trl_status run(trl_chart *c, const trl_tree_tables *t, trl_error *err)
{
    c->log_z = -(double)INFINITY;
    c->heavy = c->max_work > 0.0 && trl_chart_work(c) > c->max_work;
    if (c->heavy) {
        c->late = true;
        return TRL_OK;
    }
    const trl_status st = exponentiate(c, t, err);
    c->overflow = st != TRL_OK;
    if (c->overflow)
        return st;
    memset(c->before, 0, c->n_items * sizeof *c->before);
    memset(c->after, 0, c->n_items * sizeof *c->after);
    const bool any = t->edge[0] || t->edge[1] || t->edge[2];
    for (size_t j = 1; j <= c->n; j++) {
        if (c->deadline > 0.0 && trl_clock() > c->deadline) {
            c->late = true;
            return TRL_OK;
        }
        trl_chart_map(c, j, true);
        trl_chart_inside_end(c, t, j, any);
        trl_chart_map(c, j, false);
    }
    if (c->overflow)
        return trl_fail(err, TRL_ENUMERIC, "scores of the tree model are too large to add up");
    if (c->root_item != TRL_NO_ID && c->after[c->root_item] > 0.0)
        c->log_z = log(c->after[c->root_item]) + LN2 * c->scale[trl_cell(0, c->n)];
    return TRL_OK;
}

trl_status trl_chart_inside(trl_chart *c, const trl_tree_tables *t, trl_error *err)
{
    c->back = NULL;
    return run(c, t, err);
}

trl_status trl_chart_best(trl_chart *c, const trl_tree_tables *t, trl_arena *arena, trl_error *err)
{
    c->back = trl_arena_get(arena, c->n_items, TRL_BACK * sizeof *c->back);
    if (!c->back)
        return trl_fail_mem(err);
    return run(c, t, err);
}

/* ---- the best tree --------------------------------------------------------------------------- */

static bool push(trl_btree *t, trl_bnode node)
{
    trl_bnode *p = trl_reserve(t->node, &t->cap, t->n + 1, sizeof *p);
    if (!p)
        return false;
    t->node = p;
    p[t->n++] = node;
    return true;
}

typedef struct pending {
    uint32_t item, from, to, above; /* above: the node to link from, TRL_NO_NODE at the root */
    bool after, right;
} pending;

static bool expand(const trl_chart *c, const pending *p, trl_btree *out, pending *two, size_t *n)
{
    const uint32_t *b = c->back + TRL_BACK * (size_t)p->item;
    trl_bnode node = {
        c->s->item[p->item] & TRL_STATE_MASK, TRL_NO_ID, p->from, p->to, TRL_NO_NODE, TRL_NO_NODE};
    const uint32_t me = (uint32_t)out->n;
    *n = 0;
    if (p->after && b[TRL_BACK_UNARY] != TRL_NO_ID) {
        const trl_unary_edge *e = &c->unary[b[TRL_BACK_UNARY]];
        node.rule = e->rule;
        two[(*n)++] = (pending){e->child, p->from, p->to, me, false, false};
    } else if (p->to - p->from > 1) {
        const uint32_t k = b[TRL_BACK_SPLIT];
        node.rule = b[TRL_BACK_RULE];
        two[(*n)++] = (pending){b[TRL_BACK_RIGHT], k, p->to, me, true, true};
        two[(*n)++] = (pending){b[TRL_BACK_LEFT], p->from, k, me, true, false};
    }
    if (!push(out, node))
        return false;
    if (p->above != TRL_NO_NODE)
        *(p->right ? &out->node[p->above].right : &out->node[p->above].left) = me;
    return true;
}

trl_status trl_chart_tree(const trl_chart *c, trl_btree *out, trl_error *err)
{
    return trl_chart_subtree(c, c->root_item, 0, c->n, out, err);
}

trl_status trl_chart_subtree(const trl_chart *c, uint32_t item, size_t i, size_t j, trl_btree *out,
                             trl_error *err)
{
    pending *stack = trl_alloc(j - i + 2, sizeof *stack);
    if (!stack)
        return trl_fail_mem(err);
    size_t n = 0, more;
    bool ok = true;
    out->n = 0;
    stack[n++] = (pending){item, (uint32_t)i, (uint32_t)j, TRL_NO_NODE, true, false};
    while (n && ok) {
        const pending p = stack[--n];
        ok = expand(c, &p, out, stack + n, &more);
        n += more;
    }
    trl_free(stack);
    return ok ? TRL_OK : trl_fail_mem(err);
}
