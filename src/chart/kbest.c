/* kbest.c -- derivations in order, on demand.
 *
 * Places are numbered 2 item + 1 (after) or 2 item (before).  The score of a place's best
 * derivation is that of trl_chart_best; all other scores are sums of these and of rules' scores.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/kbest.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define LN2 0.693147180559945309417232

typedef struct edge { /* a way to make a place */
    double score;     /* log, of the rule alone */
    uint32_t rule;    /* binary, unary; TRL_NO_ID: a word, or before becoming after */
    uint32_t split;
    uint32_t child[2]; /* places; TRL_NO_ID: none */
} edge;

typedef struct derivation {
    double score;
    uint32_t edge;
    uint32_t rank[2]; /* of the children's derivations */
} derivation;

typedef struct place {
    uint32_t from, to;
    edge *edge;
    derivation *done; /* [n_done], best first */
    derivation *heap; /* [n_heap], largest score on top */
    uint32_t n_edges, n_done, cap_done, n_heap, cap_heap;
} place;

typedef struct search {
    trl_chart *c;
    const trl_tree_tables *t;
    trl_arena *arena;
    uint32_t *by_parent, *rules; /* rules by (parent, left, right) */
    uint32_t *number;            /* [2 items]: index in `all` + 1, or 0 */
    place **all;
    size_t n_all, cap_all;
    edge *scratch; /* of one place, while collected */
    size_t n_scratch, cap_scratch;
    bool failed;
} search;

/* ---- scores ---------------------------------------------------------------------------------- */

static double best_of(const search *s, uint32_t at, size_t i, size_t j)
{
    const double x = at & 1 ? s->c->after[at / 2] : s->c->before[at / 2];
    return x > 0.0 ? log(x) + LN2 * s->c->scale[trl_cell(i, j)] : -(double)INFINITY;
}

static double log_edge(const search *s, int anchor, size_t at, uint32_t q)
{
    if (!s->t->edge[anchor])
        return 0.0;
    const double x = s->t->edge[anchor][at * s->t->n_classes + q];
    return log(x >= 0.0 ? x : s->t->fill(s->t->self, anchor, at, q));
}

static double rule_score(const search *s, uint32_t r, size_t i, size_t k, size_t j)
{
    const uint32_t q = s->t->edge_class[r];
    return log(s->t->binary_exp[r]) + log_edge(s, TRL_EDGE_FIRST, i, q) +
           log_edge(s, TRL_EDGE_SPLIT, k, q) + log_edge(s, TRL_EDGE_END, j, q);
}

/* ---- the ways to make a place ---------------------------------------------------------------- */

static void add_edge(search *s, edge e)
{
    if (!(e.score > -(double)INFINITY))
        return;
    edge *p = trl_reserve(s->scratch, &s->cap_scratch, s->n_scratch + 1, sizeof *p);
    if (!p) {
        s->failed = true;
        return;
    }
    s->scratch = p;
    p[s->n_scratch++] = e;
}

/* The first of `rules` in [lo, hi) whose left child is not below `left`. */
static uint32_t lower_left(const search *s, uint32_t lo, uint32_t hi, uint32_t left)
{
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (s->c->g->binary[s->rules[mid]].left < left)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void binary_edges_at(search *s, uint32_t x, size_t i, size_t k, size_t j)
{
    const trl_skeleton *sk = s->c->s;
    const trl_grammar *g = s->c->g;
    const uint32_t parent = sk->item[x] & TRL_STATE_MASK, end = s->by_parent[parent + 1];
    uint32_t r = s->by_parent[parent];
    for (uint32_t b = sk->first[trl_cell(i, k)]; b < sk->first[trl_cell(i, k) + 1]; b++) {
        const uint32_t left = sk->item[b] & TRL_STATE_MASK;
        if (!(s->c->after[b] > 0.0))
            continue;
        for (r = lower_left(s, r, end, left); r < end && g->binary[s->rules[r]].left == left; r++) {
            const uint32_t rule = s->rules[r];
            const uint32_t d = trl_skeleton_find(sk, k, j, g->binary[rule].right);
            if (d == TRL_NO_ID || !(s->c->after[d] > 0.0))
                continue;
            const double score = s->t->item[x] + rule_score(s, rule, i, k, j);
            add_edge(s, (edge){score, rule, (uint32_t)k, {2 * b + 1, 2 * d + 1}});
        }
    }
}

static void after_edges(search *s, uint32_t x, size_t cell)
{
    const trl_chart *c = s->c;
    const uint32_t item = c->s->item[x];
    if ((item & TRL_BEFORE) &&
        trl_skeleton_allows(c->s, c->g, cell, item & TRL_STATE_MASK, TRL_NO_ID))
        add_edge(s, (edge){0.0, TRL_NO_ID, 0, {2 * x, TRL_NO_ID}});
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++)
        if (c->unary[e].parent == x) {
            const double score = s->t->unary[c->unary[e].rule] + s->t->unary_at[e];
            add_edge(s, (edge){score, c->unary[e].rule, 0, {2 * c->unary[e].child, TRL_NO_ID}});
        }
}

