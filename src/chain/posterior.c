/* posterior.c -- spans and entropies of a distribution over labellings. */
/* SPDX-License-Identifier: MIT */
#include "chain/posterior.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "num/simd.h"

/* ---- the distribution of a chain ------------------------------------------------------------- */

/* The arrays of a distribution. */
typedef struct parts {
    uint32_t *start;
    size_t *states;
    const double **joint;
    const uint32_t **next, **label;
} parts;

static bool parts_get(parts *x, trl_arena *arena, size_t T, size_t L)
{
    x->start = trl_arena_get(arena, L, sizeof *x->start);
    x->states = trl_arena_get(arena, T, sizeof *x->states);
    x->joint = trl_arena_get(arena, T, sizeof *x->joint);
    x->next = trl_arena_get(arena, T, sizeof *x->next);
    x->label = trl_arena_get(arena, T, sizeof *x->label);
    return x->start && x->states && x->joint && x->next && x->label;
}

static trl_posterior posterior_of(const parts *x, size_t T, size_t L, size_t Q)
{
    return (trl_posterior){.T = T,
                           .L = L,
                           .Q = Q,
                           .start = x->start,
                           .states = x->states,
                           .joint = x->joint,
                           .next = x->next,
                           .label = x->label};
}

/* Order 1: states are labels.  Order 2: state (i, j) is i L + j, and (0, j) stands for j alone at
 * the first position. */
trl_status trl_posterior_of_chain(const trl_chain *c, const trl_chain_marginals *m, size_t T,
                                  trl_arena *arena, trl_posterior *out, trl_error *err)
{
    const size_t L = c->L, Q = c->order == 2 ? L * L : L;
    parts x;
    uint32_t *next = trl_arena_get(arena, Q, L * sizeof *next);
    uint32_t *label = trl_arena_get(arena, Q, sizeof *label);
    if (!parts_get(&x, arena, T, L) || !next || !label)
        return trl_fail_mem(err);
    for (size_t j = 0; j < L; j++)
        x.start[j] = (uint32_t)j;
    for (size_t q = 0; q < Q; q++) {
        label[q] = (uint32_t)(q % L);
        for (size_t j = 0; j < L; j++)
            next[q * L + j] = (uint32_t)(c->order == 2 ? q % L * L + j : j);
    }
    for (size_t t = 0; t < T; t++) {
        x.states[t] = t ? Q : L;
        x.label[t] = label;
        x.next[t] = next;
        x.joint[t] = c->order == 2 && t > 1 ? m->tri + t * trl_padded(L * L * L)
                                            : m->edge + t * trl_padded(L * L);
    }
    *out = posterior_of(&x, T, L, Q);
    out->first = m->node;
    return TRL_OK;
}

/* ---- of a lattice: states are its nodes, counted from the first of their layer --------------- */

/* The arcs into layer t. */
static bool set_arcs(const trl_lattice *g, const trl_lattice_sums *sums, size_t t, trl_arena *arena,
                     parts *x)
{
    const size_t L = sums->L, n = x->states[t - 1], before = g->first[t - 1];
    double *joint = trl_arena_get(arena, n * L, sizeof *joint);
    uint32_t *next = trl_arena_get(arena, n * L, sizeof *next);
    if (!joint || !next)
        return false;
    memset(joint, 0, n * L * sizeof *joint);
    memset(next, 0, n * L * sizeof *next);
    for (size_t to = g->first[t]; to < g->first[t + 1]; to++)
        for (size_t k = g->arc[to]; k < g->arc[to + 1]; k++) {
            const size_t cell = (g->from[k] - before) * L + g->label[to];
            joint[cell] = sums->arc[k];
            next[cell] = (uint32_t)(to - g->first[t]);
        }
    x->joint[t] = joint;
    x->next[t] = next;
    return true;
}

