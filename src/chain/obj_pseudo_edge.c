/* obj_pseudo_edge.c -- per-edge pseudolikelihood: every pair given its outside neighbours.
 *
 *     value = sum_{t>=1} log p(y_{t-1}, y_t | all other labels, x)        [SM05, eq. 25]
 *
 * The factors that hold the pair (i, j) at (t-1, t) fall into three parts,
 *
 *     a(i)    = s_{t-1}(gold source, i)               i without j: the factor at t-1
 *     b(j)    = node_t(j) + edge_{t+1}(j, y_{t+1}) [+ tri_{t+2}(j, y_{t+1}, y_{t+2})]
 *     M(i, j) = edge_t(i, j) [+ tri_t(y_{t-2}, i, j) + tri_{t+1}(i, j, y_{t+1})]
 *
 * (in brackets: order 2), and p(i, j) = exp(a + M + b) normalised over all L^2 pairs.  Factors
 * beyond an end are left out.  A sequence of two tokens gives the likelihood; one of a single token
 * has no pair, and its only node is used instead: the likelihood again.
 *
 * Order 1 without edge rows: M is the same everywhere and the chain has exp M, so that Z_t = A^T E
 * B and all its derivatives are products of vectors with E, A = exp a, B = exp b.  Nothing can
 * underflow that matters: the largest of A and of B is 1 and E >= exp(-600), so Z_t >= exp(-600).
 *
 * [SM05] Sutton, McCallum. Piecewise training for undirected models. UAI 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "chain/local_term.h"
#include "num/matrix_kernel.h"
#include "num/vexp.h"

typedef struct edge_work {
    trl_term a, b, m;
    double *va, *vb; /* [S] a and b, later their marginals */
    double *X;       /* [L][S] the pair table */
    double *A, *B;   /* [T][S] on exponentials: weighted exp a, exp b */
} edge_work;

/* The lines of a and b for the pair that ends at t. */
static void take_sides(const trl_chain_example *x, edge_work *w, size_t t)
{
    const size_t L = x->chain->L, T = x->scores->n;
    const uint32_t *y = x->gold;
    trl_term_source(&w->a, t - 1, trl_gold_source(x->chain, y, t - 1));
    w->b.n = 0;
    trl_term_take(&w->b, TRL_NODE, t, 0, 1);
    if (t + 1 < T)
        trl_term_take(&w->b, TRL_EDGE, t + 1, y[t + 1], L);
    if (t + 2 < T && x->chain->order == 2)
        trl_term_take(&w->b, TRL_TRI, t + 2, y[t + 1] * L + y[t + 2], L * L);
}

/* The lines of M(i, .). */
static void take_middle(const trl_chain_example *x, edge_work *w, size_t t, size_t i)
{
    const size_t L = x->chain->L, T = x->scores->n;
    w->m.n = 0;
    trl_term_take(&w->m, TRL_EDGE, t, i * L, 1);
    if (x->chain->order == 2 && t >= 2)
        trl_term_take(&w->m, TRL_TRI, t, (x->gold[t - 2] * L + i) * L, 1);
    if (x->chain->order == 2 && t + 1 < T)
        trl_term_take(&w->m, TRL_TRI, t + 1, i * L * L + x->gold[t + 1], L);
}

/* One pair in log space: L^2 exponentials. */
static double pair_log(const trl_chain_example *x, edge_work *w, size_t t)
{
    const size_t L = x->chain->L, S = x->chain->stride;
    const uint32_t i0 = x->gold[t - 1], j0 = x->gold[t];
    for (size_t i = 0; i < L; i++) {
        take_middle(x, w, t, i);
        w->m.line[w->m.n++] = (trl_line){w->vb, NULL, 1};
        trl_lines_sum(L, w->m.n, w->m.line, w->va[i], w->X + i * S);
    }
    const double score = w->X[i0 * S + j0], z = trl_softmax(L * S, w->X, false);
    for (size_t i = 0; i < L; i++) {
        take_middle(x, w, t, i);
        trl_lines_add(L, w->m.n, w->m.line, -x->weight, w->X + i * S);
        if (i == i0)
            (void)trl_term_gold(&w->m, j0, x->weight);
    }
    trl_block_sums(L, S, w->X, w->va, w->vb);
    return score - z;
}

