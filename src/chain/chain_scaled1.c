/* chain_scaled1.c -- forward-backward of order 1 on exponentials [Rab89, sec. V.A].
 *
 * With psi_t(j) = exp(node_t(j) - m_t), m_t the row's maximum, and E = exp(edge - shift):
 *
 *     alpha_t(j) = psi_t(j) sum_i a_{t-1}(i) E(i,j),    a_t = alpha_t / c_t, c_t = sum_j alpha_t(j)
 *     beta_{t-1}(i) = sum_j E(i,j) psi_t(j) b_t(j),     b_t = beta_t / r_t,  r_t = sum_j beta_t(j)
 *
 * alpha_0 = psi_0, beta_{T-1} = 1.  The two recursions do not meet, so they run side by side in one
 * loop, from both ends: each alone waits for its own additions most of the time.  Then, with
 * d_t = a_t . b_t:
 *
 *     log Z = sum_t (log c_t + m_t) + (T-1) shift
 *     P(y_t = j) = a_t(j) b_t(j) / d_t
 *     P(y_{t-1} = i, y_t = j) = a_{t-1}(i) E(i,j) v_t(j),   v_t = psi_t b_t / (c_t d_t)
 *
 * For shared edges the last line is summed over the whole corpus before E is multiplied in: the
 * sum of outer products alpha v^T is one matrix product per sequence (trl_outer_sum).
 * Elements of a row differ by at most exp(spread of node_t + spread of edges), which is checked
 * (MAX_STEP below).
 *
 * Edges that depend on the position get their own E_t, L^2 exponentials each, unless they come as
 * sets (chain_pairs.h).
 *
 * [Rab89] Rabiner. A tutorial on hidden Markov models. Proc. IEEE 77(2), 1989.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/chain_pairs.h"
#include "chain/engine.h"
#include "num/matrix_kernel.h"
#include "num/vexp.h"

/* A step enters unscaled: its smallest element may be two steps' spreads below 1, and the
 * transition takes off a third before the factor is applied. */
#define MAX_STEP (TRL_SCALED_MAX_SPREAD / 3)

typedef struct lattice {
    const trl_tables *s;
    size_t T, L, S;
    double *psi, *alpha, *beta; /* [T][S]; in the end v, a and the marginals */
    double *c, *r;              /* [T] sums of alpha_t and beta_t */
    double *tmp;                /* [S] */
    double *own, *own_t;        /* [T][L][S] E_t and its transpose, or NULL */
    trl_pairs_work pairs;       /* with s->chain.pairs */
    double shift;               /* everything taken out before exp */
} lattice;

static bool lattice_get(const trl_chain_call *call, lattice *g)
{
    const size_t T = call->s->n, L = call->c->L, S = call->c->stride;
    *g = (lattice){.s = call->s, .T = T, .L = L, .S = S};
    g->psi = trl_arena_get(call->arena, T * S, sizeof(double));
    g->alpha = trl_arena_get(call->arena, T * S, sizeof(double));
    g->beta = trl_arena_get(call->arena, T * S, sizeof(double));
    g->c = trl_arena_get(call->arena, T, sizeof(double));
    g->r = trl_arena_get(call->arena, T, sizeof(double));
    g->tmp = trl_arena_get(call->arena, S, sizeof(double));
    if (call->s->row[TRL_EDGE]) {
        g->own = trl_arena_get(call->arena, T * L, S * sizeof(double));
        g->own_t = trl_arena_get(call->arena, T * L, S * sizeof(double));
        if (!g->own || !g->own_t)
            return false;
    }
    if (call->s->chain.pairs && !trl_pairs_work_get(call->c, call->arena, &g->pairs))
        return false;
    return g->psi && g->alpha && g->beta && g->c && g->r && g->tmp;
}