static void collect_edges(search *s, uint32_t at, size_t i, size_t j)
{
    const uint32_t x = at / 2;
    s->n_scratch = 0;
    if (at & 1) {
        after_edges(s, x, trl_cell(i, j));
    } else if (j - i == 1) {
        add_edge(s, (edge){s->t->item[x], TRL_NO_ID, 0, {TRL_NO_ID, TRL_NO_ID}});
    } else {
        for (size_t k = i + 1; k < j; k++)
            binary_edges_at(s, x, i, k, j);
    }
}

/* ---- heaps ----------------------------------------------------------------------------------- */

/* Equal scores: by edge, so that the order is always the same. */
static bool above(const derivation *a, const derivation *b)
{
    return a->score != b->score ? a->score > b->score : a->edge < b->edge;
}

static void sift_down(derivation *h, size_t n, size_t at)
{
    const derivation d = h[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && above(&h[child + 1], &h[child]))
            child++;
        if (!above(&h[child], &d))
            break;
        h[at] = h[child];
    }
    h[at] = d;
}

/* Room for one more, in the arena. */
static bool room(search *s, derivation **list, uint32_t n, uint32_t *cap)
{
    if (n < *cap)
        return true;
    const uint32_t more = *cap ? 2 * *cap : 4;
    derivation *p = trl_arena_get(s->arena, more, sizeof *p);
    if (!p) {
        s->failed = true;
        return false;
    }
    if (n)
        memcpy(p, *list, n * sizeof *p);
    *list = p;
    *cap = more;
    return true;
}

static void push(search *s, place *p, derivation d)
{
    if (!room(s, &p->heap, p->n_heap, &p->cap_heap))
        return;
    size_t at = p->n_heap++;
    for (; at > 0 && above(&d, &p->heap[(at - 1) / 2]); at = (at - 1) / 2)
        p->heap[at] = p->heap[(at - 1) / 2];
    p->heap[at] = d;
}

