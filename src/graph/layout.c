/* layout.c -- edges, rows, forests, and spanning trees with their weights. */
/* SPDX-License-Identifier: MIT */
#include "graph/layout.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define NONE UINT32_MAX
#define MIN_TREES 16 /* always drawn, so that edges are covered about equally */

/* ---- sets of joined nodes -------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *set, uint32_t x)
{
    while (set[x] != x)
        x = set[x] = set[set[x]];
    return x;
}

/* False: they were joined already. */
static bool join(uint32_t *set, uint32_t a, uint32_t b)
{
    a = root_of(set, a);
    b = root_of(set, b);
    if (a == b)
        return false;
    if (a < b)
        set[b] = a;
    else
        set[a] = b;
    return true;
}

static void separate(uint32_t *set, size_t n)
{
    for (uint32_t i = 0; i < n; i++)
        set[i] = i;
}

/* Variables first, then factors. */
static size_t n_nodes(const trl_graph_view *g)
{
    return g->n_variables + g->n_factors;
}

static uint32_t factor_node(const trl_graph_view *g, size_t factor)
{
    return (uint32_t)(g->n_variables + factor);
}

/* ---- edges and rows -------------------------------------------------------------------------- */

static void lay_out(const trl_graph_view *g, trl_layout *l)
{
    size_t at = 0;
    l->max_width = 8;
    l->max_cells = 1;
    for (size_t a = 0; a < g->n_factors; a++) {
        const size_t cells = g->cell_at[a + 1] - g->cell_at[a];
        l->max_cells = cells > l->max_cells ? cells : l->max_cells;
        for (size_t e = g->scope_at[a]; e < g->scope_at[a + 1]; e++) {
            l->edge_factor[e] = (uint32_t)a;
            l->message_at[e] = at;
            if (trl_arity(g, a) < 2)
                continue;
            at += trl_row_width(g->labels[g->scope[e]]);
            l->n_messages++;
            l->link_at[g->scope[e] + 1]++;
        }
    }
    l->message_at[l->n_edges] = at;
    for (size_t v = 0; v < g->n_variables; v++) {
        const size_t width = trl_row_width(g->labels[v]);
        l->max_width = width > l->max_width ? width : l->max_width;
        l->node_at[v + 1] = l->node_at[v] + width;
        l->link_at[v + 1] += l->link_at[v];
    }
    for (size_t e = l->n_edges; e-- > 0;) /* fills every list from its end */
        if (trl_arity(g, l->edge_factor[e]) >= 2)
            l->link[--l->link_at[g->scope[e] + 1]] = (uint32_t)e;
    for (size_t v = 0; v < g->n_variables; v++)
        l->link_at[v] = l->link_at[v + 1];
    l->link_at[g->n_variables] = l->n_messages;
    for (size_t i = 0; i < l->n_messages; i++) {
        const uint32_t a = l->edge_factor[l->link[i]];
        l->partner[i] =
            trl_arity(g, a) == 2 ? (uint32_t)(2 * g->scope_at[a] + 1 - l->link[i]) : TRL_NO_PARTNER;
    }
}

/* A variable with a choice of labels; others say nothing, whatever they are sent. */
static bool is_free(const trl_graph_view *g, const bool *observed, uint32_t v)
{
    return g->labels[v] > 1 && !(observed && observed[v]);
}

static bool find_forest(const trl_graph_view *g, const trl_layout *l, const bool *observed,
                        uint32_t *set)
{
    separate(set, n_nodes(g));
    for (size_t e = 0; e < l->n_edges; e++)
        if (is_free(g, observed, g->scope[e]) &&
            !join(set, g->scope[e], factor_node(g, l->edge_factor[e])))
            return false;
    return true;
}

trl_status trl_layout_new(const trl_graph_view *g, const bool *observed, trl_layout **out,
                          trl_error *err)
{
    trl_layout *l = trl_zalloc(1, sizeof *l);
    if (!l)
        return trl_fail_mem(err);
    l->n_edges = g->scope_at[g->n_factors];
    l->edge_factor = trl_alloc(l->n_edges, sizeof *l->edge_factor);
    l->message_at = trl_alloc(l->n_edges + 1, sizeof *l->message_at);
    l->link = trl_alloc(l->n_edges, sizeof *l->link);
    l->partner = trl_alloc(l->n_edges, sizeof *l->partner);
    l->link_at = trl_zalloc(g->n_variables + 1, sizeof *l->link_at);
    l->node_at = trl_zalloc(g->n_variables + 1, sizeof *l->node_at);
    uint32_t *set = trl_alloc(n_nodes(g), sizeof *set);
    const bool ok =
        l->edge_factor && l->message_at && l->link && l->partner && l->link_at && l->node_at && set;
    if (ok) {
        lay_out(g, l);
        l->is_forest = find_forest(g, l, observed, set);
        *out = l;
    } else
        trl_layout_free(l);
    trl_free(set);
    return ok ? TRL_OK : trl_fail_mem(err);
}

