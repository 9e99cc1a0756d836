/* eliminate.c -- min-fill and weighted min-fill.
 *
 * Of every variable: its live neighbours, S = the sum of their weights, and
 *
 *     fill(v) = sum of w_a w_b over pairs {a, b} of its neighbours that are not joined.
 *
 * A new edge {a, b} with common neighbours X subtracts w_a w_b from fill(x), x in X, and adds w_b
 * (S(a) - w(X)) to fill(a), likewise to fill(b).  Taking v out, whose neighbours N are all joined
 * by then, takes w_v (S(u) - w_v - (w(N) - w_u)) off fill(u), u in N.
 */
/* SPDX-License-Identifier: MIT */
#include "graph/eliminate.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define DENSE 64           /* degeneracy from which the cost is not estimated by elimination */
#define PATIENCE 200000000 /* visits of neighbours after the budget is exceeded */

typedef struct neighbours {
    uint32_t *p; /* some may be gone */
    size_t n, cap;
} neighbours;

typedef struct state {
    const trl_graph_view *g;
    neighbours *near; /* [n_variables] */
    double *w, *sum, *fill;
    bool *gone, *is_changed;
    uint32_t *stamp, now;
    uint32_t *heap, *heap_at, *changed; /* heap_at: UINT32_MAX = not in it */
    size_t n_heap, n_changed;
    uint64_t looks;
} state;

/* ---- a heap of the live variables by (fill, number) ------------------------------------------ */

static bool before(const state *s, uint32_t a, uint32_t b)
{
    return s->fill[a] < s->fill[b] || (s->fill[a] == s->fill[b] && a < b);
}

static void put(state *s, size_t at, uint32_t v)
{
    s->heap[at] = v;
    s->heap_at[v] = (uint32_t)at;
}

