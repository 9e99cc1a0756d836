/* bp_schedule.c -- in which order messages are updated. */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "graph/bp.h"

typedef struct limits {
    double tolerance;
    uint64_t max_updates;
} limits;

/* One message from what is there now.  False: no more. */
static bool update(trl_bp *b, uint32_t e, bool stored, const limits *lim)
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

static bool sweep_flooding(trl_bp *b, const limits *lim)
{
    for (uint32_t v = 0; v < b->g->n_variables; v++)
        trl_bp_send_all(b, v);
    for (uint32_t e = 0; e < b->l->n_edges; e++)
        if (trl_arity(b->g, b->l->edge_factor[e]) >= 2 && !update(b, e, true, lim))
            return false;
    return true;
}

/* What v sends, and what its factors make of it. */
static bool update_around(trl_bp *b, uint32_t v, const limits *lim)
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

static bool sweep_sequential(trl_bp *b, bool backwards, const limits *lim)
{
    const uint32_t n = (uint32_t)b->g->n_variables;
    for (uint32_t i = 0; i < n; i++)
        if (!update_around(b, backwards ? n - 1 - i : i, lim))
            return false;
    return true;
}

static bool sweep_trees(trl_bp *b, const limits *lim)
{
    for (size_t i = 0; i < b->l->n_messages; i++)
        if (!update(b, b->l->forest_edge[i], false, lim))
            return false;
    return true;
}

static bool run_sweeps(trl_bp *b, int schedule, const limits *lim, uint64_t *iterations)
{
    if (schedule == TRL_SCHEDULE_SEQUENTIAL)
        for (uint32_t v = 0; v < b->g->n_variables; v++)
            trl_bp_send_all(b, v);
    for (*iterations = 0;;) {
        b->change = 0.0;
        const bool done = schedule == TRL_SCHEDULE_FLOODING ? sweep_flooding(b, lim)
                          : schedule == TRL_SCHEDULE_TREE
                              ? sweep_trees(b, lim)
                              : sweep_sequential(b, *iterations % 2 == 1, lim);
        if (!done)
            return false;
        ++*iterations;
        if (b->change <= lim->tolerance)
            return true;
    }
}

/* ---- residual -------------------------------------------------------------------------------- */

/* Every message's next value is kept ready; a heap has the one that would change most on top
 * [EMK06].
 *
 * [EMK06] Elidan, McGraw, Koller. Residual belief propagation. UAI 2006. */
typedef struct residual {
    double *ready;  /* rows like b->m */
    double *key;    /* [n_edges] */
    uint32_t *heap; /* [n_messages] */
    uint32_t *at;   /* [n_edges] place in the heap */
    size_t n;
} residual;

static void put(residual *r, size_t at, uint32_t e)
{
    r->heap[at] = e;
    r->at[e] = (uint32_t)at;
}

static void rekey(residual *r, uint32_t e, double key)
{
    size_t at = r->at[e];
    const bool rises = key > r->key[e];
    r->key[e] = key;
    if (rises) {
        for (; at > 0 && r->key[r->heap[(at - 1) / 2]] < key; at = (at - 1) / 2)
            put(r, at, r->heap[(at - 1) / 2]);
    } else {
        for (size_t k; (k = 2 * at + 1) < r->n; at = k) {
            if (k + 1 < r->n && r->key[r->heap[k + 1]] > r->key[r->heap[k]])
                k++;
            if (r->key[r->heap[k]] <= key)
                break;
            put(r, at, r->heap[k]);
        }
    }
    put(r, at, e);
}

static void prepare(trl_bp *b, residual *r, uint32_t e)
{
    rekey(r, e, trl_bp_fresh(b, e, false, r->ready + b->l->message_at[e]));
}

/* After the message of e changed: those that depend on it. */
static void prepare_after(trl_bp *b, residual *r, uint32_t e)
{
    const trl_layout *l = b->l;
    const uint32_t v = b->g->scope[e];
    for (size_t i = l->link_at[v]; i < l->link_at[v + 1]; i++) {
        const uint32_t f = l->link[i], a = l->edge_factor[f];
        if (f == e && !b->rho)
            continue;
        for (size_t o = b->g->scope_at[a]; o < b->g->scope_at[a + 1]; o++)
            if (o != f)
                prepare(b, r, (uint32_t)o);
    }
    if (b->damping > 0.0 || b->rho)
        prepare(b, r, e);
    else
        rekey(r, e, 0.0);
}

static bool run_residual(trl_bp *b, const limits *lim, trl_arena *a, bool *failed)
{
    const trl_layout *l = b->l;
    residual r = {.ready = trl_arena_get(a, l->message_at[l->n_edges], sizeof *r.ready),
                  .key = trl_arena_get(a, l->n_edges, sizeof *r.key),
                  .heap = trl_arena_get(a, l->n_edges, sizeof *r.heap),
                  .at = trl_arena_get(a, l->n_edges, sizeof *r.at)};
    *failed = !r.ready || !r.key || !r.heap || !r.at;
    if (*failed)
        return false;
    for (uint32_t e = 0; e < l->n_edges; e++)
        if (trl_arity(b->g, l->edge_factor[e]) >= 2) {
            r.key[e] = 0.0;
            put(&r, r.n++, e);
        }
    for (uint32_t e = 0; e < l->n_edges && !b->range; e++)
        if (trl_arity(b->g, l->edge_factor[e]) >= 2)
            prepare(b, &r, e);
    for (b->change = 0.0; r.n > 0 && !b->range;) {
        const uint32_t e = r.heap[0];
        b->change = r.key[e];
        if (b->change <= lim->tolerance)
            return true;
        if (b->updates >= lim->max_updates)
            return false;
        trl_bp_accept(b, e, r.ready + l->message_at[e]);
        prepare_after(b, &r, e);
    }
    return r.n == 0 && !b->range;
}

bool trl_bp_run(trl_bp *b, int schedule, double tolerance, uint64_t max_updates, trl_arena *a,
                uint64_t *iterations, bool *failed)
{
    const limits lim = {tolerance, b->updates + max_updates};
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
