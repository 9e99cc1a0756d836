/* chain_log.c -- forward-backward in log space, both orders: slow, for scores of any range; the
 * reference.
 *
 *     A_t(j) = node_t(j) + log sum_i exp(A_{t-1}(i) + edge_t(i,j))                    order 1
 *     A_t(i,j) = node_t(j) + edge_t(i,j) + log sum_h exp(A_{t-1}(h,i) + tri_t(h,i,j))  order 2
 *
 * and B likewise from the right.  Every row of nodes, of A and of B is shifted so that its maximum
 * is 0 (log Z is the sum of the nodes' and A's shifts and the last row's log-sum-exp), and
 * marginals are normalised row by row,
 *
 *     P(x at t) = exp u(x) / sum_x' exp u(x'),   u = A + score + B,
 *
 * so that they are in [0, 1] and sum to 1 whatever the scores: a score of 1e16 in one row costs the
 * others no digits.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "feature/pair_sets.h"
#include "num/simd.h"
#include "num/vexp.h"

typedef struct log_lattice {
    const trl_chain *c;
    const trl_tables *s;
    size_t T, L, Q; /* Q: states per position, L or L^2 */
    double *A, *B;  /* [T][Q]; order 2 uses only the first L cells at t = 0 */
    double *sum;    /* [L] terms of one log-sum-exp */
    double *top;    /* [T] the maximum of each row of nodes; 0 where all are -inf */
    double shift;   /* the total subtracted from A */
} log_lattice;

/* Subtracts the maximum from the row and returns it; a row of -inf is left alone (0). */
static double take_maximum(double *row, size_t n)
{
    double max = -HUGE_VAL;
    for (size_t k = 0; k < n; k++)
        max = row[k] > max ? row[k] : max;
    if (!(max > -HUGE_VAL))
        return 0.0;
    for (size_t k = 0; k < n; k++)
        row[k] -= max;
    return max;
}

/* From logarithms to probabilities that sum to 1, by Kahan's summation: a row may have L^3 cells. A
 * row of -inf becomes 0. */
static void normalise(double *row, size_t n)
{
    double sum = 0.0, lost = 0.0;
    take_maximum(row, n);
    for (size_t k = 0; k < n; k++) {
        row[k] = exp(row[k]);
        const double more = row[k] - lost, next = sum + more;
        lost = (next - sum) - more;
        sum = next;
    }
    for (size_t k = 0; sum > 0.0 && k < n; k++)
        row[k] /= sum;
}

/* The score of label j at t, below the best one. */
static double node_at(const log_lattice *g, size_t t, size_t j)
{
    return trl_node_at(g->s, t, j) - g->top[t];
}

static void find_tops(log_lattice *g)
{
    for (size_t t = 0; t < g->T; t++) {
        double max = -HUGE_VAL;
        for (size_t j = 0; j < g->L; j++)
            max = trl_node_at(g->s, t, j) > max ? trl_node_at(g->s, t, j) : max;
        g->top[t] = max > -HUGE_VAL ? max : 0.0;
        g->shift += g->top[t];
    }
}

/* Score of entering state q = (i, j) (or j) at t, without the triple. */
static double enter(const log_lattice *g, size_t t, size_t i, size_t j)
{
    return node_at(g, t, j) + (t ? trl_edge_at(g->c, g->s, t, i, j) : 0.0);
}

static trl_status check_row(const double *row, size_t n, size_t t, const char *what, trl_error *err)
{
    for (size_t k = 0; k < n; k++)
        if (!(row[k] < HUGE_VAL))
            return trl_fail(err, TRL_ENUMERIC, "%s score at token %zu is NaN or infinite", what,
                            t + 1);
    return TRL_OK;
}

