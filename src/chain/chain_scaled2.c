/* chain_scaled2.c -- forward-backward of order 2 on exponentials.
 *
 * A state at t >= 1 is the pair (i, j) = (y_{t-1}, y_t).  With phi_t(i,j) = exp of node_t(j) plus,
 * when edges depend on the position, edge_t(i,j), both less their maximum, and
 * E(h,i,j) = exp(tri(h,i,j) [+ edge(i,j)] - shift):
 *
 *     alpha_1(i,j) = psi_0(i) phi_1(i,j) [exp edge(i,j)] / c_1
 *     alpha_t(i,j) = phi_t(i,j) sum_h alpha_{t-1}(h,i) E(h,i,j) / c_t
 *     v_t(i,j)     = phi_t(i,j) beta_t(i,j) / c_t
 *     beta_{t-1}(h,i) = sum_j E(h,i,j) v_t(i,j),   beta_{T-1} = 1
 *
 * For a fixed middle label i both recursions are a vector times an L x L matrix, so the kernels
 * of order 1 serve: E is stored by i, alpha and beta also transposed ([i][h]).  Triple counts
 * are sums of outer products per i, as in chain_scaled1.c.
 *
 * Two states of one position may have different middle labels, so that two steps tell them
 * apart:  alpha_t(i,j) / alpha_t(k,l) <= exp(sum of the spreads of E and phi_t, E and phi_{t-1}).
 * The sum for one step is therefore held to half of what order 1 allows.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "num/matrix_kernel.h"
#include "num/vexp.h"

typedef struct lattice2 {
    size_t T, L, S, Q; /* Q = L * S: doubles per state table [L][S] */
    double *phi;       /* [T][L][S] rows by i; becomes v */
    double *alpha;     /* [T][L][S] transposed: row j holds alpha_t(., j) */
    double *beta;      /* [T][L][S] transposed likewise */
    double *tmp;       /* [L][S] */
    double *c;         /* [T] */
    double shift;
} lattice2;

static bool lattice_get(const trl_chain_call *call, lattice2 *g)
{
    const size_t T = call->s->n, L = call->c->L, S = call->c->stride;
    *g = (lattice2){.T = T, .L = L, .S = S, .Q = L * S};
    g->phi = trl_arena_get(call->arena, T, g->Q * sizeof(double));
    g->alpha = trl_arena_get(call->arena, T, g->Q * sizeof(double));
    g->beta = trl_arena_get(call->arena, T, g->Q * sizeof(double));
    g->tmp = trl_arena_get(call->arena, g->Q, sizeof(double));
    g->c = trl_arena_get(call->arena, T, sizeof(double));
    return g->phi && g->alpha && g->beta && g->tmp && g->c;
}

/* phi_t as scores, pads 0; psi_0 (the first position has no pair) in row 0 of phi_0. */
static void state_scores(const trl_chain_call *call, const lattice2 *g, size_t t, double *out)
{
    const bool own = !call->c->edge_in_E || t == 1;
    for (size_t i = 0; i < (t ? g->L : 1); i++)
        for (size_t j = 0; j < g->S; j++)
            out[i * g->S + j] = j >= g->L
                                    ? 0.0
                                    : trl_node_at(call->s, t, j) +
                                          (t && own ? trl_edge_at(call->c, call->s, t, i, j) : 0.0);
}

static bool exponentials(const trl_chain_call *call, lattice2 *g)
{
    const size_t L = g->L, S = g->S;
    const double room = TRL_SCALED_MAX_SPREAD / 2.0 - call->c->spread;
    g->shift = g->T > 2 ? call->c->shift * (double)(g->T - 2) : 0.0;
    for (size_t t = 0; t < g->T; t++) {
        double *phi = g->phi + t * g->Q, max = -HUGE_VAL, min = HUGE_VAL;
        const size_t rows = t ? L : 1;
        state_scores(call, g, t, phi);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < L; j++) {
                const double x = phi[i * S + j];
                max = x > max ? x : max;
                min = x < min ? x : min;
            }
        if (call->zeros ? !(max > -HUGE_VAL) : !(max - min <= room))
            return false;
        trl_vexp(rows * S, phi, max, phi);
        for (size_t i = 0; S > L && i < rows; i++)
            memset(phi + i * S + L, 0, (S - L) * sizeof *phi);
        g->shift += max;
    }
    return true;
}