trl_status trl_posterior_of_lattice(const trl_lattice *g, const trl_lattice_sums *sums,
                                    trl_arena *arena, trl_posterior *out, trl_error *err)
{
    const size_t L = sums->L;
    parts x;
    size_t Q = 0;
    bool good = parts_get(&x, arena, g->T, L);
    for (size_t t = 0; good && t < g->T; t++) {
        x.states[t] = g->first[t + 1] - g->first[t];
        x.label[t] = g->label + g->first[t];
        Q = x.states[t] > Q ? x.states[t] : Q;
        good = t == 0 || set_arcs(g, sums, t, arena, &x);
    }
    if (!good)
        return trl_fail_mem(err);
    memset(x.start, 0, L * sizeof *x.start);
    for (size_t k = 0; k < g->first[1]; k++)
        x.start[g->label[k]] = (uint32_t)k;
    *out = posterior_of(&x, g->T, L, Q);
    out->first = sums->node;
    return TRL_OK;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

trl_status trl_chunking_init(trl_chunking *k, const trl_str *label, size_t L, trl_error *err)
{
    *k = (trl_chunking){.L = L};
    size_t cap = 0;
    k->type = trl_alloc(L, sizeof *k->type);
    k->name = trl_alloc(L, sizeof *k->name);
    k->begin = trl_zalloc(L + 1, sizeof *k->begin);
    bool ok = k->type && k->name && k->begin;
    for (size_t i = 0; ok && i < L; i++) {
        trl_chunk own = {0};
        k->type[i] = trl_chunks_of(&label[i], 1, &own) ? (uint32_t)i : TRL_NO_ID;
        k->name[i] = own.type;
        for (size_t j = 0; j < i && k->type[i] == i; j++)
            if (k->type[j] == j && k->name[j].n == own.type.n &&
                (own.type.n == 0 || memcmp(k->name[j].p, own.type.p, own.type.n) == 0))
                k->type[i] = (uint32_t)j;
    }
    for (size_t i = 0, n = 0; ok && i < L; i++) {
        for (size_t j = 0; ok && j < L; j++) {
            if (!trl_chunk_continues(label[i], label[j]))
                continue;
            uint32_t *grown = trl_reserve(k->then, &cap, n + 1, sizeof *grown);
            ok = grown != NULL;
            if (ok) {
                k->then = grown;
                k->then[n++] = (uint32_t)j;
            }
        }
        k->begin[i + 1] = n;
    }
    if (ok)
        return TRL_OK;
    trl_chunking_fini(k);
    return trl_fail_mem(err);
}

void trl_chunking_fini(trl_chunking *k)
{
    trl_free(k->type);
    trl_free(k->name);
    trl_free(k->begin);
    trl_free(k->then);
    *k = (trl_chunking){0};
}

/* ---- spans ----------------------------------------------------------------------------------- */

typedef struct span_work {
    const trl_posterior *p;
    const trl_chunking *k;
    double *open, *later; /* [Q] r_t and r_{t+1} */
    double *close;        /* [L] by type: of the chunks that end here */
    bool *goes_on;        /* [L] scratch */
} span_work;

static trl_status work_init(span_work *w, const trl_posterior *p, const trl_chunking *k,
                            trl_arena *arena, trl_error *err)
{
    *w = (span_work){.p = p, .k = k};
    w->open = trl_arena_get(arena, p->Q, sizeof *w->open);
    w->later = trl_arena_get(arena, p->Q, sizeof *w->later);
    w->close = trl_arena_get(arena, p->L, sizeof *w->close);
    w->goes_on = trl_arena_get(arena, p->L, sizeof *w->goes_on);
    return w->open && w->later && w->close && w->goes_on ? TRL_OK : trl_fail_mem(err);
}

static double row_sum(const double *row, size_t n)
{
    double sum = 0.0;
    for (size_t j = 0; j < n; j++)
        sum += row[j];
    return sum;
}

/* Marks the labels that continue label i. */
static void mark(span_work *w, uint32_t i)
{
    memset(w->goes_on, 0, w->p->L * sizeof *w->goes_on);
    for (size_t x = w->k->begin[i]; x < w->k->begin[i + 1]; x++)
        w->goes_on[w->k->then[x]] = true;
}

/* r_b. */
static void open_at(span_work *w, size_t b)
{
    const trl_posterior *p = w->p;
    memset(w->open, 0, p->Q * sizeof *w->open);
    for (size_t j = 0; b == 0 && j < p->L; j++)
        if (w->k->type[j] != TRL_NO_ID)
            w->open[p->start[j]] += p->first[j];
    for (size_t q = 0; b > 0 && q < p->states[b - 1]; q++) {
        const double *joint = p->joint[b] + q * p->L;
        mark(w, p->label[b - 1][q]);
        for (size_t j = 0; j < p->L; j++)
            if (!w->goes_on[j] && w->k->type[j] != TRL_NO_ID)
                w->open[p->next[b][q * p->L + j]] += joint[j];
    }
}

/* State q before position e: adds to r_e, and returns what ends.  That is summed label by label:
 * 1 - what goes on has no digits where nearly all goes on. */
static double step_state(span_work *w, size_t e, size_t q)
{
    const trl_posterior *p = w->p;
    const double *joint = p->joint[e] + q * p->L, sum = row_sum(joint, p->L);
    const uint32_t i = p->label[e - 1][q];
    double stops = 0.0;
    if (w->k->begin[i] == w->k->begin[i + 1])
        return w->open[q];
    if (!(sum > 0.0))
        return 0.0;
    mark(w, i);
    for (size_t j = 0; j < p->L; j++)
        if (w->goes_on[j])
            w->later[p->next[e][q * p->L + j]] += w->open[q] * (joint[j] / sum);
        else
            stops += joint[j];
    return w->open[q] * (stops / sum);
}

/* From r_{e-1}: what ends here, by type, into close, and r_e, which replaces it. */
static void step(span_work *w, size_t e)
{
    const trl_posterior *p = w->p;
    memset(w->close, 0, p->L * sizeof *w->close);
    memset(w->later, 0, p->Q * sizeof *w->later);
    for (size_t q = 0; q < p->states[e - 1]; q++)
        if (w->open[q] > 0.0)
            w->close[w->k->type[p->label[e - 1][q]]] += e < p->T ? step_state(w, e, q) : w->open[q];
    double *swap = w->open;
    w->open = w->later;
    w->later = swap;
}

/* The largest part by type of what is open before position e. */
static double largest_open(span_work *w, size_t e)
{
    const trl_posterior *p = w->p;
    double *by_type = w->close, largest = 0.0;
    memset(by_type, 0, p->L * sizeof *by_type);
    for (size_t q = 0; q < p->states[e - 1]; q++)
        if (w->open[q] > 0.0)
            by_type[w->k->type[p->label[e - 1][q]]] += w->open[q];
    for (size_t j = 0; j < p->L; j++)
        largest = by_type[j] > largest ? by_type[j] : largest;
    return largest;
}

static double at_most_1(double x)
{
    return x < 1.0 ? x : 1.0; /* rounding may exceed it */
}

trl_status trl_posterior_spans(const trl_posterior *p, const trl_chunking *k, double least,
                               trl_arena *arena, const trl_span_taker *to, trl_error *err)
{
    span_work w;
    trl_status st = work_init(&w, p, k, arena, err);
    for (size_t b = 0; st == TRL_OK && b < p->T; b++) {
        open_at(&w, b);
        for (size_t e = b + 1; e <= p->T && st == TRL_OK && largest_open(&w, e) >= least; e++) {
            step(&w, e);
            const double any = row_sum(w.close, p->L);
            for (size_t j = 0; st == TRL_OK && j < p->L; j++)
                if (w.close[j] >= least)
                    st = to->take(to->ctx,
                                  &(trl_tag_span){.begin = b,
                                                  .end = e,
                                                  .type = k->name[j],
                                                  .p = at_most_1(w.close[j]),
                                                  .boundaries = at_most_1(any)},
                                  err);
        }
    }
    return st;
}

trl_status trl_posterior_span(const trl_posterior *p, const trl_chunking *k, uint32_t type,
                              trl_arena *arena, trl_tag_span *span, trl_error *err)
{
    span_work w;
    const trl_status st = work_init(&w, p, k, arena, err);
    if (st != TRL_OK)
        return st;
    open_at(&w, span->begin);
    for (size_t e = span->begin + 1; e <= span->end; e++)
        step(&w, e);
    span->p = at_most_1(w.close[type]);
    span->boundaries = at_most_1(row_sum(w.close, p->L));
    return TRL_OK;
}

/* ---- entropies ------------------------------------------------------------------------------- */

double trl_entropy(const double *p, size_t n)
{
    double H = 0.0;
    for (size_t j = 0; j < n; j++)
        H -= p[j] > 0.0 && p[j] < 1.0 ? p[j] * log(p[j]) : 0.0;
    return H;
}

double trl_posterior_entropy(const trl_posterior *p)
{
    double H = trl_entropy(p->first, p->L);
    for (size_t t = 1; t < p->T; t++)
        for (size_t q = 0; q < p->states[t - 1]; q++) {
            const double *joint = p->joint[t] + q * p->L;
            const double sum = row_sum(joint, p->L);
            for (size_t j = 0; j < p->L; j++)
                if (joint[j] > DBL_MIN) /* what is less adds nothing, but may overflow */
                    H += joint[j] * log(sum / joint[j]);
        }
    return H > 0.0 ? H : 0.0;
}
