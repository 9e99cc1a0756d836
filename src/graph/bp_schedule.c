/* bp_schedule.c -- the order in which messages are updated. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "graph/bp.h"
#include "graph/bp_kernel.h"

/* Updates one message.  False: stop. */
static bool update(trl_bp *b, uint32_t e, bool stored, const trl_bp_limits *lim)
{
    if (b->updates >= lim->max_updates)
        return false;
    const double change = trl_bp_fresh(b, e, stored, b->row[1]);
    if (b->range)
        return false;
    b->change = change > b->change ? change : b->change;
    trl_bp_accept(b, e, b->row[1]);
    return true;
}

/* How many factors from `a` on the kernel for pairs can take. */
static size_t pairs_from(const trl_bp *b, size_t a)
{
    size_t n = 0;
    if (b->log || b->rho || b->damping > 0.0 || b->l->max_width > TRL_BP_FRESH)
        return 0;
    while (a + n < b->g->n_factors && trl_arity(b->g, a + n) == 2)
        n++;
    return n;
}

static trl_bp_sweep sweep_of(const trl_bp *b)
{
    return (trl_bp_sweep){.maximise = b->maximise,
                          .small = TRL_BP_SMALL,
                          .scope_at = b->g->scope_at,
                          .at = b->l->message_at,
                          .scope = b->g->scope,
                          .labels = b->g->labels,
                          .matrix = b->matrix,
                          .n = b->n,
                          .m = b->m};
}

static bool flood_pairs(trl_bp *b, size_t from, size_t to)
{
    trl_bp_sweep s = sweep_of(b);
    s.from = from;
    s.to = to;
    b->updates += 2 * (to - from);
    b->range = !trl_bp_flood_pairs(&s, &b->change);
    return !b->range;
}

/* All rows of all variables. */
static void send_everything(trl_bp *b)
{
    const size_t n = b->g->n_variables;
    if (!b->log && !b->rho)
        trl_bp_products_all(b->l, n, b->node, b->mr, b->n);
    for (uint32_t v = 0; (b->log || b->rho) && v < n; v++)
        trl_bp_send_all(b, v);
}

static bool sweep_flooding(trl_bp *b, const trl_bp_limits *lim)
{
    send_everything(b);
    for (size_t a = 0; a < b->g->n_factors;) {
        const size_t pairs = pairs_from(b, a);
        if (pairs > 0 && b->updates + 2 * pairs <= lim->max_updates) {
            if (!flood_pairs(b, a, a + pairs))
                return false;
            a += pairs;
            continue;
        }
        for (size_t e = b->g->scope_at[a]; e < b->g->scope_at[a + 1]; e++)
            if (trl_arity(b->g, a) >= 2 && !update(b, (uint32_t)e, true, lim))
                return false;
        a++;
    }
    return true;
}

/* The rows that v sends, and the messages that follow from them. */
static bool update_around(trl_bp *b, uint32_t v, const trl_bp_limits *lim)
{
    const trl_layout *l = b->l;
    trl_bp_send_all(b, v);
    for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
        const uint32_t a = l->edge_factor[l->link[i]];
        for (size_t f = b->g->scope_at[a]; f < b->g->scope_at[a + 1]; f++)
            if (f != l->link[i] && !update(b, (uint32_t)f, true, lim))
                return false;
    }
    return true;
}

static bool sweep_sequential(trl_bp *b, bool backwards, const trl_bp_limits *lim)
{
    const uint32_t n = (uint32_t)b->g->n_variables;
    for (uint32_t i = 0; i < n; i++)
        if (!update_around(b, backwards ? n - 1 - i : i, lim))
            return false;
    return true;
}

static bool sweep_trees(trl_bp *b, const trl_bp_limits *lim)
{
    for (size_t i = 0; i < b->l->n_messages; i++)
        if (!update(b, b->l->forest_edge[i], false, lim))
            return false;
    return true;
}