void trl_layout_free(trl_layout *l)
{
    if (!l)
        return;
    trl_free(l->edge_factor);
    trl_free(l->message_at);
    trl_free(l->link);
    trl_free(l->partner);
    trl_free(l->link_at);
    trl_free(l->node_at);
    trl_free(l->forest_at);
    trl_free(l->forest_edge);
    trl_free(l->rho);
    trl_free(l);
}

/* ---- forests --------------------------------------------------------------------------------- */

typedef struct forests {
    const trl_graph_view *g;
    trl_layout *l;
    uint32_t *round;    /* [n_edges] the forest it is in; NONE: not yet, or no message */
    uint32_t *set;      /* [n_nodes] */
    uint32_t *queue;    /* [n_nodes] */
    uint32_t *seen;     /* [n_nodes] in which round, + 1 */
    uint32_t *up, *out; /* [n_edges] edges in the order found: towards the roots, and away */
} forests;

/* Breadth first from variable v along the edges of this round. */
static void walk(forests *f, uint32_t v, uint32_t round, size_t *n_up, size_t *n_out)
{
    const trl_graph_view *g = f->g;
    size_t head = 0, tail = 0;
    f->queue[tail++] = v;
    f->seen[v] = round + 1;
    while (head < tail) {
        const uint32_t x = f->queue[head++];
        const bool is_factor = x >= g->n_variables;
        const size_t a = x - g->n_variables;
        const size_t from = is_factor ? g->scope_at[a] : f->l->link_at[x];
        const size_t to = is_factor ? g->scope_at[a + 1] : f->l->link_at[x + 1];
        for (size_t i = from; i < to; i++) {
            const uint32_t e = is_factor ? (uint32_t)i : f->l->link[i];
            const uint32_t next = is_factor ? g->scope[e] : factor_node(g, f->l->edge_factor[e]);
            if (f->round[e] != round || f->seen[next] == round + 1)
                continue;
            f->seen[next] = round + 1;
            f->queue[tail++] = next;
            if (is_factor)
                f->out[(*n_out)++] = e;
            else
                f->up[(*n_up)++] = e;
        }
    }
}

/* Takes a forest out of the edges that are left, and appends its messages. */
static void take_forest(forests *f, uint32_t round)
{
    const trl_graph_view *g = f->g;
    trl_layout *l = f->l;
    size_t at = l->forest_at[round], n_up = 0, n_out = 0;
    separate(f->set, n_nodes(g));
    for (size_t e = 0; e < l->n_edges; e++)
        if (f->round[e] == NONE && trl_arity(g, l->edge_factor[e]) >= 2 &&
            join(f->set, g->scope[e], factor_node(g, l->edge_factor[e])))
            f->round[e] = round;
    for (uint32_t v = 0; v < g->n_variables; v++)
        if (f->seen[v] != round + 1)
            walk(f, v, round, &n_up, &n_out);
    while (n_up > 0)
        l->forest_edge[at++] = f->up[--n_up];
    for (size_t i = 0; i < n_out; i++)
        l->forest_edge[at++] = f->out[i];
    l->forest_at[round + 1] = at;
}

trl_status trl_layout_forests(const trl_graph_view *g, trl_layout *l, trl_error *err)
{
    forests f = {.g = g,
                 .l = l,
                 .round = trl_alloc(l->n_edges, 4),
                 .set = trl_alloc(n_nodes(g), 4),
                 .queue = trl_alloc(n_nodes(g), 4),
                 .seen = trl_zalloc(n_nodes(g), 4),
                 .up = trl_alloc(l->n_edges, 4),
                 .out = trl_alloc(l->n_edges, 4)};
    size_t cap = 0;
    l->forest_edge = trl_alloc(l->n_edges, sizeof *l->forest_edge);
    bool ok = f.round && f.set && f.queue && f.seen && f.up && f.out && l->forest_edge;
    for (size_t e = 0; ok && e < l->n_edges; e++)
        f.round[e] = NONE;
    for (uint32_t round = 0; ok; round++) {
        size_t *p = trl_reserve(l->forest_at, &cap, round + 2, sizeof *p);
        ok = p != NULL;
        if (!ok)
            break;
        l->forest_at = p;
        if (round == 0)
            p[0] = 0;
        l->n_forests = round;
        if (p[round] == l->n_messages)
            break;
        take_forest(&f, round);
    }
    trl_free(f.round);
    trl_free(f.set);
    trl_free(f.queue);
    trl_free(f.seen);
    trl_free(f.up);
    trl_free(f.out);
    return ok ? TRL_OK : trl_fail_mem(err);
}