static void sift_up(state *s, size_t at, uint32_t v)
{
    for (; at > 0 && before(s, v, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(s, at, s->heap[(at - 1) / 2]);
    put(s, at, v);
}

static void sift_down(state *s, size_t at, uint32_t v)
{
    for (size_t k; (k = 2 * at + 1) < s->n_heap; at = k) {
        if (k + 1 < s->n_heap && before(s, s->heap[k + 1], s->heap[k]))
            k++;
        if (!before(s, s->heap[k], v))
            break;
        put(s, at, s->heap[k]);
    }
    put(s, at, v);
}

static void settle(state *s, uint32_t v)
{
    sift_up(s, s->heap_at[v], v);
    sift_down(s, s->heap_at[v], v);
}

static uint32_t pop(state *s)
{
    const uint32_t v = s->heap[0], last = s->heap[--s->n_heap];
    s->heap_at[v] = UINT32_MAX;
    if (s->n_heap > 0)
        sift_down(s, 0, last);
    return v;
}

/* ---- the graph of variables ------------------------------------------------------------------ */

static bool add_half(state *s, uint32_t from, uint32_t to)
{
    neighbours *x = &s->near[from];
    uint32_t *p = trl_reserve(x->p, &x->cap, x->n + 1, sizeof *p);
    if (!p)
        return false;
    x->p = p;
    p[x->n++] = to;
    return true;
}

/* Removes eliminated neighbours. */
static const neighbours *live(state *s, uint32_t v)
{
    neighbours *x = &s->near[v];
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (!s->gone[x->p[i]])
            x->p[n++] = x->p[i];
    s->looks += x->n;
    x->n = n;
    return x;
}

static void stamp_neighbours(state *s, uint32_t v)
{
    const neighbours *x = live(s, v);
    s->now++;
    for (size_t i = 0; i < x->n; i++)
        s->stamp[x->p[i]] = s->now;
}

/* Joins all variables of every factor; edges of several factors are kept once. */
static bool join_factors(state *s)
{
    const trl_graph_view *g = s->g;
    for (size_t a = 0; a < g->n_factors; a++)
        for (size_t i = g->scope_at[a]; i < g->scope_at[a + 1]; i++)
            for (size_t j = g->scope_at[a]; j < g->scope_at[a + 1]; j++)
                if (i != j && !s->gone[g->scope[i]] && !s->gone[g->scope[j]] &&
                    !add_half(s, g->scope[i], g->scope[j]))
                    return false;
    for (uint32_t v = 0; v < g->n_variables; v++) {
        neighbours *x = &s->near[v];
        size_t n = 0;
        s->now++;
        for (size_t i = 0; i < x->n; i++)
            if (s->stamp[x->p[i]] != s->now) {
                s->stamp[x->p[i]] = s->now;
                x->p[n++] = x->p[i];
            }
        x->n = n;
    }
    return true;
}

/* The largest number d such that some subgraph has at least d neighbours everywhere: every
 * elimination has a set of d + 1 variables or more.  Found by taking out, again and again, a
 * variable with the fewest neighbours left; `count`, `at` and `order` are scratch.  O(edges). */
static size_t degeneracy(const state *s, size_t *count, size_t *at, uint32_t *order)
{
    const size_t n = s->g->n_variables;
    size_t d = 0, low = 0;
    memset(count, 0,
           (n + 1) * sizeof *count); /* variables by number of neighbours: bucket starts */
    for (size_t v = 0; v < n; v++)
        count[s->near[v].n]++;
    for (size_t k = 0, sum = 0; k <= n; k++) {
        const size_t size = count[k];
        count[k] = sum;
        sum += size;
    }
    for (uint32_t v = 0; v < n; v++) {
        at[v] = count[s->near[v].n]++;
        order[at[v]] = v;
        s->sum[v] = (double)s->near[v].n;
    }
    for (size_t k = n; k > 0; k--)
        count[k] = count[k - 1];
    count[0] = 0;
    for (; low < n; low++) {
        const uint32_t v = order[low];
        const size_t degree = (size_t)s->sum[v];
        d = degree > d ? degree : d;
        for (size_t i = 0; i < s->near[v].n; i++) {
            const uint32_t u = s->near[v].p[i];
            const size_t k = (size_t)s->sum[u];
            if (at[u] <= low || k <= degree)
                continue;
            /* u changes places with the first of its bucket, which then starts one later */
            const size_t first = count[k] > low + 1 ? count[k] : low + 1;
            const uint32_t w = order[first];
            order[at[u]] = w;
            at[w] = at[u];
            order[first] = u;
            at[u] = first;
            count[k] = first + 1;
            s->sum[u] -= 1.0;
        }
    }
    for (size_t v = 0; v < n; v++)
        s->sum[v] = 0.0;
    return d;
}

/* Whether the edge {a, b} is looked at from a: towards more neighbours, equals by number. */
static bool looks_up(const state *s, uint32_t a, uint32_t b)
{
    return s->near[a].n < s->near[b].n || (s->near[a].n == s->near[b].n && a < b);
}

/* fill = all pairs of neighbours, less the joined ones: every triangle is found once. */
static void first_fill(state *s)
{
    for (uint32_t v = 0; v < s->g->n_variables; v++) {
        double squares = 0.0;
        for (size_t i = 0; i < s->near[v].n; i++) {
            const double w = s->w[s->near[v].p[i]];
            s->sum[v] += w;
            squares += w * w;
        }
        s->fill[v] += 0.5 * (s->sum[v] * s->sum[v] - squares);
    }
    for (uint32_t a = 0; a < s->g->n_variables; a++) {
        s->now++;
        for (size_t i = 0; i < s->near[a].n; i++)
            if (looks_up(s, a, s->near[a].p[i]))
                s->stamp[s->near[a].p[i]] = s->now;
        for (size_t i = 0; i < s->near[a].n; i++) {
            const uint32_t b = s->near[a].p[i];
            for (size_t j = 0; looks_up(s, a, b) && j < s->near[b].n; j++) {
                const uint32_t c = s->near[b].p[j];
                if (s->stamp[c] != s->now || !looks_up(s, b, c))
                    continue;
                s->fill[a] -= s->w[b] * s->w[c];
                s->fill[b] -= s->w[a] * s->w[c];
                s->fill[c] -= s->w[a] * s->w[b];
            }
        }
    }
}

static void note_change(state *s, uint32_t v)
{
    if (!s->is_changed[v]) {
        s->is_changed[v] = true;
        s->changed[s->n_changed++] = v;
    }
}

/* a's neighbours are stamped. */
static bool join(state *s, uint32_t a, uint32_t b)
{
    const neighbours *x = live(s, b);
    double common = 0.0;
    for (size_t i = 0; i < x->n; i++) {
        const uint32_t c = x->p[i];
        if (s->stamp[c] != s->now)
            continue;
        common += s->w[c];
        s->fill[c] -= s->w[a] * s->w[b];
        note_change(s, c);
    }
    s->fill[a] += s->w[b] * (s->sum[a] - common);
    s->fill[b] += s->w[a] * (s->sum[b] - common);
    s->sum[a] += s->w[b];
    s->sum[b] += s->w[a];
    s->stamp[b] = s->now;
    return add_half(s, a, b) && add_half(s, b, a);
}

/* N = near[0 .. n): joins them and removes v. */
static bool take_out(state *s, uint32_t v, const uint32_t *near, size_t n)
{
    double all = 0.0;
    for (size_t i = 0; i < n; i++)
        all += s->w[near[i]];
    if (s->fill[v] != 0.0)
        for (size_t i = 0; i + 1 < n; i++) {
            stamp_neighbours(s, near[i]);
            for (size_t j = i + 1; j < n; j++)
                if (s->stamp[near[j]] != s->now && !join(s, near[i], near[j]))
                    return false;
        }
    s->gone[v] = true;
    for (size_t i = 0; i < n; i++) {
        const uint32_t u = near[i];
        s->fill[u] -= s->w[v] * (s->sum[u] - s->w[v] - (all - s->w[u]));
        s->sum[u] -= s->w[v];
        note_change(s, u);
    }
    for (size_t i = 0; i < s->n_changed; i++) {
        s->is_changed[s->changed[i]] = false;
        if (s->heap_at[s->changed[i]] != UINT32_MAX)
            settle(s, s->changed[i]);
    }
    s->n_changed = 0;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static bool state_init(state *s, const trl_graph_view *g, const bool *fixed, bool weighted)
{
    const size_t n = g->n_variables;
    *s = (state){.g = g,
                 .near = trl_zalloc(n, sizeof *s->near),
                 .w = trl_alloc(n, sizeof *s->w),
                 .sum = trl_zalloc(n, sizeof *s->sum),
                 .fill = trl_zalloc(n, sizeof *s->fill),
                 .gone = trl_zalloc(n, sizeof *s->gone),
                 .is_changed = trl_zalloc(n, sizeof *s->is_changed),
                 .stamp = trl_zalloc(n, sizeof *s->stamp),
                 .heap = trl_alloc(n, sizeof *s->heap),
                 .heap_at = trl_alloc(n, sizeof *s->heap_at),
                 .changed = trl_alloc(n, sizeof *s->changed)};
    if (!s->near || !s->w || !s->sum || !s->fill || !s->gone || !s->is_changed || !s->stamp ||
        !s->heap || !s->heap_at || !s->changed)
        return false;
    for (uint32_t v = 0; v < n; v++) {
        s->gone[v] = fixed[v];
        s->w[v] = weighted ? g->labels[v] : 1.0;
        s->heap_at[v] = UINT32_MAX;
    }
    return join_factors(s);
}

static void start(state *s)
{
    first_fill(s);
    for (uint32_t v = 0; v < s->g->n_variables; v++)
        if (!s->gone[v])
            sift_up(s, s->n_heap++, v);
}

static void state_fini(state *s)
{
    for (size_t v = 0; s->near && v < s->g->n_variables; v++)
        trl_free(s->near[v].p);
    trl_free(s->near);
    trl_free(s->w);
    trl_free(s->sum);
    trl_free(s->fill);
    trl_free(s->gone);
    trl_free(s->is_changed);
    trl_free(s->stamp);
    trl_free(s->heap);
    trl_free(s->heap_at);
    trl_free(s->changed);
}

/* Eliminates the first of the heap.  While over the budget, neighbours are not kept. */
static bool step(state *s, trl_elimination *e, double max_cells)
{
    const uint32_t v = pop(s);
    const neighbours *x = live(s, v);
    double cells = s->g->labels[v];
    for (size_t i = 0; i < x->n; i++)
        cells *= s->g->labels[x->p[i]];
    e->cells += cells;
    e->largest = cells > e->largest ? cells : e->largest;
    e->width = x->n > e->width ? x->n : e->width;
    e->place[v] = (uint32_t)e->n;
    e->order[e->n] = v;
    size_t at = e->near_at[e->n];
    if (e->cells > max_cells)
        at = 0;
    uint32_t *p = trl_reserve(e->near, &e->cap_near, at + x->n, sizeof *p);
    if (!p)
        return false;
    e->near = p;
    if (x->n)
        memcpy(p + at, x->p, x->n * sizeof *p);
    e->near_at[++e->n] = at + x->n;
    return take_out(s, v, p + at, x->n);
}

trl_status trl_eliminate(const trl_graph_view *g, const bool *fixed, bool weighted,
                         double max_cells, trl_elimination *out, trl_error *err)
{
    state s = {0};
    const size_t n = g->n_variables;
    trl_elimination e = {.order = trl_alloc(n, sizeof *e.order),
                         .place = trl_alloc(n, sizeof *e.place),
                         .near_at = trl_zalloc(n + 1, sizeof *e.near_at)};
    bool ok = e.order && e.place && e.near_at && state_init(&s, g, fixed, weighted);
    size_t *scratch = trl_alloc(2 * n + 1, sizeof *scratch);
    ok = ok && scratch;
    if (ok) {
        e.width = degeneracy(&s, scratch, scratch + n + 1, e.order);
        e.largest = e.cells = ldexp(1.0, (int)(e.width < 1000 ? e.width + 1 : 1000));
    }
    trl_free(scratch);
    const bool hopeless = ok && e.cells > max_cells && e.width > DENSE;
    if (!hopeless) {
        e.width = 0;
        e.largest = e.cells = 0.0;
        if (ok)
            start(&s);
    }
    for (size_t v = 0; ok && v < n; v++)
        e.place[v] = UINT32_MAX;
    s.looks = 0;
    while (ok && !hopeless && s.n_heap > 0 && (e.cells <= max_cells || s.looks < PATIENCE)) {
        if (e.cells <= max_cells)
            s.looks = 0;
        ok = step(&s, &e, max_cells);
    }
    e.complete = !hopeless && s.n_heap == 0;
    if (s.g)
        state_fini(&s);
    if (!ok) {
        trl_elimination_fini(&e);
        return trl_fail_mem(err);
    }
    *out = e;
    return TRL_OK;
}

void trl_elimination_fini(trl_elimination *e)
{
    trl_free(e->order);
    trl_free(e->place);
    trl_free(e->near_at);
    trl_free(e->near);
    *e = (trl_elimination){0};
}