static bool run_sweeps(trl_bp *b, int schedule, const trl_bp_limits *lim, uint64_t *iterations)
{
    if (schedule == TRL_SCHEDULE_SEQUENTIAL)
        send_everything(b);
    for (*iterations = 0;;) {
        const double before = b->change; /* a sweep that is cut short says too little */
        b->change = 0.0;
        const bool done = schedule == TRL_SCHEDULE_FLOODING ? sweep_flooding(b, lim)
                          : schedule == TRL_SCHEDULE_TREE
                              ? sweep_trees(b, lim)
                              : sweep_sequential(b, *iterations % 2 == 1, lim);
        if (!done) {
            b->change = before > b->change ? before : b->change;
            return false;
        }
        ++*iterations;
        if (b->change <= lim->tolerance)
            return true;
    }
}

/* ---- residual -------------------------------------------------------------------------------- */

/* Every message's next value is precomputed; the top of a heap is the one that would change most
 * [EMK06].
 *
 * [EMK06] Elidan, McGraw, Koller. Residual belief propagation. UAI 2006. */
typedef struct heap_entry {
    double key; /* how much the message would change */
    uint32_t edge;
} heap_entry;

typedef struct residual {
    double *ready;    /* rows like b->m */
    heap_entry *heap; /* [n_messages] four children each: 4 i + 1 ... 4 i + 4 */
    uint32_t *at;     /* [n_edges] place in the heap */
    size_t n;
    double *change; /* [most links of a variable] */
    trl_bp_sweep sweep;
} residual;

static void put(residual *r, size_t at, heap_entry x)
{
    r->heap[at] = x;
    r->at[x.edge] = (uint32_t)at;
}

/* The first of the largest.  Of four children by halves, without branches: which one it is cannot
 * be foretold. */
static size_t largest_child(const residual *r, size_t at)
{
    size_t best = 4 * at + 1;
    const heap_entry *c = r->heap + best;
    if (best + 4 <= r->n) {
        const size_t x = c[1].key > c[0].key, y = 2 + (c[3].key > c[2].key);
        return best + (c[y].key > c[x].key ? y : x);
    }
    for (size_t k = best + 1; k < r->n; k++)
        if (r->heap[k].key > r->heap[best].key)
            best = k;
    return best;
}

static void sift_down(residual *r, size_t at, heap_entry x)
{
    while (4 * at + 1 < r->n) {
        const size_t k = largest_child(r, at);
        if (r->heap[k].key <= x.key)
            break;
        put(r, at, r->heap[k]);
        at = k;
    }
    put(r, at, x);
}

static void rekey(residual *r, uint32_t e, double key)
{
    size_t at = r->at[e];
    const heap_entry x = {key, e};
    if (key <= r->heap[at].key) {
        sift_down(r, at, x);
        return;
    }
    for (; at > 0 && r->heap[(at - 1) / 4].key < key; at = (at - 1) / 4)
        put(r, at, r->heap[(at - 1) / 4]);
    put(r, at, x);
}

static void prepare(trl_bp *b, residual *r, uint32_t e, bool stored)
{
    rekey(r, e, trl_bp_fresh(b, e, stored, r->ready + b->l->message_at[e]));
}

/* The messages of factor a that depend on what its edge f carries to it. */
static void prepare_others(trl_bp *b, residual *r, uint32_t a, uint32_t f, bool stored)
{
    for (size_t o = b->g->scope_at[a]; o < b->g->scope_at[a + 1]; o++)
        if (o != f)
            prepare(b, r, (uint32_t)o, stored);
}

/* After the message of e changed: those that depend on it.  What its variable sends is computed for
 * all of its factors at once; a larger factor needs what its other variables send, too. */
static void prepare_any(trl_bp *b, residual *r, uint32_t e)
{
    const trl_layout *l = b->l;
    const uint32_t v = b->g->scope[e];
    trl_bp_send_all(b, v);
    for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
        const uint32_t f = l->link[i], a = l->edge_factor[f];
        if (f != e || b->rho)
            prepare_others(b, r, a, f, trl_arity(b->g, a) == 2);
    }
}

