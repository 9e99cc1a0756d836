/* viterbi.c -- the best labelling.
 *
 *     D_t(j) = node_t(j) + max_i (D_{t-1}(i) + edge_t(i,j))                      order 1
 *     D_t(i,j) = node_t(j) + edge_t(i,j) + max_h (D_{t-1}(h,i) + tri_t(h,i,j))    order 2
 *
 * Order 2 keeps D transposed ([j][i]) so that both orders use one max-plus kernel.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "feature/pair_sets.h"
#include "num/matrix_kernel.h"

typedef struct search {
    const trl_chain *c;
    const trl_tables *s;
    size_t T, L, S;
    double *cur, *next; /* order 1: [S]; order 2: [L][S], row j holds D(., j) */
    double *tmp;        /* order 2: [L][S] */
    double *sum;        /* shared + row scores of one position, when there are rows */
    int64_t *from;      /* [T][S] or [T][L][S] */
} search;

static bool search_get(search *g, trl_arena *arena)
{
    const size_t Q = g->c->order == 2 ? g->L * g->S : g->S;
    const size_t cells = g->c->order == 2 ? g->L * g->L * g->L : g->L * g->L;
    g->cur = trl_arena_get(arena, Q, sizeof(double));
    g->next = trl_arena_get(arena, Q, sizeof(double));
    g->tmp = trl_arena_get(arena, Q, sizeof(double));
    g->sum = trl_arena_get(arena, cells + TRL_LANES, sizeof(double));
    g->from = trl_arena_get(arena, g->T, Q * sizeof(int64_t));
    return g->cur && g->next && g->tmp && g->sum && g->from;
}

/* The scores of the highest family at t: the shared table itself when it has no rows. */
static const double *scores_at(const search *g, int family, const double *shared, size_t cells,
                               size_t t)
{
    const double *row = g->s->row[family];
    if (!row)
        return shared;
    row += t * g->s->step[family];
    for (size_t k = 0; k < cells; k++)
        g->sum[k] = shared[k] + row[k];
    memset(g->sum + cells, 0, TRL_LANES * sizeof *g->sum);
    return g->sum;
}

/* Pairs as sets: the cells of position t are inserted into a copy of the shared table, in `sum`,
 * and removed after the step. */
static void copy_shared(search *g)
{
    memcpy(g->sum, g->c->edge, g->L * g->L * sizeof *g->sum);
    memset(g->sum + g->L * g->L, 0, TRL_LANES * sizeof *g->sum);
}

static void insert_cells(search *g, size_t t)
{
    const trl_pair_sets *p = g->s->chain.pairs;
    const size_t set = g->s->chain.set[t];
    for (uint64_t i = p->begin[set]; i < p->begin[set + 1]; i++) {
        const size_t at = p->cell[i].from * g->L + p->cell[i].to;
        g->sum[at] = g->c->edge[at] + p->score[i];
    }
}

static void remove_cells(search *g, size_t t)
{
    const trl_pair_sets *p = g->s->chain.pairs;
    const size_t set = g->s->chain.set[t];
    for (uint64_t i = p->begin[set]; i < p->begin[set + 1]; i++) {
        const size_t at = p->cell[i].from * g->L + p->cell[i].to;
        g->sum[at] = g->c->edge[at];
    }
}

static double best_of(size_t n, const double *x, size_t *arg)
{
    *arg = 0;
    for (size_t k = 1; k < n; k++)
        if (x[k] > x[*arg])
            *arg = k;
    return x[*arg];
}

static void swap(search *g)
{
    double *t = g->cur;
    g->cur = g->next;
    g->next = t;
}

static double order1(search *g, uint32_t *y)
{
    const size_t L = g->L, S = g->S;
    const bool sets = g->s->chain.pairs;
    for (size_t j = 0; j < L; j++)
        g->cur[j] = trl_node_at(g->s, 0, j);
    if (sets)
        copy_shared(g);
    for (size_t t = 1; t < g->T; t++) {
        if (sets)
            insert_cells(g, t);
        const double *edge = sets ? g->sum : scores_at(g, TRL_EDGE, g->c->edge, L * L, t);
        trl_maxplus(L, S, g->cur, edge, L, g->next, g->from + t * S);
        if (sets)
            remove_cells(g, t);
        for (size_t j = 0; j < L; j++)
            g->next[j] += trl_node_at(g->s, t, j);
        swap(g);
    }
    size_t j;
    const double best = best_of(L, g->cur, &j);
    for (size_t t = g->T; t-- > 0;) {
        y[t] = (uint32_t)j;
        if (t)
            j = (size_t)g->from[t * S + j];
    }
    return best;
}

/* D_t(i, .) for every i, in tmp, then transposed into next. */
static void step2(search *g, size_t t)
{
    const size_t L = g->L, S = g->S;
    const double *tri = t > 1 ? scores_at(g, TRL_TRI, g->c->tri, L * L * L, t) : NULL;
    for (size_t i = 0; i < L; i++) {
        double *row = g->tmp + i * S;
        int64_t *from = g->from + (t * L + i) * S;
        if (t > 1) {
            trl_maxplus(L, S, g->cur + i * S, tri + i * L, L * L, row, from);
        } else {
            for (size_t j = 0; j < L; j++)
                row[j] = g->cur[i];
        }
        for (size_t j = 0; j < L; j++)
            g->next[j * S + i] =
                row[j] + trl_node_at(g->s, t, j) + trl_edge_at(g->c, g->s, t, i, j);
    }
    swap(g);
}

static double order2(search *g, uint32_t *y)
{
    const size_t L = g->L, S = g->S, last = g->T - 1;
    for (size_t j = 0; j < L; j++)
        g->cur[j] = trl_node_at(g->s, 0, j);
    size_t arg;
    if (g->T == 1) {
        const double best = best_of(L, g->cur, &arg);
        y[0] = (uint32_t)arg;
        return best;
    }
    for (size_t t = 1; t < g->T; t++)
        step2(g, t);
    double best = -HUGE_VAL;
    size_t bi = 0, bj = 0;
    for (size_t j = 0; j < L; j++)
        for (size_t i = 0; i < L; i++)
            if (g->cur[j * S + i] > best) {
                best = g->cur[j * S + i];
                bi = i;
                bj = j;
            }
    for (size_t t = last; t >= 1; t--) {
        y[t] = (uint32_t)bj;
        y[t - 1] = (uint32_t)bi;
        if (t > 1) {
            const size_t h = (size_t)g->from[(t * L + bi) * S + bj];
            bj = bi;
            bi = h;
        }
    }
    return best;
}

trl_status trl_chain_viterbi(const trl_chain *c, const trl_tables *s, trl_arena *arena, uint32_t *y,
                             double *score, trl_error *err)
{
    search g = {.c = c, .s = s, .T = s->n, .L = c->L, .S = c->stride};
    if (s->n == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence has no best labelling");
    if (!search_get(&g, arena))
        return trl_fail_mem(err);
    const trl_status st = trl_chain_check_scores(s, c->L, err);
    if (st != TRL_OK)
        return st;
    *score = c->order == 1 ? order1(&g, y) : order2(&g, y);
    if (!isfinite(*score))
        return trl_fail(err, TRL_ENUMERIC,
                        *score < 0.0 ? "every labelling is forbidden"
                                     : "a score is NaN or infinite");
    return TRL_OK;
}
