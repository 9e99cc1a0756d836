/* label_lattice_best.c -- the best paths of a lattice.
 *
 * The n best: every node keeps its n best prefixes, merged from those of the nodes before it by a
 * heap of their heads, as in nbest.c.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/label_lattice.h"

trl_status trl_lattice_viterbi(const trl_lattice *g, trl_arena *arena, uint32_t *y, double *score,
                               trl_error *err)
{
    double *D = trl_arena_get(arena, g->n, sizeof *D);
    uint32_t *back = trl_arena_get(arena, g->n, sizeof *back);
    if (!D || !back)
        return trl_fail_mem(err);
    for (size_t x = 0; x < g->n; x++) {
        double best = x < g->first[1] ? g->enter[x] : -HUGE_VAL;
        uint32_t from = 0;
        for (size_t k = g->arc[x]; k < g->arc[x + 1]; k++)
            if (D[g->from[k]] + g->score[k] > best) {
                best = D[g->from[k]] + g->score[k];
                from = g->from[k];
            }
        D[x] = best;
        back[x] = from;
    }
    size_t last = g->first[g->T - 1];
    for (size_t x = last; x < g->n; x++)
        last = D[x] > D[last] ? x : last;
    *score = D[last];
    for (size_t t = g->T; t-- > 0; last = back[last])
        y[t] = g->label[last];
    return isfinite(*score) ? TRL_OK
                            : trl_fail(err, TRL_ENUMERIC, "the scores are too large for a sum");
}

/* ---- the n best ------------------------------------------------------------------------------ */

typedef struct path { /* a prefix that ends in some node */
    double score;
    uint32_t from, rank; /* its own prefix */
} path;

typedef struct head { /* the next prefix of one node before, with the arc */
    double score, step;
    uint32_t from, rank;
} head;

typedef struct lists {
    const trl_lattice *g;
    trl_arena *arena;
    path **list; /* [n] */
    size_t *len; /* [n] */
    head *heap;
    size_t heap_len;
} lists;

static bool worse(const head *a, const head *b)
{
    return a->score < b->score || (a->score == b->score && a->from > b->from);
}

static void sift_down(lists *s, size_t k)
{
    for (;;) {
        size_t best = k;
        for (size_t child = 2 * k + 1; child <= 2 * k + 2 && child < s->heap_len; child++)
            if (worse(&s->heap[best], &s->heap[child]))
                best = child;
        if (best == k)
            return;
        const head t = s->heap[k];
        s->heap[k] = s->heap[best];
        s->heap[best] = t;
        k = best;
    }
}

static void push(lists *s, uint32_t from, double step)
{
    s->heap[s->heap_len++] =
        (head){.score = s->list[from][0].score + step, .step = step, .from = from};
}

/* At most n prefixes from the heap, best first; NULL: no memory. */
static path *merge(lists *s, size_t n, size_t *len)
{
    size_t all = 0;
    for (size_t k = 0; k < s->heap_len && all < n; k++)
        all += s->len[s->heap[k].from];
    all = all < n ? all : n;
    path *out = trl_arena_get(s->arena, all, sizeof *out);
    for (size_t k = s->heap_len / 2; k-- > 0;)
        sift_down(s, k);
    for (*len = 0; out && *len < all; ++*len) {
        head *top = &s->heap[0];
        out[*len] = (path){top->score, top->from, top->rank};
        if (++top->rank < s->len[top->from])
            top->score = s->list[top->from][top->rank].score + top->step;
        else
            *top = s->heap[--s->heap_len];
        sift_down(s, 0);
    }
    s->heap_len = 0;
    return out;
}

static trl_status fill(lists *s, size_t n, trl_error *err)
{
    const trl_lattice *g = s->g;
    for (size_t x = 0; x < g->n; x++) {
        if (x < g->first[1]) {
            s->list[x] = trl_arena_get(s->arena, 1, sizeof(path));
            s->len[x] = 1;
            if (s->list[x])
                s->list[x][0] = (path){.score = g->enter[x]};
        } else {
            for (size_t k = g->arc[x]; k < g->arc[x + 1]; k++)
                push(s, g->from[k], g->score[k]);
            s->list[x] = merge(s, n, &s->len[x]);
        }
        if (!s->list[x])
            return trl_fail_mem(err);
    }
    return TRL_OK;
}

static void trace(const lists *s, path p, uint32_t *y)
{
    uint32_t x = p.from, rank = p.rank;
    for (size_t t = s->g->T; t-- > 0;) {
        const path *at = &s->list[x][rank];
        y[t] = s->g->label[x];
        x = at->from;
        rank = at->rank;
    }
}

trl_status trl_lattice_nbest(const trl_lattice *g, trl_arena *arena, const trl_chain_list *list,
                             trl_error *err)
{
    size_t widest = g->n - g->first[g->T - 1];
    for (size_t x = 0; x < g->n; x++)
        widest = g->arc[x + 1] - g->arc[x] > widest ? g->arc[x + 1] - g->arc[x] : widest;
    lists s = {.g = g, .arena = arena};
    s.list = trl_arena_get(arena, g->n, sizeof *s.list);
    s.len = trl_arena_get(arena, g->n, sizeof *s.len);
    s.heap = trl_arena_get(arena, widest, sizeof *s.heap);
    if (!s.list || !s.len || !s.heap)
        return trl_fail_mem(err);
    const trl_status st = fill(&s, list->n, err);
    if (st != TRL_OK)
        return st;
    for (size_t x = g->first[g->T - 1]; x < g->n; x++)
        push(&s, (uint32_t)x, 0.0);
    const path *best = merge(&s, list->n, list->found);
    for (size_t k = 0; best && k < *list->found; k++) {
        list->score[k] = best[k].score;
        trace(&s, best[k], list->y + k * g->T);
    }
    return best ? TRL_OK : trl_fail_mem(err);
}
