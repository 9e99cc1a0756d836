/* label_best.c -- the best labelling under automata, by rows of labels. */
/* SPDX-License-Identifier: MIT */
#include "chain/label_best.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/engine.h"
#include "num/simd.h"

void trl_best_rows_fini(trl_best_rows *b)
{
    void *const all[] = {b->state, b->first, b->D, b->edge, b->node, b->reached, b->row, b->list};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        trl_free(all[k]);
    trl_label_moves_fini(&b->moves);
    *b = (trl_best_rows){0};
}

/* Room for `need` elements of an array of the rows. */
#define ROOM(b, array, need)                                                                       \
    reserve((void **)&(b)->array, &(b)->array##_cap, (need), sizeof *(b)->array)

static bool reserve(void **p, size_t *cap, size_t need, size_t size)
{
    void *grown = trl_reserve(*p, cap, need, size);
    if (grown)
        *p = grown;
    return grown != NULL;
}

typedef struct search {
    trl_best_rows *b;
    trl_product *p;
    const trl_lattice_ask *ask;
    size_t T, L, step;
    size_t t, from; /* the layer that is made, and its first row */
    size_t cells;   /* above -inf, of the layers before */
    trl_error *err;
} search;

/* ---- scores of a layer ----------------------------------------------------------------------- */

static double edge_at(const search *s, size_t t, uint32_t i, uint32_t y)
{
    return trl_lattice_may_follow(s->ask, t, i, y)
               ? trl_edge_at(s->ask->chain, s->ask->tables, t, i, y)
               : -HUGE_VAL;
}

static void set_layer(search *s)
{
    const trl_lattice_ask *a = s->ask;
    for (size_t y = 0; y < s->step; y++)
        s->b->node[y] = y < s->L && trl_lattice_may_be(a, s->t, (uint32_t)y)
                            ? trl_node_at(a->tables, s->t, y)
                            : -HUGE_VAL;
    if (s->t == 0 || (s->t > 1 && !a->joint && !a->tables->row[TRL_EDGE]))
        return; /* the same as before */
    for (uint32_t i = 0; i < s->L; i++)
        for (size_t y = 0; y < s->step; y++)
            s->b->edge[i * s->step + y] = y < s->L ? edge_at(s, s->t, i, (uint32_t)y) : -HUGE_VAL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row for the state in this layer, where there is none; nothing is reached there. */
static trl_status add_row(search *s, uint32_t q)
{
    trl_best_rows *b = s->b;
    if (q >= b->row_cap) {
        const size_t had = b->row_cap;
        if (!ROOM(b, row, s->p->state.n))
            return trl_fail_mem(s->err);
        memset(b->row + had, 0, (b->row_cap - had) * sizeof *b->row);
    }
    if (!ROOM(b, state, b->n + 1) || !ROOM(b, D, (b->n + 1) * s->step))
        return trl_fail_mem(s->err);
    b->state[b->n] = q;
    b->row[q] = (uint32_t)b->n;
    for (size_t y = 0; y < s->step; y++)
        b->D[b->n * s->step + y] = -HUGE_VAL;
    b->n++;
    return TRL_OK;
}

/* Does the state have a row in this layer?  It is b->row[q] then. */
TRL_INLINE bool has_row(const search *s, uint32_t q)
{
    const trl_best_rows *b = s->b;
    return q < b->row_cap && b->row[q] >= s->from && b->row[q] < b->n && b->state[b->row[q]] == q;
}

/* The labels from state q that do not lead to its main state, from `reached`, where the main state
 * is left with the others. */
static trl_status leave_apart(search *s, uint32_t q, double *reached)
{
    trl_best_rows *b = s->b;
    trl_status st = trl_label_moves_of(&b->moves, s->p, s->ask->c, q, s->err);
    if (st != TRL_OK)
        return st;
    const trl_state_moves *m = &b->moves.of[q];
    const uint16_t *apart = b->moves.apart + q * s->L;
    const uint32_t *next = s->p->next + q * s->L;
    for (size_t k = 0; k < m->n_away && st == TRL_OK; k++) {
        const size_t y = apart[k];
        const double score = reached[y] + b->node[y];
        if (!(score > -HUGE_VAL))
            continue;
        if (!has_row(s, next[y]))
            st = add_row(s, next[y]);
        if (st != TRL_OK)
            return st;
        double *D = &b->D[b->row[next[y]] * s->step + y];
        *D = score > *D ? score : *D;
    }
    for (size_t k = 0; k < m->n_away + m->n_no; k++)
        reached[apart[k]] = -HUGE_VAL;
    return st;
}

/* And those that do. */
static trl_status leave_mainly(search *s, uint32_t q, const double *reached)
{
    trl_best_rows *b = s->b;
    const uint32_t to = b->moves.of[q].to;
    trl_status st = TRL_OK;
    if (to == TRL_DEAD)
        return st;
    if (!has_row(s, to))
        st = add_row(s, to);
    if (st == TRL_OK)
        trl_best_spread(s->step, reached, b->node, b->D + b->row[to] * s->step);
    return st;
}

static trl_status first_layer(search *s)
{
    trl_best_rows *b = s->b;
    uint32_t start;
    trl_status st = trl_product_start(s->p, s->ask, &start, s->err);
    if (st == TRL_OK && !ROOM(b, reached, s->step))
        st = trl_fail_mem(s->err);
    if (st != TRL_OK)
        return st;
    memset(b->reached, 0, s->step * sizeof *b->reached);
    st = leave_apart(s, start, b->reached);
    return st == TRL_OK ? leave_mainly(s, start, b->reached) : st;
}

/* Lists the labels of a row that are possible; returns their number. */
static size_t labels_of(const search *s, uint32_t q, const double *D)
{
    const trl_best_rows *b = s->b;
    const uint16_t *in = b->moves.in + q * s->L;
    size_t n = 0;
    for (uint32_t k = 0; k < b->moves.of[q].n_in; k++) {
        b->list[n] = in[k];
        n += D[in[k]] > -HUGE_VAL;
    }
    return n;
}

static trl_status next_layer(search *s)
{
    trl_best_rows *b = s->b;
    const size_t from = b->first[s->t - 1], n = s->from - from;
    if (!ROOM(b, reached, n * s->step))
        return trl_fail_mem(s->err);
    for (size_t k = 0; k < n; k++) {
        const double *D = b->D + (from + k) * s->step;
        const size_t labels = labels_of(s, b->state[from + k], D);
        trl_best_reach(labels, b->list, s->step, D, b->edge, b->reached + k * s->step);
        s->cells += labels;
    }
    trl_status st = TRL_OK;
    for (size_t k = 0; k < n && st == TRL_OK; k++)
        st = leave_apart(s, b->state[from + k], b->reached + k * s->step);
    for (size_t k = 0; k < n && st == TRL_OK; k++)
        st = leave_mainly(s, b->state[from + k], b->reached + k * s->step);
    return st;
}

/* ---- the labelling --------------------------------------------------------------------------- */

/* The best cell of the last layer whose state is final: its row, or b->n. */
static size_t best_end(const search *s, uint32_t *y, double *score)
{
    const trl_best_rows *b = s->b;
    size_t best = b->n;
    *score = -HUGE_VAL;
    for (size_t r = b->first[s->T - 1]; r < b->n; r++) {
        if (!trl_product_final(s->p, s->ask->c, b->state[r]))
            continue;
        for (uint32_t j = 0; j < s->L; j++)
            if (b->D[r * s->step + j] > *score) {
                *score = b->D[r * s->step + j];
                *y = j;
                best = r;
            }
    }
    return best;
}

/* The row and label before (row, y) of layer t. */
static size_t before(const search *s, size_t t, size_t row, uint32_t y, uint32_t *label)
{
    const trl_best_rows *b = s->b;
    double best = -HUGE_VAL;
    size_t from = b->first[t - 1];
    for (size_t r = b->first[t - 1]; r < b->first[t]; r++) {
        if (s->p->next[b->state[r] * s->L + y] != b->state[row])
            continue;
        for (uint32_t i = 0; i < s->L; i++) {
            const double d = b->D[r * s->step + i];
            const double score = d > -HUGE_VAL ? d + edge_at(s, t, i, y) : d;
            if (score > best) {
                best = score;
                from = r;
                *label = i;
            }
        }
    }
    return from;
}

trl_status trl_best_labels(trl_best_rows *b, trl_product *p, const trl_lattice_ask *ask,
                           uint32_t *y, double *score, trl_error *err)
{
    const size_t T = ask->tables->n, L = ask->c->set.L;
    search s = {.b = b, .p = p, .ask = ask, .T = T, .L = L, .step = trl_padded(L), .err = err};
    *score = -HUGE_VAL;
    trl_status st = trl_chain_check_scores(ask->tables, L, err);
    if (st == TRL_OK && (!ROOM(b, first, T + 1) || !ROOM(b, node, s.step) || !ROOM(b, list, L) ||
                         !ROOM(b, edge, L * s.step)))
        st = trl_fail_mem(err);
    for (b->n = 0; s.t < T && st == TRL_OK; s.t++) {
        s.from = b->first[s.t] = b->n;
        set_layer(&s);
        st = s.t ? next_layer(&s) : first_layer(&s);
        if (st == TRL_OK && (b->n == s.from || s.cells > ask->c->max_states))
            return TRL_OK;
    }
    if (st != TRL_OK)
        return st;
    b->first[T] = b->n;
    uint32_t label = 0;
    size_t row = best_end(&s, &label, score);
    for (size_t t = T; t-- > 0 && row < b->n;) {
        y[t] = label;
        row = t ? before(&s, t, row, label, &label) : row;
    }
    return TRL_OK;
}
