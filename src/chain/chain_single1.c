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
 * Range.  Let S be the spread of the edges and N_t that of node_t; all N_t + S <= MAX_STEP = 36 is
 * checked, and there are fewer than exp(11.1) labels.  E and psi are at most 1, E at least exp(-S),
 * psi_t at least exp(-N_t) and 1 somewhere.  As a_{t-1} sums to at least 1, and the scaled beta_t
 * likewise,
 *
 *     exp(-36) <= alpha_t(j), beta_t(j) <= 2,     max_j alpha_t(j) >= exp(-S),
 *     exp(-72) <= alpha_{t-1}(i) E(i,j),  E(i,j) psi_t(j) beta_t(j),  alpha_t(j) beta_t(j),  d_t
 *
 * The factor 1 / d_t is at most exp(72); psi_t beta_t / d_t = P / (a_{t-1} E) is, for the largest
 * a_{t-1}, at most exp(11.1 + S), and its product with scale_{t-1} <= 2 exp(S) at most exp(84).
 * Floats are normal from exp(-87.3) to exp(88.7).
 *
 * Accuracy.  A score x below its row's maximum is rounded by up to x 2^-25, E and each sum of
 * positive terms by some 2^-24.  What E lost is the same all over the corpus, so it would not
 * average out in the objective: log Z gets back sum_ij (E - E rounded) d log Z / d E, which comes
 * with the sums.  On CoNLL-2000 this takes the noise of the objective from 2e-7 to some 1e-8 of it.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "num/simd.h"
#include "num/single_kernel.h"

#define MAX_STEP TRL_SINGLE_MAX_SPREAD

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
    *node = trl_arena_get(call->arena, T * S, sizeof(double));
    return g->psi && g->alpha && g->beta && g->q && g->scale && *part && *node;
}

bool trl_chain_single_serves(const trl_chain_call *call)
{
    return call->c->single_E && call->c->spread <= MAX_STEP && !call->s->row[TRL_EDGE] &&
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
    *fits = -low + call->c->spread <= MAX_STEP;
    if (!*fits)
        return TRL_OK;
    double log_z = trl_single_sweep(&g) + shift;
    *fits = isfinite(log_z); /* a NaN among the scores: the log engine finds it */
    if (!*fits)
        return TRL_OK;
    trl_single_combine(&g, node);
    if ((call->want & TRL_WANT_SUMS) && g.T > 1)
        log_z += trl_single_outer_sum(g.T - 1, g.n, g.stride, g.alpha, g.q + g.stride,
                                      call->weight, call->c->single_rest, part, sums->outer);
    out->log_z = log_z;
    out->node = node;
    return TRL_OK;
}