/* The same, plain and linear: pairs by one kernel. */
static void prepare_pairs(trl_bp *b, residual *r, uint32_t e)
{
    const trl_layout *l = b->l;
    const uint32_t v = b->g->scope[e];
    const trl_bp_rows rows = trl_bp_rows_of(b, v);
    if (!trl_bp_refresh(&r->sweep, &rows, e, r->change))
        b->range = true;
    for (size_t k = 0; k < rows.n && !b->range; k++) {
        const uint32_t f = rows.link[k];
        if (r->change[k] >= 0.0)
            rekey(r, rows.partner[k], r->change[k]);
        else if (f != e)
            prepare_others(b, r, l->edge_factor[f], f, false);
    }
}

static void prepare_after(trl_bp *b, residual *r, uint32_t e)
{
    if (b->log || b->rho)
        prepare_any(b, r, e);
    else
        prepare_pairs(b, r, e);
    if (b->damping > 0.0 || b->rho)
        prepare(b, r, e, false);
    else
        rekey(r, e, 0.0);
}

/* All messages, and the heap of them. */
static void prepare_all(trl_bp *b, residual *r)
{
    const trl_layout *l = b->l;
    const bool by_rows = !b->log && !b->rho;
    for (uint32_t v = 0; by_rows && v < b->g->n_variables && !b->range; v++) {
        const trl_bp_rows rows = trl_bp_rows_of(b, v);
        b->range = !trl_bp_refresh(&r->sweep, &rows, UINT32_MAX, r->change);
        for (size_t k = 0; k < rows.n; k++)
            if (r->change[k] >= 0.0)
                r->heap[r->at[rows.partner[k]]].key = r->change[k];
    }
    for (size_t i = 0; i < r->n && !b->range; i++) {
        const uint32_t e = r->heap[i].edge;
        if (!by_rows || trl_arity(b->g, l->edge_factor[e]) != 2)
            r->heap[i].key = trl_bp_fresh(b, e, false, r->ready + l->message_at[e]);
    }
    for (size_t i = r->n; i-- > 0;)
        sift_down(r, i, r->heap[i]);
}

static size_t most_links(const trl_bp *b)
{
    size_t most = 1;
    for (size_t v = 0; v < b->g->n_variables; v++) {
        const size_t n = b->l->link_at[v + 1] - b->l->link_at[v];
        most = n > most ? n : most;
    }
    return most;
}

static bool run_residual(trl_bp *b, const trl_bp_limits *lim, trl_arena *a, bool *failed)
{
    const trl_layout *l = b->l;
    residual r = {.ready = trl_arena_get(a, l->message_at[l->n_edges], sizeof *r.ready),
                  .heap = trl_arena_get(a, l->n_edges + 3, sizeof *r.heap),
                  .at = trl_arena_get(a, l->n_edges, sizeof *r.at)};
    r.change = trl_arena_get(a, most_links(b), sizeof *r.change);
    *failed = !r.ready || !r.heap || !r.at || !r.change;
    if (*failed)
        return false;
    r.heap += 3; /* so that four children are one line of the cache */
    r.sweep = sweep_of(b);
    r.sweep.ready = r.ready;
    for (uint32_t e = 0; e < l->n_edges; e++)
        if (trl_arity(b->g, l->edge_factor[e]) >= 2)
            put(&r, r.n++, (heap_entry){0.0, e});
    prepare_all(b, &r);
    for (b->change = 0.0; r.n > 0 && !b->range;) {
        const uint32_t e = r.heap[0].edge;
        b->change = r.heap[0].key;
        if (b->change <= lim->tolerance)
            return true;
        if (b->updates >= lim->max_updates)
            return false;
        trl_bp_accept(b, e, r.ready + l->message_at[e]);
        prepare_after(b, &r, e);
    }
    return r.n == 0 && !b->range;
}

bool trl_bp_run(trl_bp *b, int schedule, const trl_bp_limits *limits, trl_arena *a,
                uint64_t *iterations, bool *failed)
{
    const trl_bp_limits lim = {limits->tolerance, b->updates + limits->max_updates};
    const uint64_t before = b->updates;
    *failed = false;
    *iterations = 0;
    if (b->range)
        return false;
    if (schedule != TRL_SCHEDULE_RESIDUAL)
        return run_sweeps(b, schedule, &lim, iterations);
    const bool converged = run_residual(b, &lim, a, failed);
    *iterations = b->l->n_messages ? (b->updates - before) / b->l->n_messages : 0;
    return converged;
}
