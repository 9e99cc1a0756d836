/* nbest.c -- the n best labellings, exactly.
 *
 * Every state (label, or label pair in order 2) of every position keeps its n best prefixes,
 * sorted.  A state's list is merged from its predecessors' lists: the heads of the L lists are
 * put in a heap, the best is taken n times, each time replaced by the next of its list [HC05,
 * algorithm 2 on a lattice].  O(T L (L + n log L)) in order 1, L times that in order 2.
 *
 * [HC05] Huang, Chiang. Better k-best parsing. IWPT 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/engine.h"

typedef struct path { /* a prefix ending in some state */
    double score;
    uint32_t state, rank; /* of its prefix at t - 1 */
} path;

typedef struct head { /* the next path of one predecessor's list */
    double score;
    uint32_t state, rank;
    double step; /* score of the transition from that list's state */
} head;

typedef struct nbest {
    const trl_chain *c;
    const trl_tables *s;
    size_t T, L, Q, n;
    path *list;    /* [T][Q][n] */
    uint32_t *len; /* [T][Q] */
    head *heap;    /* [max(Q, L)] */
    size_t heap_len;
} nbest;

static bool worse(const head *a, const head *b)
{
    return a->score < b->score || (a->score == b->score && a->state > b->state);
}

static void sift_down(nbest *g, size_t k)
{
    for (;;) {
        size_t best = k;
        for (size_t child = 2 * k + 1; child <= 2 * k + 2 && child < g->heap_len; child++)
            if (worse(&g->heap[best], &g->heap[child]))
                best = child;
        if (best == k)
            return;
        const head t = g->heap[k];
        g->heap[k] = g->heap[best];
        g->heap[best] = t;
        k = best;
    }
}

static const path *list_at(const nbest *g, size_t t, size_t q)
{
    return g->list + (t * g->Q + q) * g->n;
}

static void push_head(nbest *g, size_t t, size_t q, double step)
{
    if (g->len[t * g->Q + q] == 0 || step == -HUGE_VAL)
        return;
    g->heap[g->heap_len++] =
        (head){.score = list_at(g, t, q)->score + step, .state = (uint32_t)q, .step = step};
}

/* Takes the n best from the heap of lists at t into out; returns how many there were. */
static uint32_t merge(nbest *g, size_t t, path *out)
{
    uint32_t made = 0;
    for (size_t k = g->heap_len / 2; k-- > 0;)
        sift_down(g, k);
    while (g->heap_len && made < g->n) {
        head *top = &g->heap[0];
        out[made++] = (path){.score = top->score, .state = top->state, .rank = top->rank};
        if (++top->rank < g->len[t * g->Q + top->state])
            top->score = list_at(g, t, top->state)[top->rank].score + top->step;
        else
            *top = g->heap[--g->heap_len];
        sift_down(g, 0);
    }
    g->heap_len = 0;
    return made;
}

/* The heads of all lists that may precede label j (order 1) or the pair (i, j) at t. */
static void predecessors(nbest *g, size_t t, size_t i, size_t j)
{
    const double node = trl_node_at(g->s, t, j);
    if (g->c->order == 1) {
        for (size_t k = 0; k < g->L; k++)
            push_head(g, t - 1, k, node + trl_edge_at(g->c, g->s, t, k, j));
        return;
    }
    const double enter = node + trl_edge_at(g->c, g->s, t, i, j);
    if (t == 1)
        push_head(g, 0, i, enter);
    else
        for (size_t h = 0; h < g->L; h++)
            push_head(g, t - 1, h * g->L + i, enter + trl_tri_at(g->c, g->s, t, h, i, j));
}

static void fill(nbest *g)
{
    const size_t L = g->L, Q = g->Q;
    for (size_t q = 0; q < Q; q++) {
        const double node = q < L ? trl_node_at(g->s, 0, q) : -HUGE_VAL;
        g->len[q] = node > -HUGE_VAL;
        g->list[q * g->n] = (path){.score = node};
    }
    for (size_t t = 1; t < g->T; t++)
        for (size_t q = 0; q < Q; q++) {
            predecessors(g, t, q / L, q % L);
            g->len[t * Q + q] = merge(g, t - 1, g->list + (t * Q + q) * g->n);
        }
}

/* Reads a path back from its last state. */
static void trace(const nbest *g, size_t q, size_t rank, uint32_t *y)
{
    for (size_t t = g->T; t-- > 0;) {
        const path *p = list_at(g, t, q) + rank;
        y[t] = (uint32_t)(q % g->L);
        q = p->state;
        rank = p->rank;
    }
}

trl_status trl_chain_nbest(const trl_chain *c, const trl_tables *s, trl_arena *arena,
                           const trl_chain_list *list, trl_error *err)
{
    if (s->n == 0 || list->n == 0)
        return trl_fail(err, TRL_EINVAL, "n-best needs a token and n of at least 1");
    const trl_status st = trl_chain_check_scores(s, c->L, err);
    if (st != TRL_OK)
        return st;
    nbest g = {.c = c, .s = s, .T = s->n, .L = c->L, .n = list->n};
    g.Q = c->order == 2 ? c->L * c->L : c->L;
    size_t cells;
    if (__builtin_mul_overflow(g.T * g.Q, list->n, &cells))
        return trl_fail_mem(err);
    g.list = trl_arena_get(arena, cells, sizeof *g.list);
    g.len = trl_arena_get(arena, g.T * g.Q, sizeof *g.len);
    g.heap = trl_arena_get(arena, g.Q, sizeof *g.heap);
    path *last = trl_arena_get(arena, list->n, sizeof *last);
    if (!g.list || !g.len || !g.heap || !last)
        return trl_fail_mem(err);
    fill(&g);
    for (size_t q = 0; q < g.Q; q++)
        push_head(&g, g.T - 1, q, 0.0);
    *list->found = merge(&g, g.T - 1, last);
    if (*list->found == 0)
        return trl_fail(err, TRL_ENUMERIC, "every labelling is forbidden");
    for (size_t k = 0; k < *list->found; k++) {
        list->score[k] = last[k].score;
        trace(&g, last[k].state, last[k].rank, list->y + k * g.T);
    }
    return TRL_OK;
}
