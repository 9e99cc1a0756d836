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
    size_t cells;   /* above -inf, of all layers */
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

/* The row of the state in this layer, made when it is new. */
static trl_status row_of(search *s, uint32_t q, size_t *row)
{
    trl_best_rows *b = s->b;
    if (q >= b->row_cap) {
        const size_t had = b->row_cap;
        if (!ROOM(b, row, s->p->state.n))
            return trl_fail_mem(s->err);
        memset(b->row + had, 0, (b->row_cap - had) * sizeof *b->row);
    }
    *row = b->row[q];
    if (*row >= s->from && *row < b->n && b->state[*row] == q)
        return TRL_OK;
    *row = b->n;
    if (!ROOM(b, state, b->n + 1) || !ROOM(b, D, (b->n + 1) * s->step))
        return trl_fail_mem(s->err);
    b->state[b->n] = q;
    b->row[q] = (uint32_t)b->n;
    for (size_t y = 0; y < s->step; y++)
        b->D[b->n * s->step + y] = -HUGE_VAL;
    b->n++;
    return TRL_OK;
}

static inline void improve(search *s, size_t row, uint32_t y, double score)
{
    double *D = &s->b->D[row * s->step + y];
    s->cells += *D == -HUGE_VAL;
    *D = score > *D ? score : *D;
}

/* A way to label y from state q of the product with this score. */
static trl_status arrive(search *s, uint32_t q, uint32_t y, double score)
{
    uint32_t to;
    size_t row = 0;
    trl_status st = trl_product_next(s->p, s->ask->c, q, y, &to, s->err);
    if (st != TRL_OK || to == TRL_DEAD)
        return st;
    st = row_of(s, to, &row);
    if (st != TRL_OK)
        return st;
    improve(s, row, y, score);
    return TRL_OK;
}

/* From label `y` on, labels from state q, which are reached with these scores, to rows that there
 * are; returns the first label that leads to no row yet, or L. */
static uint32_t leave_for_rows(search *s, uint32_t q, uint32_t y, const double *reached)
{
    const trl_best_rows *b = s->b;
    const uint32_t *next = s->p->next + q * s->L, *row_of_state = b->row, *state = b->state;
    const double *node = b->node;
    const size_t known = b->row_cap, n = b->n, from = s->from, step = s->step;
    const uint32_t L = (uint32_t)s->L;
    double *D = b->D;
    size_t cells = 0;
    for (; y < L; y++) {
        const double score = reached[y] + node[y];
        const uint32_t to = next[y];
        if (!(score > -HUGE_VAL) || to == TRL_DEAD)
            continue;
        const size_t row = to < known ? row_of_state[to] : 0;
        if (row < from || row >= n || state[row] != to)
            break;
        double *cell = D + row * step + y;
        cells += *cell == -HUGE_VAL;
        *cell = score > *cell ? score : *cell;
    }
    s->cells += cells;
    return y;
}

/* All labels from state q. */
static trl_status leave(search *s, uint32_t q, const double *reached)
{
    trl_status st = TRL_OK;
    for (uint32_t y = 0; st == TRL_OK; y++) {
        y = leave_for_rows(s, q, y, reached);
        if (y >= s->L)
            break;
        st = arrive(s, q, y, reached[y] + s->b->node[y]);
    }
    return st;
}

static trl_status first_layer(search *s)
{
    uint32_t start;
    trl_status st = trl_product_start(s->p, s->ask, &start, s->err);
    for (uint32_t y = 0; y < s->L && st == TRL_OK; y++)
        if (s->b->node[y] > -HUGE_VAL)
            st = arrive(s, start, y, s->b->node[y]);
    return st;
}

/* Lists the labels of a row that are possible; returns their number. */
static size_t labels_of(const search *s, const double *D)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->L; i++) {
        s->b->list[n] = i;
        n += D[i] > -HUGE_VAL;
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
        trl_best_reach(labels_of(s, D), b->list, s->step, D, b->edge, b->reached + k * s->step);
    }
    trl_status st = TRL_OK;
    for (size_t k = 0; k < n && st == TRL_OK; k++)
        st = leave(s, b->state[from + k], b->reached + k * s->step);
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
