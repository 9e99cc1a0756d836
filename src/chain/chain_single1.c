/* chain_single1.c -- forward-backward of order 1 in single precision, for training.
 *
 * The recursions of chain_scaled1.c in floats, but with rows scaled by powers of two
 * (num/single_kernel.h), so that log Z is the logarithm of one float plus integers times log 2 plus
 * the scores' maxima in double.  Writing a_t = scale_t alpha_t, whose sum is in [1, 2), and
 * d_t = alpha_t . beta_t:
 *
 *     P(y_t = j) = alpha_t(j) beta_t(j) / d_t
 *     P(y_{t-1} = i, y_t = j) = a_{t-1}(i) E(i,j) psi_t(j) beta_t(j) / d_t
 *
 * Range.  Let S be the spread of the edges and N that of node_t; N + 3 S + log L <= 84 is checked.
 * E and psi are at most 1, E at least exp(-S), psi_t at least exp(-N) and 1 somewhere.  Rows scaled
 * sum to at least 1; elements of one beta_t differ by exp(S) at most, so that the scaled ones are
 * at least exp(-S) / L.  Hence
 *
 *     exp(-N - S)    <=  alpha_t(j)  <= 2,        max_j alpha_t(j) >= exp(-S)
 *     exp(-2 S) / L  <=  beta_t(j)   <= 2
 *
 * and all products that enter sums, alpha_{t-1}(i) E(i,j), E(i,j) psi_t(j) beta_t(j) and
 * alpha_t(j) beta_t(j), are at least exp(-N - 3 S) / L >= exp(-84).  d_t is at least exp(-3 S) / L,
 * so that 1 / d_t <= exp(84); psi_t beta_t / d_t = P / (sum_i a_{t-1} E) <= exp(S), and its product
 * with scale_{t-1} <= 2 exp(S) has room.  Marginals below exp(-84) may vanish.  Floats are normal
 * from exp(-87.3) to exp(88.7), which leaves a factor of 20 for rounding and the powers of two.
 *
 * Accuracy.  psi, E and each sum of positive terms are rounded by some 2^-24.  The rounding error
 * of E is the same for the whole corpus, so it would not average out in the objective: log Z gets
 * back sum_ij (E - E rounded) d log Z / d E, which comes with the sums.  Near the optimum of
 * CoNLL-2000 this takes the scatter of the objective about that in double from 1e-7 to 3e-9 of it,
 * which is what line searches see; a nearly constant -6e-8 remains.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "num/simd.h"
#include "num/single_kernel.h"

/* 3 S + log L. */
static double range_of_edges(const trl_chain *c)
{
    return 3.0 * c->spread + log((double)c->L);
}

static bool lattice_get(const trl_chain_call *call, trl_single_lattice *g, float **part,
                        double **node)
{
    const size_t T = call->s->n, S = call->c->stride;
    *g = (trl_single_lattice){.T = T, .n = call->c->L, .stride = S};
    g->E = call->c->single_E;
    g->Et = call->c->single_Et;
    g->psi = trl_arena_get(call->arena, T * S, sizeof(float));
    g->alpha = trl_arena_get(call->arena, T * S, sizeof(float));
    g->beta = trl_arena_get(call->arena, T * S, sizeof(float));
    g->q = trl_arena_get(call->arena, T * S, sizeof(float));
    g->scale = trl_arena_get(call->arena, T, sizeof(float));
    *part = trl_arena_get(call->arena, g->n * S, sizeof(float));
    *node = call->node ? call->node : trl_arena_get(call->arena, T * S, sizeof(double));
    return g->psi && g->alpha && g->beta && g->q && g->scale && *part && *node;
}

bool trl_chain_single_serves(const trl_chain_call *call)
{
    return call->c->single_E && range_of_edges(call->c) <= TRL_SINGLE_RANGE &&
           !call->s->row[TRL_EDGE] && !call->s->chain.pairs &&
           !(call->want & (TRL_WANT_EDGE_ROWS | TRL_WANT_LOG_Z_ONLY));
}

trl_status trl_chain_single1(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, bool *fits, trl_error *err)
{
    trl_single_lattice g;
    const trl_tables *s = call->s;
    float *part;
    double *node, low;
    if (!lattice_get(call, &g, &part, &node))
        return trl_fail_mem(err);
    const double shift =
        trl_single_exp_rows(g.T, g.n, s->row[TRL_NODE], s->step[TRL_NODE], g.psi, &low) +
        call->c->shift * (double)(g.T - 1);
    *fits = -low + range_of_edges(call->c) <= TRL_SINGLE_RANGE;
    if (!*fits)
        return TRL_OK;
    double log_z = trl_single_sweep(&g) + shift;
    *fits = isfinite(log_z); /* a NaN among the scores: the log engine finds it */
    if (!*fits)
        return TRL_OK;
    trl_single_combine(&g, call->node ? -call->weight : 1.0, node);
    if ((call->want & TRL_WANT_SUMS) && g.T > 1)
        log_z += trl_single_outer_sum(g.T - 1, g.n, g.stride, g.alpha, g.q + g.stride, call->weight,
                                      call->c->single_rest, part, sums->outer);
    out->log_z = log_z;
    out->node = call->node ? NULL : node;
    return TRL_OK;
}
