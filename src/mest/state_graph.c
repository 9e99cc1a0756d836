/* state_graph.c -- reachable states, their arcs, path sums over all sequences. */
/* SPDX-License-Identifier: MIT */
#include "mest/state_graph.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/solve.h"

/* ---- building -------------------------------------------------------------------------------- */

typedef struct search {
    const trl_hmm *h;
    uint32_t *number; /* [contexts] of a state, or TRL_NO_ID */
    uint32_t *list;   /* [contexts] contexts in order of discovery */
    size_t n, n_arcs;
} search;

static void reach(search *r, size_t context)
{
    if (r->number[context] != TRL_NO_ID)
        return;
    r->number[context] = (uint32_t)r->n;
    r->list[r->n++] = (uint32_t)context;
}

static size_t follower(const trl_hmm *h, size_t context, size_t y)
{
    return h->order == 2 ? context % h->L * h->L + y : y;
}

/* Breadth first from START. */
static bool explore(search *r)
{
    const trl_hmm *h = r->h;
    const size_t contexts = trl_hmm_contexts(h->L, h->order);
    r->number = trl_alloc(contexts, sizeof *r->number);
    r->list = trl_alloc(contexts, sizeof *r->list);
    if (!r->number || !r->list)
        return false;
    for (size_t c = 0; c < contexts; c++)
        r->number[c] = TRL_NO_ID;
    for (size_t y = 0; y < h->L; y++)
        if (h->start[y] > 0.0)
            reach(r, (h->order == 2 ? h->L * h->L : 0) + y);
    for (size_t k = 0; k < r->n; k++)
        for (size_t y = 0; y < h->L; y++)
            if (h->next[r->list[k] * (h->L + 1) + y] > 0.0) {
                r->n_arcs++;
                reach(r, follower(h, r->list[k], y));
            }
    return true;
}

static bool make_room(trl_state_graph *g, size_t n, size_t n_arcs)
{
    g->n = n;
    g->label = trl_alloc(n, sizeof *g->label);
    g->before = trl_alloc(n, sizeof *g->before);
    g->start = trl_zalloc(n, sizeof *g->start);
    g->stop = trl_alloc(n, sizeof *g->stop);
    g->begin = trl_alloc(n + 1, sizeof *g->begin);
    g->to = trl_alloc(n_arcs, sizeof *g->to);
    g->p = trl_alloc(n_arcs, sizeof *g->p);
    g->visits = trl_alloc(n, sizeof *g->visits);
    g->ends = trl_alloc(n, sizeof *g->ends);
    return g->label && g->before && g->start && g->stop && g->begin && g->to && g->p && g->visits &&
           g->ends;
}

static void fill(trl_state_graph *g, const search *r)
{
    const trl_hmm *h = r->h;
    size_t arc = 0;
    for (size_t k = 0; k < r->n; k++) {
        const size_t c = r->list[k];
        const double *next = h->next + c * (h->L + 1);
        g->label[k] = (uint32_t)(c % h->L);
        g->before[k] = (uint32_t)(h->order == 2 ? c / h->L : h->L);
        if (g->before[k] == h->L)
            g->start[k] = h->start[g->label[k]];
        g->stop[k] = next[h->L];
        g->begin[k] = arc;
        for (size_t y = 0; y < h->L; y++)
            if (next[y] > 0.0) {
                g->to[arc] = r->number[follower(h, c, y)];
                g->p[arc++] = next[y];
            }
    }
    g->begin[r->n] = arc;
}

/* ---- path sums ------------------------------------------------------------------------------- */

static trl_status solve(trl_state_graph *g, trl_error *err)
{
    const size_t n = g->n;
    double *A = trl_zalloc(n, n * sizeof *A);
    size_t *pivot = trl_alloc(n, sizeof *pivot);
    trl_status st = A && pivot ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        for (size_t s = 0; s < n; s++) {
            A[s * n + s] += 1.0;
            for (size_t a = g->begin[s]; a < g->begin[s + 1]; a++)
                A[s * n + g->to[a]] -= g->p[a];
        }
        if (trl_lu_factor(n, A, pivot)) {
            memcpy(g->visits, g->start, n * sizeof *g->visits);
            memcpy(g->ends, g->stop, n * sizeof *g->ends);
            trl_lu_solve_transposed(n, A, pivot, g->visits);
            trl_lu_solve(n, A, pivot, g->ends);
        } else {
            st = trl_fail(err, TRL_ENUMERIC, "the HMM's sequences need not end");
        }
    }
    trl_free(A);
    trl_free(pivot);
    return st;
}