/* ---- spanning trees -------------------------------------------------------------------------- */

/* A factor of two variables is an edge between them; a larger one is a variable of its own, joined
 * to each of its variables.  Variables that are fixed are taken out: what leads to them is no edge
 * and has weight 1.  Each tree takes the edges that were in the fewest so far, equals in an
 * order that turns from tree to tree, until every edge was in one. */
typedef struct spanning {
    uint32_t *a, *b,
        *first; /* [n] ends, and an edge of the layout; the other one of a pair is next to it */
    uint32_t *count, *order, *next, *set;
    size_t n;
} spanning;

static void list_edges(const trl_graph_view *g, const trl_layout *l, const bool *observed,
                       spanning *s)
{
    for (uint32_t e = 0; e < l->n_edges; e++) {
        const uint32_t a = l->edge_factor[e];
        const size_t m = trl_arity(g, a);
        if (m < 2 || (m == 2 && e > g->scope_at[a]) || !is_free(g, observed, g->scope[e]) ||
            (m == 2 && !is_free(g, observed, g->scope[e + 1])))
            continue;
        s->a[s->n] = g->scope[e];
        s->b[s->n] = m == 2 ? g->scope[e + 1] : factor_node(g, a);
        s->first[s->n++] = e;
    }
}

/* Kruskal over s->order; then those taken move after those not taken of the same count. */
static void draw_tree(const trl_graph_view *g, spanning *s)
{
    size_t kept = 0, taken = 0;
    separate(s->set, n_nodes(g));
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t k = s->order[i];
        if (join(s->set, s->a[k], s->b[k])) {
            s->count[k]++;
            s->next[s->n - ++taken] = k;
        } else
            s->order[kept++] = k;
    }
    for (size_t i = 0; i < taken; i++)
        s->order[kept + i] = s->next[s->n - 1 - i];
    /* by count again: a stable merge of two runs that are each in order */
    memcpy(s->next, s->order, s->n * sizeof *s->next);
    for (size_t i = 0, j = kept, to = 0; to < s->n; to++)
        s->order[to] = j == s->n || (i < kept && s->count[s->next[i]] <= s->count[s->next[j]])
                           ? s->next[i++]
                           : s->next[j++];
}

static size_t draw_trees(const trl_graph_view *g, spanning *s)
{
    size_t trees = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->order[i] = i;
    do {
        draw_tree(g, s);
        trees++;
    } while (s->n > 0 &&
             (s->count[s->order[0]] == 0 || (trees < MIN_TREES && s->count[s->order[0]] < trees)));
    return trees;
}

trl_status trl_layout_weights(const trl_graph_view *g, const bool *observed, trl_layout *l,
                              trl_error *err)
{
    spanning s = {.a = trl_alloc(l->n_edges, 4),
                  .b = trl_alloc(l->n_edges, 4),
                  .first = trl_alloc(l->n_edges, 4),
                  .count = trl_zalloc(l->n_edges, 4),
                  .order = trl_alloc(l->n_edges, 4),
                  .next = trl_alloc(l->n_edges, 4),
                  .set = trl_alloc(n_nodes(g), 4)};
    l->rho = trl_alloc(l->n_edges, sizeof *l->rho);
    const bool ok = s.a && s.b && s.first && s.count && s.order && s.next && s.set && l->rho;
    if (ok) {
        for (size_t e = 0; e < l->n_edges; e++)
            l->rho[e] = 1.0;
        list_edges(g, l, observed, &s);
        l->n_trees = draw_trees(g, &s);
        for (size_t k = 0; k < s.n; k++) {
            const uint32_t e = s.first[k];
            l->rho[e] = (double)s.count[k] / (double)l->n_trees;
            if (trl_arity(g, l->edge_factor[e]) == 2)
                l->rho[e + 1] = l->rho[e];
        }
    }
    trl_free(s.a);
    trl_free(s.b);
    trl_free(s.first);
    trl_free(s.count);
    trl_free(s.order);
    trl_free(s.next);
    trl_free(s.set);
    return ok ? TRL_OK : trl_fail_mem(err);
}