/* E_t = exp(edge + row_t - max).  False when the scores do not fit. */
static bool own_edges(const trl_chain_call *call, lattice *g, size_t t, double room)
{
    const size_t L = g->L, S = g->S;
    const double *row = call->s->row[TRL_EDGE] + t * call->s->step[TRL_EDGE];
    double *E = g->own + t * L * S, *Et = g->own_t + t * L * S;
    double max = -HUGE_VAL, min = HUGE_VAL;
    for (size_t i = 0; i < L; i++)
        for (size_t j = 0; j < L; j++) {
            const double x = call->c->edge[i * L + j] + row[i * L + j];
            E[i * S + j] = x;
            max = x > max ? x : max;
            min = x < min ? x : min;
        }
    if (call->zeros ? !(max > -HUGE_VAL) : !(max - min <= room))
        return false;
    for (size_t i = 0; i < L; i++) {
        trl_vexp(L, E + i * S, max, E + i * S);
        memset(E + i * S + L, 0, (S - L) * sizeof *E);
    }
    for (size_t j = 0; j < L; j++) {
        for (size_t i = 0; i < L; i++)
            Et[j * S + i] = E[i * S + j];
        memset(Et + j * S + L, 0, (S - L) * sizeof *Et);
    }
    g->shift += max;
    return true;
}

/* All exponentials.  False when the scores do not fit. */
static bool exponentials(const trl_chain_call *call, lattice *g)
{
    const trl_tables *s = call->s;
    const double wide = s->chain.pairs ? 2.0 * s->chain.pairs->wide : 0.0;
    const double room = MAX_STEP - (g->own ? 0.0 : call->c->spread + wide);
    double widest = 0.0;
    g->shift = g->own ? 0.0 : call->c->shift * (double)(g->T - 1);
    for (size_t t = 0; t < g->T; t++) {
        double min;
        const double *node = s->row[TRL_NODE] + t * s->step[TRL_NODE];
        const double max = trl_exp_row(g->L, node, g->psi + t * g->S, &min);
        if (!call->zeros && !(max - min <= room))
            return false;
        widest = max - min > widest ? max - min : widest;
        g->shift += max;
    }
    for (size_t t = 1; g->own && t < g->T; t++)
        if (!own_edges(call, g, t, room - widest))
            return false;
    return true;
}

/* Valid until edges_done. */
static const double *edges_at(const trl_chain *c, const lattice *g, size_t t, bool transposed)
{
    if (g->own)
        return (transposed ? g->own_t : g->own) + t * g->L * g->S;
    if (g->s->chain.pairs)
        return trl_pairs_enter(c, g->s, &g->pairs, t, transposed);
    return transposed ? c->Et : c->E;
}

static void edges_done(const trl_chain *c, const lattice *g, size_t t, bool transposed)
{
    if (g->s->chain.pairs)
        trl_pairs_leave(c, g->s, &g->pairs, t, transposed);
}

static void first_rows(lattice *g)
{
    const size_t S = g->S, last = g->T - 1;
    memcpy(g->alpha, g->psi, S * sizeof *g->alpha);
    g->c[0] = 0.0;
    for (size_t j = 0; j < g->L; j++)
        g->c[0] += g->psi[j];
    for (size_t j = 0; j < S; j++)
        g->beta[last * S + j] = j < g->L ? 1.0 : 0.0;
    g->r[last] = (double)g->L;
}

static void forward_at(const trl_chain *c, lattice *g, size_t t)
{
    const size_t S = g->S;
    g->c[t] = trl_forward_step(g->L, S, g->alpha + (t - 1) * S, edges_at(c, g, t, false),
                               1.0 / g->c[t - 1], g->psi + t * S, g->alpha + t * S);
    edges_done(c, g, t, false);
}

/* beta_{t-1} from beta_t. */
static void backward_at(const trl_chain *c, lattice *g, size_t t)
{
    const size_t S = g->S;
    g->r[t - 1] =
        trl_backward_step(g->L, S, g->psi + t * S, g->beta + t * S, edges_at(c, g, t, true),
                          1.0 / g->r[t], g->tmp, g->beta + (t - 1) * S);
    edges_done(c, g, t, true);
}