static void transpose(const lattice2 *g, const double *a, double *b)
{
    for (size_t i = 0; i < g->L; i++) {
        for (size_t j = 0; j < g->L; j++)
            b[i * g->S + j] = a[j * g->S + i];
        memset(b + i * g->S + g->L, 0, (g->S - g->L) * sizeof *b);
    }
}

/* Scales the table to sum 1; returns the sum. */
static double normalise(size_t n, double *x)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    for (size_t k = 0; k < n; k++)
        x[k] /= sum;
    return sum;
}

static void forward(const trl_chain *c, lattice2 *g)
{
    const size_t L = g->L, S = g->S, Q = g->Q;
    g->c[0] = 1.0;
    for (size_t t = 1; t < g->T; t++) {
        for (size_t i = 0; i < L; i++) {
            double *row = g->tmp + i * S;
            if (t > 1) {
                trl_vecmat(L, S, g->alpha + (t - 1) * Q + i * S, c->E + i * Q, row);
            } else {
                for (size_t j = 0; j < S; j++)
                    row[j] = g->phi[i];
            }
        }
        trl_multiply(Q, g->phi + t * Q, g->tmp);
        g->c[t] = normalise(Q, g->tmp);
        transpose(g, g->tmp, g->alpha + t * Q);
    }
}

static void backward(const trl_chain *c, lattice2 *g)
{
    const size_t L = g->L, S = g->S, Q = g->Q, last = g->T - 1;
    for (size_t i = 0; i < L; i++)
        for (size_t j = 0; j < S; j++)
            g->beta[last * Q + i * S + j] = j < L ? 1.0 : 0.0;
    for (size_t t = last; t >= 1; t--) {
        transpose(g, g->beta + t * Q, g->tmp); /* beta_t(i, .) */
        const double inv = 1.0 / g->c[t];
        for (size_t k = 0; k < Q; k++)
            g->phi[t * Q + k] *= g->tmp[k] * inv;
        for (size_t i = 0; t > 1 && i < L; i++)
            trl_vecmat(L, S, g->phi + t * Q + i * S, c->Et + i * Q, g->beta + (t - 1) * Q + i * S);
    }
}

/* Pair and node marginals of a sequence with T >= 2; P(y_0) comes from the first pair. */
static void pair_results(const trl_chain_call *call, const lattice2 *g, double *node, double *edge,
                         size_t step, trl_chain_sums *sums)
{
    const size_t L = g->L, S = g->S, Q = g->Q;
    const bool first_own = (call->want & TRL_WANT_SUMS) != 0;
    memset(node, 0, g->T * S * sizeof *node);
    for (size_t t = 1; t < g->T; t++) {
        const double *a = g->alpha + t * Q, *b = g->beta + t * Q;
        for (size_t j = 0; j < L; j++)
            for (size_t i = 0; i < L; i++) {
                const double p = a[j * S + i] * b[j * S + i];
                node[t * S + j] += p;
                if (t == 1)
                    node[i] += p;
                if (edge)
                    edge[t * step + i * L + j] = p;
                /* counts of later pairs come with the triples (trl_chain_sums_add) */
                if (first_own && t == 1)
                    sums->edge[i * L + j] += call->weight * p;
            }
    }
}

static void triple_rows(const trl_chain *c, const lattice2 *g, double *tri, size_t step)
{
    const size_t L = g->L, S = g->S, Q = g->Q;
    for (size_t t = 2; t < g->T; t++) {
        memset(tri + t * step + L * L * L, 0, (step - L * L * L) * sizeof *tri);
        for (size_t h = 0; h < L; h++)
            for (size_t i = 0; i < L; i++)
                for (size_t j = 0; j < L; j++)
                    tri[t * step + (h * L + i) * L + j] = g->alpha[(t - 1) * Q + i * S + h] *
                                                          c->E[i * Q + h * S + j] *
                                                          g->phi[t * Q + i * S + j];
    }
}

