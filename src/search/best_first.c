/* best_first.c -- best-first search over states. */
/* SPDX-License-Identifier: MIT */
#include "search/best_first.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mem.h"

/* Costs above this are not queued even while no tree is known: e^-50. */
#define HOPELESS 50.0

/* An inference that may be made. */
struct trl_search_node {
    double cost; /* of the whole derivation up to here */
    uint32_t state;
    trl_inference x;
};

struct trl_search_state {
    trl_partial_parse s;
    double cost;
    uint32_t depth; /* inferences */
};

void trl_searcher_fini(trl_searcher *x)
{
    trl_forest_fini(&x->forest);
    trl_free(x->keys.key);
    trl_free(x->seen);
    trl_free(x->word);
    trl_arena_fini(&x->arena);
    trl_free(x->node);
    trl_free(x->state);
    trl_free(x->heap);
    trl_free(x->expanded);
    trl_free(x->cost);
    trl_free(x->found);
    *x = (trl_searcher){0};
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* h of a classifier; -INFINITY as soon as it is known to be below `least`.  most[k]: what trees k
 * and later can add. */
static double score(const trl_boost_part *p, const double *most, const trl_searcher *x,
                    double least)
{
    double h = 0.0;
    for (size_t k = 0; k < p->n_trees; k++) {
        if (h + most[k] < least)
            return -INFINITY;
        const trl_boost_node *root = p->node + trl_boost_begin(p->tree_end, k), *v = root;
        while (v->feature != TRL_NO_ID)
            v = x->seen[v->feature] == x->span ? v + 1 : root + v->off;
        h += v->value;
    }
    return h;
}

/* The h that costs c: below it, more.  A little less, so that rounding loses nothing. */
static double score_of(double c)
{
    if (!(c < HOPELESS))
        return -c - 1e-6;
    return c > 0.0 ? -log(expm1(c)) - 1e-6 : (double)INFINITY;
}

/* ln(1 + exp(-h)) without overflow. */
static double cost_of(double h)
{
    return h > 0.0 ? log1p(exp(-h)) : log1p(exp(h)) - h;
}

/* What costs as much as `below` may be INFINITY. */
static trl_status find_costs(trl_searcher *x, const trl_partial_parse *s, size_t first, size_t last,
                             double below, trl_error *err)
{
    const trl_search_model *m = x->model;
    const double least = score_of(below);
    const double *most = m->most;
    const trl_span_view v = {&m->groups, &m->names, &x->forest, x->word};
    if (!trl_span_features(&v, s, first, last, &x->keys))
        return trl_fail_mem(err);
    if (++x->span == 0) { /* numbers are used up */
        memset(x->seen, 0, m->boost->names.n * sizeof *x->seen);
        x->span = 1;
    }
    for (size_t k = 0; k < x->keys.n; k++) {
        const uint32_t f = trl_key_index_find(&m->index, x->keys.key[k]);
        if (f != TRL_NO_ID)
            x->seen[f] = x->span;
    }
    const bool whole = first == 0 && last + 1 == s->n;
    for (size_t k = 0; k < m->boost->n; k++) {
        const bool allowed =
            (m->label_of[k] != TRL_SEARCH_TOP || whole) &&
            (first != last || trl_unary_allowed(&x->forest, s->root[first], m->label_of[k]));
        const trl_boost_part *p = &m->boost->part[k];
        x->cost[k] = allowed ? cost_of(score(p, most, x, least)) : (double)INFINITY;
        most += p->n_trees;
    }
    return TRL_OK;
}

/* ---- queue ----------------------------------------------------------------------------------- */

static bool before(const trl_searcher *x, uint32_t a, uint32_t b)
{
    const double ca = x->node[a].cost, cb = x->node[b].cost;
    return ca != cb ? ca < cb : a < b;
}

static void sift_up(trl_searcher *x, size_t at)
{
    const uint32_t v = x->heap[at];
    for (; at && before(x, v, x->heap[(at - 1) / 2]); at = (at - 1) / 2)
        x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = v;
}

static uint32_t pop(trl_searcher *x)
{
    const uint32_t top = x->heap[0], v = x->heap[--x->n_heap];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= x->n_heap)
            break;
        if (child + 1 < x->n_heap && before(x, x->heap[child + 1], x->heap[child]))
            child++;
        if (!before(x, x->heap[child], v))
            break;
        x->heap[at] = x->heap[child];
        at = child;
    }
    x->heap[at] = v;
    return top;
}