/* The same with exp M = E; pair marginals go to A and B. */
static double pair_exp(const trl_chain_example *x, edge_work *w, size_t t)
{
    const trl_chain *c = x->chain;
    const size_t L = c->L, S = c->stride;
    const uint32_t i0 = x->gold[t - 1], j0 = x->gold[t];
    double *A = w->A + t * S, *B = w->B + t * S, min;
    const double score = w->va[i0] + w->vb[j0] + c->edge[i0 * L + j0];
    const double shift = trl_exp_row(L, w->va, A, &min) + trl_exp_row(L, w->vb, B, &min);
    if (!isfinite(shift)) { /* all forbidden, or not numbers */
        for (size_t i = 0; i < S; i++)
            A[i] = B[i] = w->va[i] = w->vb[i] = 0.0;
        return -HUGE_VAL;
    }
    trl_vecmat(L, S, A, c->E, w->vb);
    const double Z = trl_dot_rows(S, w->vb, B);
    trl_vecmat(L, S, B, c->Et, w->va);
    trl_scale_rows(S, 1.0 / Z, A, w->va);
    trl_scale_rows(S, 1.0 / Z, B, w->vb);
    for (size_t i = 0; i < S; i++)
        A[i] *= x->weight / Z;
    return score - (log(Z) + shift + c->shift);
}

static trl_status work_get(const trl_chain_example *x, trl_tables *adjoint, bool fast, edge_work *w,
                           trl_error *err)
{
    const size_t T = x->scores->n, L = x->chain->L, S = x->chain->stride;
    *w = (edge_work){.va = trl_arena_get(x->arena, S, sizeof(double)),
                     .vb = trl_arena_get(x->arena, S, sizeof(double))};
    w->a = w->b = w->m = trl_term_of(x->chain, x->scores, adjoint);
    if (fast) {
        w->A = trl_arena_get(x->arena, T * S, sizeof(double));
        w->B = trl_arena_get(x->arena, T * S, sizeof(double));
    } else {
        w->X = trl_arena_get(x->arena, L * S, sizeof(double));
    }
    const bool got = w->va && w->vb && (fast ? w->A && w->B : w->X != NULL);
    return got ? TRL_OK : trl_fail_mem(err);
}

trl_status trl_obj_pseudo_edge(const trl_chain_example *x, trl_tables *adjoint,
                               trl_chain_sums *minus, double *value, trl_error *err)
{
    const size_t T = x->scores->n, L = x->chain->L, S = x->chain->stride;
    const bool fast = x->chain->order == 1 && trl_shared_only(x);
    edge_work w;
    double sum = 0.0;
    trl_status st = trl_local_start(x, TRL_NODE, adjoint, err);
    if (st == TRL_OK)
        st = work_get(x, adjoint, fast, &w, err);
    if (st != TRL_OK)
        return st;
    if (T == 1) {
        trl_term_source(&w.a, 0, 0);
        sum = trl_term_log_p(&w.a, x->gold[0], x->weight, w.va);
    }
    for (size_t t = 1; t < T; t++) {
        take_sides(x, &w, t);
        trl_lines_sum(L, w.a.n, w.a.line, 0.0, w.va);
        trl_lines_sum(L, w.b.n, w.b.line, 0.0, w.vb);
        sum += fast ? pair_exp(x, &w, t) : pair_log(x, &w, t);
        trl_lines_add(L, w.a.n, w.a.line, -x->weight, w.va);
        trl_lines_add(L, w.b.n, w.b.line, -x->weight, w.vb);
        (void)trl_term_gold(&w.a, x->gold[t - 1], x->weight);
        (void)trl_term_gold(&w.b, x->gold[t], x->weight);
        if (fast && adjoint->shared[TRL_EDGE])
            adjoint->shared[TRL_EDGE][x->gold[t - 1] * L + x->gold[t]] += x->weight;
    }
    if (fast && T > 1 && isfinite(sum))
        trl_outer_sum(T - 1, L, S, w.A + S, S, w.B + S, S, minus->outer);
    return trl_local_value(x, sum, value, err);
}