trl_status trl_chain_check_scores(const trl_tables *s, size_t L, trl_error *err)
{
    static const char *const what[TRL_FAMILIES] = {"a label", "a label pair", "a label triple"};
    size_t width = L;
    for (size_t f = 0; f < TRL_FAMILIES; f++, width *= L)
        for (size_t t = f; s->row[f] && t < s->n; t++) {
            const trl_status st = check_row(s->row[f] + t * s->step[f], width, t, what[f], err);
            if (st != TRL_OK)
                return st;
        }
    for (size_t t = 1; s->chain.pairs && t < s->n; t++) {
        const size_t set = s->chain.set[t];
        const trl_status st =
            check_row(s->chain.pairs->score + s->chain.pairs->begin[set],
                      trl_pair_set_size(s->chain.pairs, set), t, what[TRL_EDGE], err);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

static void forward1(log_lattice *g)
{
    const size_t L = g->L;
    for (size_t t = 0; t < g->T; t++) {
        for (size_t j = 0; j < L; j++) {
            for (size_t i = 0; t && i < L; i++)
                g->sum[i] = g->A[(t - 1) * L + i] + trl_edge_at(g->c, g->s, t, i, j);
            g->A[t * L + j] = node_at(g, t, j) + (t ? trl_logsumexp(L, g->sum) : 0.0);
        }
        g->shift += take_maximum(g->A + t * L, L);
    }
}

static void backward1(log_lattice *g)
{
    const size_t L = g->L;
    for (size_t t = g->T; t-- > 0;) {
        for (size_t i = 0; i < L; i++) {
            for (size_t j = 0; t + 1 < g->T && j < L; j++)
                g->sum[j] = trl_edge_at(g->c, g->s, t + 1, i, j) + node_at(g, t + 1, j) +
                            g->B[(t + 1) * L + j];
            g->B[t * L + i] = t + 1 < g->T ? trl_logsumexp(L, g->sum) : 0.0;
        }
        take_maximum(g->B + t * L, L);
    }
}

static void forward2(log_lattice *g)
{
    const size_t L = g->L, Q = g->Q;
    for (size_t j = 0; j < L; j++)
        g->A[j] = enter(g, 0, 0, j);
    g->shift += take_maximum(g->A, L);
    for (size_t t = 1; t < g->T; t++) {
        for (size_t i = 0; i < L; i++)
            for (size_t j = 0; j < L; j++) {
                double before = g->A[i];
                if (t > 1) {
                    for (size_t h = 0; h < L; h++)
                        g->sum[h] =
                            g->A[(t - 1) * Q + h * L + i] + trl_tri_at(g->c, g->s, t, h, i, j);
                    before = trl_logsumexp(L, g->sum);
                }
                g->A[t * Q + i * L + j] = enter(g, t, i, j) + before;
            }
        g->shift += take_maximum(g->A + t * Q, Q);
    }
}

static void backward2(log_lattice *g)
{
    const size_t L = g->L, Q = g->Q;
    for (size_t k = 0; k < Q; k++)
        g->B[(g->T - 1) * Q + k] = 0.0;
    for (size_t t = g->T - 1; t > 1; t--) {
        for (size_t h = 0; h < L; h++)
            for (size_t i = 0; i < L; i++) {
                for (size_t j = 0; j < L; j++)
                    g->sum[j] = trl_tri_at(g->c, g->s, t, h, i, j) + enter(g, t, i, j) +
                                g->B[t * Q + i * L + j];
                g->B[(t - 1) * Q + h * L + i] = trl_logsumexp(L, g->sum);
            }
        take_maximum(g->B + (t - 1) * Q, Q);
    }
}

/* Node marginals from the states, and pair rows in order 2. */
static void state_marginals(const log_lattice *g, size_t S, double *node, double *edge, size_t step)
{
    const size_t L = g->L, Q = g->Q;
    const bool second = g->c->order == 2;
    memset(node, 0, g->T * S * sizeof *node);
    for (size_t t = 0; t < g->T && (!second || g->T == 1); t++) {
        for (size_t j = 0; j < L; j++)
            node[t * S + j] = g->A[t * Q + j] + (second ? 0.0 : g->B[t * Q + j]);
        normalise(node + t * S, L);
    }
    for (size_t t = 1; t < g->T && second; t++) {
        double *row = edge + t * step;
        for (size_t k = 0; k < Q; k++)
            row[k] = g->A[t * Q + k] + g->B[t * Q + k];
        normalise(row, Q);
        for (size_t k = 0; k < Q; k++) {
            node[t * S + k % L] += row[k];
            if (t == 1)
                node[k / L] += row[k];
        }
    }
}

/* Rows of the highest family: pairs in order 1, triples in order 2. */
static void clique_rows(const log_lattice *g, double *out, size_t step)
{
    const size_t L = g->L, Q = g->Q, from = (size_t)g->c->order;
    for (size_t t = from; t < g->T; t++) {
        for (size_t h = 0; h < (from == 2 ? L : 1); h++)
            for (size_t i = 0; i < L; i++)
                for (size_t j = 0; j < L; j++) {
                    const double a = g->A[(t - 1) * Q + (from == 2 ? h * L + i : i)];
                    const double b = g->B[t * Q + (from == 2 ? i * L + j : j)];
                    const double tri = from == 2 ? trl_tri_at(g->c, g->s, t, h, i, j) : 0.0;
                    out[t * step + (h * L + i) * L + j] = a + tri + enter(g, t, i, j) + b;
                }
        normalise(out + t * step, (from == 2 ? L : 1) * L * L);
    }
}

/* Rows from .. T-1 of a family. */
typedef struct row_block {
    size_t T;
    size_t from;
    size_t width;
    size_t step;
} row_block;

/* total[k] += weight * sum over rows from `from` on. */
static void add_rows(const row_block *x, const double *rows, double weight, double *total)
{
    for (size_t t = x->from; t < x->T; t++)
        for (size_t k = 0; k < x->width; k++)
            total[k] += weight * rows[t * x->step + k];
}

static trl_status marginals(const trl_chain_call *call, log_lattice *g, double log_z,
                            trl_chain_marginals *out, trl_chain_sums *sums, trl_error *err)
{
    const size_t T = g->T, L = g->L, S = g->c->stride;
    const size_t edge_step = trl_padded(L * L), tri_step = trl_padded(L * L * L);
    const bool second = g->c->order == 2;
    double *node = trl_arena_get(call->arena, T * S, sizeof(double));
    double *edge = trl_arena_get(call->arena, T, edge_step * sizeof(double));
    double *tri = second ? trl_arena_get(call->arena, T, tri_step * sizeof(double)) : NULL;
    if (!node || !edge || (second && !tri))
        return trl_fail_mem(err);
    memset(edge, 0, T * edge_step * sizeof *edge);
    if (tri)
        memset(tri, 0, T * tri_step * sizeof *tri);
    state_marginals(g, S, node, edge, edge_step);
    clique_rows(g, second ? tri : edge, second ? tri_step : edge_step);
    if (call->want & TRL_WANT_SUMS) {
        add_rows(&(row_block){.T = T, .from = 1, .width = L * L, .step = edge_step}, edge,
                 call->weight, sums->edge);
        if (second)
            add_rows(&(row_block){.T = T, .from = 2, .width = L * L * L, .step = tri_step}, tri,
                     call->weight, sums->tri);
    }
    *out = (trl_chain_marginals){.log_z = log_z, .node = node};
    if (call->want & TRL_WANT_EDGE_ROWS) {
        out->edge = edge;
        out->tri = tri;
    }
    return TRL_OK;
}

trl_status trl_chain_log(const trl_chain_call *call, trl_chain_marginals *out, trl_chain_sums *sums,
                         trl_error *err)
{
    const size_t T = call->s->n, L = call->c->L;
    log_lattice g = {.c = call->c, .s = call->s, .T = T, .L = L};
    g.Q = call->c->order == 1 ? L : L * L;
    g.A = trl_arena_get(call->arena, T, g.Q * sizeof(double));
    g.B = trl_arena_get(call->arena, T, g.Q * sizeof(double));
    g.sum = trl_arena_get(call->arena, L, sizeof(double));
    g.top = trl_arena_get(call->arena, T, sizeof(double));
    if (!g.A || !g.B || !g.sum || !g.top)
        return trl_fail_mem(err);
    const trl_status st = trl_chain_check_scores(call->s, L, err);
    if (st != TRL_OK)
        return st;
    find_tops(&g);
    if (call->c->order == 1)
        forward1(&g);
    else
        forward2(&g);
    const size_t final = call->c->order == 2 && T > 1 ? L * L : L;
    const double log_z = g.shift + trl_logsumexp(final, g.A + (T - 1) * g.Q);
    if (!isfinite(log_z))
        return trl_fail(err, TRL_ENUMERIC,
                        log_z > 0.0 || isnan(log_z) ? "the scores are too large for a sum"
                                                    : "every labelling is forbidden");
    if (call->want & TRL_WANT_LOG_Z_ONLY) {
        *out = (trl_chain_marginals){.log_z = log_z};
        return TRL_OK;
    }
    if (call->c->order == 1)
        backward1(&g);
    else if (T > 1)
        backward2(&g);
    return marginals(call, &g, log_z, out, sums, err);
}