static trl_status push(trl_searcher *x, trl_search_node n, trl_error *err)
{
    trl_search_node *node = trl_reserve(x->node, &x->node_cap, x->n_nodes + 1, sizeof *node);
    if (node)
        x->node = node;
    uint32_t *heap = trl_reserve(x->heap, &x->heap_cap, x->n_heap + 1, sizeof *heap);
    if (heap)
        x->heap = heap;
    if (!node || !heap || x->n_nodes >= TRL_NO_ID - 1)
        return trl_fail_mem(err);
    node[x->n_nodes] = n;
    if (n.x.label == TRL_SEARCH_TOP && (x->leaf == TRL_NO_ID || n.cost < node[x->leaf].cost))
        x->leaf = (uint32_t)x->n_nodes;
    heap[x->n_heap] = (uint32_t)x->n_nodes++;
    sift_up(x, x->n_heap++);
    return TRL_OK;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The state after a node's inference; TRL_NO_ID: out of memory. */
static uint32_t make_state(trl_searcher *x, const trl_search_node *n)
{
    const trl_search_state *from = &x->state[n->state];
    const trl_partial_parse old = from->s;
    const uint32_t depth = from->depth + 1;
    trl_search_state *state = trl_reserve(x->state, &x->state_cap, x->n_states + 1, sizeof *state);
    uint32_t *root = trl_arena_get(&x->arena, old.n, sizeof *root);
    if (state)
        x->state = state;
    const trl_search_model *m = x->model;
    const uint32_t item = state && root
                              ? trl_forest_add(&x->forest, &old, n->x, m->heads, &m->names.labels)
                              : TRL_NO_ID;
    if (item == TRL_NO_ID)
        return TRL_NO_ID;
    state[x->n_states] = (trl_search_state){
        trl_partial_after(&old, n->x.first, n->x.last, item, root), n->cost, depth};
    return (uint32_t)x->n_states++;
}

static trl_status push_labels(trl_searcher *x, uint32_t state, size_t first, size_t last,
                              trl_error *err)
{
    const trl_search_model *m = x->model;
    const double so_far = x->state[state].cost;
    for (size_t k = 0; k < m->boost->n; k++) {
        const trl_inference inference = {(uint32_t)first, (uint32_t)last, m->label_of[k]};
        const trl_search_node n = {so_far + x->cost[k], state, inference};
        if (!(n.cost < x->bound))
            continue;
        const trl_status st = push(x, n, err);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

/* Queues all inferences of the state that may be part of the cheapest tree. */
static trl_status expand(trl_searcher *x, uint32_t state, trl_error *err)
{
    const trl_partial_parse s = x->state[state].s;
    const double so_far = x->state[state].cost;
    x->n_expanded++;
    for (size_t first = 0; first <= s.newest; first++)
        for (size_t last = first; last < s.n; last++) {
            trl_status st = find_costs(x, &s, first, last, x->bound - so_far, err);
            if (st == TRL_OK)
                st = push_labels(x, state, first, last, err);
            if (st != TRL_OK)
                return st;
        }
    x->work += 1e-6 * (double)((s.newest + 1) * s.n) * (double)x->model->n_trees;
    if (x->want == 1 && x->leaf != TRL_NO_ID && x->node[x->leaf].cost < x->bound)
        x->bound = x->node[x->leaf].cost;
    return TRL_OK;
}

/* ---- search ---------------------------------------------------------------------------------- */

static trl_status keep_tree(trl_searcher *x, const trl_search_node *n, trl_error *err)
{
    const uint32_t state = make_state(x, n);
    trl_found_tree *found = trl_reserve(x->found, &x->found_cap, x->n_found + 1, sizeof *found);
    if (found)
        x->found = found;
    if (state == TRL_NO_ID || !found)
        return trl_fail_mem(err);
    const size_t nodes = x->forest.n_words + x->state[state].depth;
    trl_node *node = trl_arena_get(&x->arena, nodes, sizeof *node);
    uint32_t *stack = trl_arena_get(&x->arena, 2 * nodes, sizeof *stack);
    if (!node || !stack)
        return trl_fail_mem(err);
    found[x->n_found] = (trl_found_tree){n->cost, node, 0};
    found[x->n_found++].n_nodes =
        trl_forest_tree(&x->forest, x->state[state].s.root[0], node, stack);
    return TRL_OK;
}

/* The cheapest inference of a state. */
static trl_status cheapest(trl_searcher *x, uint32_t state, trl_search_node *best, trl_error *err)
{
    const trl_search_model *m = x->model;
    const trl_partial_parse s = x->state[state].s;
    double least = (double)INFINITY;
    for (size_t first = 0; first <= s.newest; first++)
        for (size_t last = first; last < s.n; last++) {
            const trl_status st = find_costs(x, &s, first, last, least, err);
            if (st != TRL_OK)
                return st;
            for (size_t k = 0; k < m->boost->n; k++)
                if (x->cost[k] < least) {
                    least = x->cost[k];
                    *best = (trl_search_node){x->state[state].cost + least,
                                              state,
                                              {(uint32_t)first, (uint32_t)last, m->label_of[k]}};
                }
        }
    if (isinf(least))
        return trl_fail(err, TRL_EMODEL, "damaged model: it has no label for the root");
    return TRL_OK;
}

/* Always the cheapest inference, until a tree is there. */
static trl_status descend(trl_searcher *x, trl_error *err)
{
    trl_search_node best = {0};
    for (uint32_t state = 0;;) {
        trl_status st = cheapest(x, state, &best, err);
        if (st == TRL_OK && best.x.label == TRL_SEARCH_TOP)
            return push(x, best, err);
        state = st == TRL_OK ? make_state(x, &best) : TRL_NO_ID;
        if (state == TRL_NO_ID)
            return st == TRL_OK ? trl_fail_mem(err) : st;
    }
}

static bool in_beam(trl_searcher *x, const trl_search_options *o, uint32_t depth, trl_status *st,
                    trl_error *err)
{
    if (!o->beam)
        return true;
    const size_t had = x->expanded_cap;
    uint32_t *n = trl_reserve(x->expanded, &x->expanded_cap, depth + 1, sizeof *n);
    if (!n) {
        *st = trl_fail_mem(err);
        return false;
    }
    x->expanded = n;
    if (x->expanded_cap > had)
        memset(n + had, 0, (x->expanded_cap - had) * sizeof *n);
    if (n[depth] < o->beam)
        n[depth]++;
    else
        return x->exact = false;
    return true;
}

static bool is_over(const trl_searcher *x, const trl_search_options *o)
{
    return (o->max_work > 0.0 && x->work > o->max_work) ||
           (o->deadline > 0.0 && trl_clock() > o->deadline);
}

/* Takes states from the queue until the trees are there or a limit is met. */
static trl_status run_queue(trl_searcher *x, const trl_search_options *o, trl_error *err)
{
    trl_status st = TRL_OK;
    while (st == TRL_OK && x->n_heap && x->n_found < x->want) {
        if (is_over(x, o)) {
            x->exact = false;
            break;
        }
        const trl_search_node n = x->node[pop(x)];
        if (n.x.label == TRL_SEARCH_TOP) {
            st = keep_tree(x, &n, err);
            continue;
        }
        if (!in_beam(x, o, x->state[n.state].depth + 1, &st, err))
            continue;
        const uint32_t state = make_state(x, &n);
        if (state == TRL_NO_ID)
            return trl_fail_mem(err);
        st = expand(x, state, err);
    }
    return st;
}

static trl_status start(trl_searcher *x, const trl_str *word, const uint32_t *tag, size_t n,
                        trl_error *err)
{
    const trl_search_model *m = x->model;
    trl_arena_reset(&x->arena);
    x->n_nodes = x->n_states = x->n_heap = x->n_found = 0;
    x->n_expanded = 0;
    x->work = 0.0;
    x->leaf = TRL_NO_ID;
    x->exact = true;
    x->bound = HOPELESS;
    if (x->expanded)
        memset(x->expanded, 0, x->expanded_cap * sizeof *x->expanded);
    uint32_t *own = trl_reserve(x->word, &x->word_cap, n, sizeof *own);
    if (own)
        x->word = own;
    if (!x->seen)
        x->seen = trl_zalloc(m->boost->names.n + 1, sizeof *x->seen);
    if (!x->cost)
        x->cost = trl_alloc(m->boost->n + 1, sizeof *x->cost);
    trl_search_state *state = trl_reserve(x->state, &x->state_cap, 1, sizeof *state);
    if (state)
        x->state = state;
    uint32_t *root = trl_arena_get(&x->arena, n, sizeof *root);
    if (!own || !x->seen || !x->cost || !state || !root || !trl_forest_start(&x->forest, n, tag))
        return trl_fail_mem(err);
    for (size_t k = 0; k < n; k++)
        own[k] = trl_strtab_find(&m->names.words, word[k].p, word[k].n);
    state[x->n_states++] = (trl_search_state){trl_partial_start(&x->forest, root), 0.0, 0};
    return TRL_OK;
}

trl_status trl_best_first(trl_searcher *x, const trl_str *word, const uint32_t *tag, size_t n,
                          const trl_search_options *o, trl_error *err)
{
    x->want = o->nbest > 1 ? o->nbest : 1;
    trl_status st = start(x, word, tag, n, err);
    if (st == TRL_OK)
        st = descend(x, err);
    if (st != TRL_OK)
        return st;
    const double known = x->node[x->leaf].cost;
    x->exact = known < HOPELESS;
    if (x->want > 1)
        x->n_heap = 0; /* it will be found again */
    else if (known < HOPELESS)
        x->bound = known;
    st = expand(x, 0, err);
    if (st == TRL_OK)
        st = run_queue(x, o, err);
    if (st == TRL_OK && x->n_found == 0) {
        const trl_search_node best = x->node[x->leaf];
        st = keep_tree(x, &best, err);
    }
    return st;
}