static derivation pop(place *p)
{
    const derivation top = p->heap[0];
    p->heap[0] = p->heap[--p->n_heap];
    if (p->n_heap)
        sift_down(p->heap, p->n_heap, 0);
    return top;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void child_span(const place *p, const edge *e, int side, uint32_t *from, uint32_t *to)
{
    *from = side ? e->split : p->from;
    *to = !side && e->child[1] != TRL_NO_ID ? e->split : p->to;
}

/* Every way to make it, with the children's best. */
static bool fill_heap(search *s, place *p)
{
    p->cap_heap = p->n_edges + 4;
    p->heap = trl_arena_get(s->arena, p->cap_heap, sizeof *p->heap);
    if (!p->heap)
        return false;
    for (uint32_t e = 0; e < p->n_edges; e++) {
        derivation d = {p->edge[e].score, e, {0, 0}};
        for (int side = 0; side < 2 && p->edge[e].child[side] != TRL_NO_ID; side++) {
            uint32_t from, to;
            child_span(p, &p->edge[e], side, &from, &to);
            d.score += best_of(s, p->edge[e].child[side], from, to);
        }
        if (d.score > -(double)INFINITY)
            p->heap[p->n_heap++] = d;
    }
    for (size_t k = p->n_heap / 2; k-- > 0;)
        sift_down(p->heap, p->n_heap, k);
    return true;
}

/* The place of this number, made on first use; NULL: out of memory. */
static place *place_of(search *s, uint32_t at, uint32_t from, uint32_t to)
{
    if (s->number[at])
        return s->all[s->number[at] - 1];
    place **all = trl_reserve(s->all, &s->cap_all, s->n_all + 1, sizeof *all);
    place *p = trl_arena_get(s->arena, 1, sizeof *p);
    if (all)
        s->all = all;
    if (!all || !p)
        return NULL;
    collect_edges(s, at, from, to);
    *p = (place){.from = from, .to = to, .n_edges = (uint32_t)s->n_scratch};
    p->edge = trl_arena_get(s->arena, s->n_scratch, sizeof *p->edge);
    if (!p->edge || s->failed)
        return NULL;
    if (p->n_edges)
        memcpy(p->edge, s->scratch, s->n_scratch * sizeof *p->edge);
    if (!fill_heap(s, p))
        return NULL;
    s->all[s->n_all++] = p;
    s->number[at] = (uint32_t)s->n_all;
    return p;
}

static const derivation *ranked(search *s, uint32_t at, uint32_t from, uint32_t to, uint32_t rank);

/* The score of child `side` of rank `rank`; -inf when it has fewer. */
static double child_score(search *s, const place *p, const edge *e, int side, uint32_t rank)
{
    uint32_t from, to;
    child_span(p, e, side, &from, &to);
    const derivation *d = ranked(s, e->child[side], from, to, rank);
    return d ? d->score : -(double)INFINITY;
}

/* The successor of d along one child.  Along the left one only while the right one's rank is 0, so
 * that every pair of ranks is reached once. */
static void push_next(search *s, place *p, const derivation *d, int side)
{
    const edge *e = &p->edge[d->edge];
    if (e->child[side] == TRL_NO_ID || (side == 0 && e->child[1] != TRL_NO_ID && d->rank[1] > 0))
        return;
    derivation next = *d;
    next.rank[side]++;
    next.score = e->score;
    for (int k = 0; k < 2 && e->child[k] != TRL_NO_ID; k++)
        next.score += child_score(s, p, e, k, next.rank[k]);
    if (next.score > -(double)INFINITY)
        push(s, p, next);
}

/* Derivation `rank` of a place, NULL when it has fewer (or memory ran out: s->failed). */
static const derivation *ranked(search *s, uint32_t at, uint32_t from, uint32_t to, uint32_t rank)
{
    place *p = place_of(s, at, from, to);
    if (!p) {
        s->failed = true;
        return NULL;
    }
    while (p->n_done <= rank && !s->failed) {
        if (p->n_done) {
            const derivation last = p->done[p->n_done - 1];
            push_next(s, p, &last, 0);
            push_next(s, p, &last, 1);
        }
        if (p->n_heap == 0 || !room(s, &p->done, p->n_done, &p->cap_done))
            return NULL;
        p->done[p->n_done++] = pop(p);
    }
    return s->failed ? NULL : &p->done[rank];
}

/* ---- trees ----------------------------------------------------------------------------------- */

typedef struct pending {
    uint32_t at, from, to, rank, above;
    bool right;
} pending;

static bool add_node(trl_btree *t, trl_bnode node, const pending *p)
{
    trl_bnode *all = trl_reserve(t->node, &t->cap, t->n + 1, sizeof *all);
    if (!all)
        return false;
    t->node = all;
    const uint32_t me = (uint32_t)t->n++;
    all[me] = node;
    if (p->above != TRL_NO_NODE)
        *(p->right ? &all[p->above].right : &all[p->above].left) = me;
    return true;
}

/* False: out of memory. */
static bool build_tree(search *s, uint32_t rank, pending *stack, trl_btree *out)
{
    size_t n = 0;
    out->n = 0;
    stack[n++] = (pending){2 * s->c->root_item + 1, 0, (uint32_t)s->c->n, rank, TRL_NO_NODE, false};
    while (n) {
        const pending p = stack[--n];
        const derivation *d = ranked(s, p.at, p.from, p.to, p.rank);
        if (!d)
            return false;
        const place *v = s->all[s->number[p.at] - 1];
        const edge *e = &v->edge[d->edge];
        const bool node = !(p.at & 1) || e->rule != TRL_NO_ID;
        const uint32_t me = node ? (uint32_t)out->n : p.above;
        const uint32_t state = s->c->s->item[p.at / 2] & TRL_STATE_MASK;
        if (node &&
            !add_node(out, (trl_bnode){state, e->rule, p.from, p.to, TRL_NO_NODE, TRL_NO_NODE}, &p))
            return false;
        for (int side = 1; side >= 0; side--) {
            if (e->child[side] == TRL_NO_ID)
                continue;
            pending *q = &stack[n++];
            *q = (pending){.at = e->child[side], .rank = d->rank[side], .above = me};
            q->right = node ? side == 1 : p.right;
            child_span(v, e, side, &q->from, &q->to);
        }
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Rules by parent; the grammar's order keeps them by (left, right) below that. */
static bool order_rules(search *s)
{
    const trl_grammar *g = s->c->g;
    s->by_parent = trl_arena_get(s->arena, g->n_states + 2, sizeof *s->by_parent);
    s->rules = trl_arena_get(s->arena, g->n_binary, sizeof *s->rules);
    if (!s->by_parent || !s->rules)
        return false;
    memset(s->by_parent, 0, (g->n_states + 2) * sizeof *s->by_parent);
    for (size_t r = 0; r < g->n_binary; r++)
        s->by_parent[g->binary[r].parent + 2]++;
    for (size_t a = 2; a < g->n_states + 2; a++)
        s->by_parent[a] += s->by_parent[a - 1];
    for (uint32_t r = 0; r < g->n_binary; r++)
        s->rules[s->by_parent[g->binary[r].parent + 1]++] = r;
    return true;
}

static trl_status collect(search *s, size_t most, trl_derivation_fn take, void *ctx, trl_error *err)
{
    const trl_chart *c = s->c;
    pending *stack = trl_arena_get(s->arena, c->n + 2, sizeof *stack);
    trl_btree tree = {0};
    trl_status st = stack ? TRL_OK : trl_fail_mem(err);
    double last = INFINITY;
    bool enough = false;
    for (uint32_t rank = 0; st == TRL_OK && rank < most && !enough; rank++) {
        const derivation *d = ranked(s, 2 * c->root_item + 1, 0, (uint32_t)c->n, rank);
        if (!d)
            break;
        last = fmin(last, d->score); /* sums in another order may differ in the last bits */
        st = build_tree(s, rank, stack, &tree) ? take(ctx, &tree, last, &enough, err)
                                               : trl_fail_mem(err);
    }
    trl_btree_fini(&tree);
    return st == TRL_OK && s->failed ? trl_fail_mem(err) : st;
}

trl_status trl_chart_derivations(trl_chart *c, const trl_tree_tables *t,
                                 const trl_derivation_sink *sink, trl_arena *arena, trl_error *err)
{
    trl_status st = trl_chart_best(c, t, arena, err);
    if (st != TRL_OK || !isfinite(c->log_z))
        return st;
    search s = {.c = c, .t = t, .arena = arena};
    s.number = trl_arena_get(arena, 2 * c->n_items, sizeof *s.number);
    if (s.number && order_rules(&s)) {
        memset(s.number, 0, 2 * c->n_items * sizeof *s.number);
        st = collect(&s, sink->most < UINT32_MAX ? sink->most : UINT32_MAX - 1, sink->take,
                     sink->ctx, err);
    } else {
        st = trl_fail_mem(err);
    }
    trl_free(s.all);
    trl_free(s.scratch);
    return st;
}
