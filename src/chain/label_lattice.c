/* label_lattice.c -- making the lattice: layer by layer from the left, then what leads nowhere is
 * taken out from the right. */
/* SPDX-License-Identifier: MIT */
#include "chain/label_lattice.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/engine.h"

struct trl_lattice_slot {
    uint64_t key;
    uint32_t stamp, node; /* valid in the layer of this stamp */
};

void trl_lattice_fini(trl_lattice *g)
{
    trl_product_fini(&g->product);
    void *const all[] = {g->first,  g->label,    g->arc,    g->from,      g->score, g->enter, g->q,
                         g->before, g->arc_from, g->arc_to, g->arc_score, g->slot,  g->live};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        trl_free(all[k]);
    *g = (trl_lattice){0};
}

/* Room for `need` elements of an array of the lattice. */
#define ROOM(g, array, need)                                                                       \
    reserve((void **)&(g)->array, &(g)->array##_cap, (need), sizeof *(g)->array)

static bool reserve(void **p, size_t *cap, size_t need, size_t size)
{
    void *grown = trl_reserve(*p, cap, need, size);
    if (grown)
        *p = grown;
    return grown != NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static trl_lattice_slot *slot_of(const trl_lattice *g, uint64_t key)
{
    size_t k = (size_t)((key * 0x9e3779b97f4a7c15u) >> 20);
    for (;; k++) {
        trl_lattice_slot *s = &g->slot[k & (g->n_slots - 1)];
        if (s->stamp != g->stamp || s->key == key)
            return s;
    }
}

static uint64_t key_of(const trl_lattice *g, size_t x)
{
    return (uint64_t)g->q[x] << 32 | (uint64_t)g->before[x] << 16 | g->label[x];
}

/* Room in the table for one more node of the layer that starts at `from`. */
static bool grow_slots(trl_lattice *g, size_t from)
{
    if (g->n_slots && 2 * (g->n - from + 1) <= g->n_slots)
        return true;
    const size_t n = g->n_slots ? 2 * g->n_slots : 256;
    trl_lattice_slot *slot = trl_zalloc(n, sizeof *slot);
    if (!slot)
        return false;
    trl_free(g->slot);
    g->slot = slot;
    g->n_slots = n;
    g->stamp = 1;
    for (size_t x = from; x < g->n; x++)
        *slot_of(g, key_of(g, x)) = (trl_lattice_slot){key_of(g, x), 1, (uint32_t)x};
    return true;
}

typedef struct maker {
    trl_lattice *g;
    const trl_lattice_ask *ask;
    size_t t, from; /* the layer that is made, and its first node */
    trl_error *err;
} maker;

static trl_status too_many(const maker *m)
{
    const trl_constraint *c = m->ask->c;
    double all = 1.0;
    for (size_t k = 0; k < c->n_automata; k++)
        all *= m->ask->tracked[k] ? (double)c->automaton[k].n_states : 1.0;
    const trl_status st = trl_fail(m->err, TRL_EINVAL,
                                   "the constraints need more than %zu states up to token %zu of "
                                   "%zu; their automata have %.4g "
                                   "states together, times %zu labels",
                                   c->max_states, m->t + 1, m->g->T, all, c->set.L);
    return trl_fail_hint(m->err, st,
                         "allow more states, fix labels of tokens, or drop a rule; the "
                         "best labellings need fewer than probabilities");
}

/* The node (q, before, y) of the layer. */
static trl_status node_of(maker *m, uint32_t q, uint32_t before, uint32_t y, uint32_t *node)
{
    trl_lattice *g = m->g;
    const size_t x = g->n;
    if (!grow_slots(g, m->from) || !ROOM(g, q, x + 1) || !ROOM(g, before, x + 1) ||
        !ROOM(g, label, x + 1))
        return trl_fail_mem(m->err);
    g->q[x] = q;
    g->before[x] = before;
    g->label[x] = y;
    trl_lattice_slot *s = slot_of(g, key_of(g, x));
    if (s->stamp != g->stamp) {
        if (g->n == m->ask->c->max_states)
            return too_many(m);
        *s = (trl_lattice_slot){key_of(g, x), g->stamp, (uint32_t)x};
        g->n++;
    }
    *node = s->node;
    return TRL_OK;
}

static trl_status add_arc(maker *m, uint32_t from, uint32_t to, double score)
{
    trl_lattice *g = m->g;
    const size_t k = g->n_arcs;
    if (!ROOM(g, arc_from, k + 1) || !ROOM(g, arc_to, k + 1) || !ROOM(g, arc_score, k + 1))
        return trl_fail_mem(m->err);
    g->arc_from[k] = from;
    g->arc_to[k] = to;
    g->arc_score[k] = score;
    g->n_arcs++;
    return TRL_OK;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static trl_status first_layer(maker *m)
{
    const trl_lattice_ask *a = m->ask;
    uint32_t start, q, x;
    trl_status st = trl_product_start(&m->g->product, a, &start, m->err);
    for (uint32_t y = 0; y < a->c->set.L && st == TRL_OK; y++) {
        const double score = trl_node_at(a->tables, 0, y);
        if (!trl_lattice_may_be(a, m->t, y) || score == -HUGE_VAL)
            continue;
        st = trl_product_next(&m->g->product, a->c, start, y, &q, m->err);
        if (st != TRL_OK || q == TRL_DEAD)
            continue;
        st = node_of(m, q, 0, y, &x);
        if (st == TRL_OK && !ROOM(m->g, enter, m->g->n))
            st = trl_fail_mem(m->err);
        if (st == TRL_OK)
            m->g->enter[x] = score;
    }
    return st;
}

/* All arcs from node x to label y. */
static trl_status extend(maker *m, uint32_t x, uint32_t y)
{
    const trl_lattice_ask *a = m->ask;
    const uint32_t i = m->g->label[x];
    uint32_t q, node;
    double score = trl_node_at(a->tables, m->t, y) + trl_edge_at(a->chain, a->tables, m->t, i, y);
    if (a->chain->order == 2 && m->t > 1)
        score += trl_tri_at(a->chain, a->tables, m->t, m->g->before[x], i, y);
    if (score == -HUGE_VAL)
        return TRL_OK;
    trl_status st = trl_product_next(&m->g->product, a->c, m->g->q[x], y, &q, m->err);
    if (st != TRL_OK || q == TRL_DEAD)
        return st;
    st = node_of(m, q, a->chain->order == 2 ? i : 0, y, &node);
    return st == TRL_OK ? add_arc(m, x, node, score) : st;
}

static trl_status next_layer(maker *m)
{
    const size_t L = m->ask->c->set.L;
    trl_status st = TRL_OK;
    for (uint32_t y = 0; y < L && st == TRL_OK; y++)
        for (size_t x = m->g->first[m->t - 1];
             trl_lattice_may_be(m->ask, m->t, y) && x < m->from && st == TRL_OK; x++)
            if (trl_lattice_may_follow(m->ask, m->t, m->g->label[x], y))
                st = extend(m, (uint32_t)x, y);
    return st;
}

/* ---- what leads nowhere ---------------------------------------------------------------------- */

/* Marks the nodes on a path; returns how many there are. */
static size_t mark(trl_lattice *g, const trl_constraint *c)
{
    size_t n = 0;
    for (size_t x = 0; x < g->n; x++)
        g->live[x] = x >= g->first[g->T - 1] && trl_product_final(&g->product, c, g->q[x]);
    for (size_t k = g->n_arcs; k-- > 0;)
        g->live[g->arc_from[k]] |= g->live[g->arc_to[k]];
    for (size_t x = 0; x < g->n; x++)
        n += g->live[x];
    return n;
}

/* New numbers for the live nodes, which go into q; then arcs by the node they end in. */
static void pack(trl_lattice *g)
{
    size_t n = 0;
    for (size_t t = 0, x = 0; t < g->T; t++) {
        const size_t to = g->first[t + 1];
        g->first[t] = n;
        for (; x < to; x++) {
            g->q[x] = (uint32_t)n;
            if (!g->live[x])
                continue;
            g->label[n] = g->label[x];
            if (t == 0)
                g->enter[n] = g->enter[x];
            n++;
        }
    }
    g->first[g->T] = n;
    memset(g->arc, 0, (n + 2) * sizeof *g->arc);
    for (size_t k = 0; k < g->n_arcs; k++)
        if (g->live[g->arc_to[k]])
            g->arc[g->q[g->arc_to[k]] + 2]++;
    for (size_t x = 0; x < n; x++)
        g->arc[x + 2] += g->arc[x + 1];
    for (size_t k = 0; k < g->n_arcs; k++) {
        if (!g->live[g->arc_to[k]])
            continue;
        const size_t at = g->arc[g->q[g->arc_to[k]] + 1]++;
        g->from[at] = g->q[g->arc_from[k]];
        g->score[at] = g->arc_score[k];
    }
    g->n = n;
    g->n_arcs = g->arc[n];
}

static trl_status conflict(const maker *m)
{
    const trl_lattice_ask *a = m->ask;
    const size_t L = a->c->set.L;
    size_t n = 0, last = 0;
    trl_status st;
    if (m->t == m->g->T)
        st = trl_fail(m->err, TRL_ECONFLICT,
                      "no labelling obeys the constraints: none that is "
                      "possible up to the last token, %zu, may end there",
                      m->t);
    else {
        for (size_t y = 0; y < L; y++)
            if (!a->allowed || a->allowed[m->t * L + y]) {
                last = y;
                n++;
            }
        const trl_str name = a->c->set.name[last];
        st = n == 1 ? trl_fail(m->err, TRL_ECONFLICT,
                               "no labelling obeys the constraints: token %zu cannot be '%.*s'",
                               m->t + 1, (int)(name.n < 60 ? name.n : 60), name.p)
                    : trl_fail(m->err, TRL_ECONFLICT,
                               "no labelling obeys the constraints: none of the %zu labels allowed "
                               "at token %zu is possible %s",
                               n, m->t + 1, m->t ? "after those before it" : "there");
    }
    return trl_fail_hint(m->err, st, "rules and allowed labels contradict one another here");
}

trl_status trl_lattice_make(trl_lattice *g, const trl_lattice_ask *ask, trl_error *err)
{
    maker m = {.g = g, .ask = ask, .err = err};
    trl_status st = trl_chain_check_scores(ask->tables, ask->c->set.L, err);
    g->T = ask->tables->n;
    g->n = g->n_arcs = 0;
    if (st == TRL_OK && !ROOM(g, first, g->T + 1))
        st = trl_fail_mem(err);
    for (; m.t < g->T && st == TRL_OK; m.t++) {
        m.from = g->first[m.t] = g->n;
        if (++g->stamp == 0) { /* once in 2^32 layers */
            trl_free(g->slot);
            g->slot = NULL;
            g->n_slots = 0;
            g->stamp = 1;
        }
        st = m.t ? next_layer(&m) : first_layer(&m);
        if (st == TRL_OK && g->n == m.from)
            return conflict(&m);
    }
    if (st != TRL_OK)
        return st;
    g->first[g->T] = g->n;
    if (!ROOM(g, live, g->n) || !ROOM(g, arc, g->n + 2) || !ROOM(g, from, g->n_arcs + 1) ||
        !ROOM(g, score, g->n_arcs + 1))
        return trl_fail_mem(err);
    if (mark(g, ask->c) == 0)
        return conflict(&m);
    pack(g);
    return TRL_OK;
}