/* Room for what is wanted. */
static trl_status rows_get(const trl_chain_call *call, const lattice2 *g, trl_chain_marginals *out,
                           trl_error *err)
{
    const size_t T = g->T, L = g->L;
    const bool rows = (call->want & TRL_WANT_EDGE_ROWS) != 0;
    out->node = trl_arena_get(call->arena, T * g->S, sizeof(double));
    if (rows) {
        out->edge = trl_arena_get(call->arena, T, trl_padded(L * L) * sizeof(double));
        out->tri = trl_arena_get(call->arena, T, trl_padded(L * L * L) * sizeof(double));
    }
    return out->node && (!rows || (out->edge && out->tri)) ? TRL_OK : trl_fail_mem(err);
}

static trl_status results(const trl_chain_call *call, lattice2 *g, trl_chain_marginals *out,
                          trl_chain_sums *sums, trl_error *err)
{
    const size_t T = g->T, L = g->L, S = g->S, Q = g->Q;
    const size_t edge_step = trl_padded(L * L), tri_step = trl_padded(L * L * L);
    const trl_status st = rows_get(call, g, out, err);
    if (st != TRL_OK)
        return st;
    if (call->want & TRL_WANT_EDGE_ROWS) {
        for (size_t t = 0; t < T; t++)
            memset(out->edge + t * edge_step + L * L, 0, (edge_step - L * L) * sizeof(double));
        triple_rows(call->c, g, out->tri, tri_step);
    }
    pair_results(call, g, out->node, out->edge, edge_step, sums);
    if ((call->want & TRL_WANT_SUMS) && T > 2) {
        for (size_t k = 2 * Q; call->weight != 1.0 && k < T * Q; k++)
            g->phi[k] *= call->weight;
        for (size_t i = 0; i < L; i++)
            trl_outer_sum(T - 2, L, S, g->alpha + Q + i * S, Q, g->phi + 2 * Q + i * S, Q,
                          sums->outer + i * Q);
    }
    return TRL_OK;
}

/* One position: psi_0 alone. */
static trl_status single(const trl_chain_call *call, lattice2 *g, trl_chain_marginals *out,
                         trl_error *err)
{
    const trl_status st = rows_get(call, g, out, err);
    if (st != TRL_OK)
        return st;
    memcpy(out->node, g->phi, g->S * sizeof(double));
    out->log_z = log(normalise(g->S, out->node)) + g->shift;
    return TRL_OK;
}

/* With hard zeros: whether all that matters is there (engine.h).  beta is scaled so that
 * alpha . beta = 1. */
static bool nothing_lost(const lattice2 *g)
{
    for (size_t t = 1; t < g->T; t++) {
        double sum = 0.0;
        for (size_t k = 0; k < g->Q; k++)
            sum += g->beta[t * g->Q + k];
        if (!(sum * TRL_ZEROS_LEAST < 1.0) || !(g->c[t] > TRL_ZEROS_LEAST))
            return false;
    }
    return true;
}

trl_status trl_chain_scaled2(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, bool *fits, trl_error *err)
{
    lattice2 g;
    if (!lattice_get(call, &g))
        return trl_fail_mem(err);
    *fits = exponentials(call, &g);
    if (!*fits)
        return TRL_OK;
    if (g.T == 1) {
        const trl_status st = single(call, &g, out, err);
        *fits = isfinite(out->log_z);
        return st;
    }
    forward(call->c, &g);
    out->log_z = trl_sum_log(g.T, g.c) + g.shift;
    *fits = isfinite(out->log_z);
    if (!*fits || ((call->want & TRL_WANT_LOG_Z_ONLY) && !call->zeros))
        return TRL_OK;
    backward(call->c, &g);
    if (call->zeros)
        *fits = nothing_lost(&g);
    if (!*fits || (call->want & TRL_WANT_LOG_Z_ONLY))
        return TRL_OK;
    return results(call, &g, out, sums, err);
}