trl_status trl_state_graph_init(trl_state_graph *g, const trl_hmm *h, trl_error *err)
{
    search r = {.h = h};
    *g = (trl_state_graph){.L = h->L, .order = h->order};
    trl_status st = TRL_OK;
    if (!explore(&r)) {
        st = trl_fail_mem(err);
    } else if (r.n > TRL_STATES_MAX) {
        st = trl_fail(err, TRL_EINVAL,
                      "%zu pairs of labels are too many states for exact "
                      "expectations (at most %d)",
                      r.n, TRL_STATES_MAX);
        trl_fail_hint(err, st, "use a first-order HMM");
    } else if (!make_room(g, r.n, r.n_arcs)) {
        st = trl_fail_mem(err);
    } else {
        fill(g, &r);
        st = solve(g, err);
    }
    trl_free(r.number);
    trl_free(r.list);
    if (st != TRL_OK)
        trl_state_graph_fini(g);
    return st;
}

void trl_state_graph_fini(trl_state_graph *g)
{
    void *const blocks[] = {g->label, g->before, g->start,  g->stop, g->begin,
                            g->to,    g->p,      g->visits, g->ends};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        trl_free(blocks[i]);
    *g = (trl_state_graph){0};
}

/* ---- steps ----------------------------------------------------------------------------------- */

void trl_state_graph_forward(const trl_state_graph *g, const double *in, double *out)
{
    memset(out, 0, g->n * sizeof *out);
    for (size_t s = 0; s < g->n; s++)
        if (in[s] != 0.0)
            for (size_t a = g->begin[s]; a < g->begin[s + 1]; a++)
                out[g->to[a]] += in[s] * g->p[a];
}

void trl_state_graph_backward(const trl_state_graph *g, const double *in, double *out)
{
    for (size_t s = 0; s < g->n; s++) {
        double sum = 0.0;
        for (size_t a = g->begin[s]; a < g->begin[s + 1]; a++)
            sum += g->p[a] * in[g->to[a]];
        out[s] = sum;
    }
}

/* ---- label cliques --------------------------------------------------------------------------- */

/* Where a sum over paths has come to: positions left, state, place in the table, probability. */
typedef struct graph_step {
    size_t left;
    size_t s;
    size_t at;
    double m;
} graph_step;

/* Follows `left` more arcs from state s, whose labels so far spell `at`, with mass m. */
static void follow(const trl_state_graph *g, const graph_step *x, const double *B,
                   const double *const e[2], double *table)
{
    if (x->left == 0) {
        table[x->at] += x->m * B[x->s];
        return;
    }
    for (size_t a = g->begin[x->s]; a < g->begin[x->s + 1]; a++) {
        const size_t to = g->to[a];
        const double *emit = e[x->left - 1];
        const double next = x->m * g->p[a] * (emit ? emit[g->label[to]] : 1.0);
        if (next != 0.0)
            follow(g,
                   &(graph_step){
                       .left = x->left - 1, .s = to, .at = x->at * g->L + g->label[to], .m = next},
                   B, e, table);
    }
}

void trl_clique_add(const trl_state_graph *g, size_t f, const double *A, const double *B,
                    const double *const e[2], double *table)
{
    const size_t k = trl_clique_arcs(g, f);
    const bool pairs = g->order == 2 && f >= 1; /* the label before belongs to the clique */
    for (size_t s = 0; s < g->n; s++) {
        if (A[s] == 0.0 || (pairs && g->before[s] == g->L))
            continue;
        const size_t at = (pairs ? g->before[s] * g->L : 0) + g->label[s];
        follow(g, &(graph_step){.left = k, .s = s, .at = at, .m = A[s]}, B, e, table);
    }
}