/* p_t(i,j) for one position, into cells of stride L. */
static void edge_row(const trl_chain *c, const lattice *g, size_t t, double *out)
{
    const size_t L = g->L, S = g->S;
    const double *a = g->alpha + (t - 1) * S, *v = g->psi + t * S;
    const double *E = edges_at(c, g, t, false);
    for (size_t i = 0; i < L; i++)
        for (size_t j = 0; j < L; j++)
            out[i * L + j] = a[i] * E[i * S + j] * v[j];
}

static trl_status edge_results(const trl_chain_call *call, lattice *g, trl_chain_marginals *out,
                               trl_chain_sums *sums, trl_error *err)
{
    const trl_chain *c = call->c;
    const size_t T = g->T, L = g->L, S = g->S;
    if ((call->want & TRL_WANT_EDGE_ROWS) || ((call->want & TRL_WANT_SUMS) && g->own)) {
        const size_t step = trl_padded(L * L);
        double *rows = trl_arena_get(call->arena, T * step, sizeof(double));
        if (!rows)
            return trl_fail_mem(err);
        for (size_t t = 1; t < T; t++) {
            memset(rows + t * step + L * L, 0, (step - L * L) * sizeof *rows);
            edge_row(c, g, t, rows + t * step);
            for (size_t k = 0; (call->want & TRL_WANT_SUMS) && g->own && k < L * L; k++)
                sums->edge[k] += call->weight * rows[t * step + k];
        }
        if (call->want & TRL_WANT_EDGE_ROWS)
            out->edge = rows;
    }
    if ((call->want & TRL_WANT_SUMS) && !g->own && T > 1) {
        for (size_t k = S; call->weight != 1.0 && k < T * S; k++)
            g->psi[k] *= call->weight;
        if (!call->s->chain.pairs) {
            trl_outer_sum(T - 1, L, S, g->alpha, S, g->psi + S, S, sums->outer);
            return TRL_OK;
        }
        out->set_cell = trl_pairs_cells_get(call->s, call->arena);
        if (!out->set_cell)
            return trl_fail_mem(err);
        trl_pairs_results(c, call->s, g->alpha, g->psi, sums, out->set_cell);
    }
    return TRL_OK;
}

/* With hard zeros: whether all that matters is there (engine.h).  alpha and beta are not yet
 * scaled.
 */
static bool nothing_lost(const lattice *g)
{
    double least = HUGE_VAL;
    for (size_t t = 0; t < g->T; t++) {
        const double *a = g->alpha + t * g->S, *b = g->beta + t * g->S;
        double d = 0.0;
        for (size_t j = 0; j < g->L; j++)
            d += a[j] * b[j];
        d /= g->c[t] * g->r[t];
        least = d < least ? d : least;
        least = g->c[t] < least ? g->c[t] : least;
        least = g->r[t] < least ? g->r[t] : least;
        if (!(d > TRL_ZEROS_LEAST)) /* NaN too */
            return false;
    }
    return least > TRL_ZEROS_LEAST;
}

trl_status trl_chain_scaled1(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, bool *fits, trl_error *err)
{
    lattice g;
    if (!lattice_get(call, &g))
        return trl_fail_mem(err);
    *fits = exponentials(call, &g);
    if (!*fits)
        return TRL_OK;
    const bool only = (call->want & TRL_WANT_LOG_Z_ONLY) != 0, both = !only || call->zeros;
    first_rows(&g);
    for (size_t t = 1; t < g.T; t++) {
        forward_at(call->c, &g, t);
        if (both)
            backward_at(call->c, &g, g.T - t);
    }
    out->log_z = trl_sum_log(g.T, g.c) + g.shift;
    *fits = isfinite(out->log_z); /* a NaN among the scores: the log engine finds it */
    if (*fits && call->zeros)
        *fits = nothing_lost(&g);
    if (!*fits || only)
        return TRL_OK;
    for (size_t t = 0; t < g.T; t++)
        trl_combine(g.S, g.c[t], g.r[t], g.alpha + t * g.S, g.beta + t * g.S, g.psi + t * g.S);
    const trl_status st = edge_results(call, &g, out, sums, err);
    out->node = g.beta;
    return st;
}
