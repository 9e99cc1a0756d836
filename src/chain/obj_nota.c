/* obj_nota.c -- piecewise training with none-of-the-above instances, CRF-PT [SM05b, eq. 6].
 *
 *     value = sum_t [ log p(y_t | source_t) + sum over wrong sources q in N_t of log p(NOTA | q) ]
 *
 *     p(y | q) = exp s_t(q, y) / (1 + Z_t(q)),   p(NOTA | q) = 1 / (1 + Z_t(q)),
 *     Z_t(q) = sum_y exp s_t(q, y)
 *
 * NOTA is one more outcome of every source, its score fixed at 0.  As only the normalisers tell
 * the sources apart,
 *
 *     value = s(y) - sum_t sum over q in N_t + {source_t} of log(1 + Z_t(q))
 *     d value / d s_t(q, y) = [gold cell] - [q in N_t + {source_t}] exp s_t(q, y) / (1 + Z_t(q))
 *
 * and with all wrong sources in N_t the normaliser is the paper's product over all of them.
 *
 * Sources as in local_term.h.  START at t = 0 is a source with the outcome NOTA, and never wrong;
 * in order 2 the sources from t = 2 on are pairs and all but the gold pair are wrong, L^2 - 1 of
 * them (also those with the right y_{t-1}: the model must tell those apart, too).  N_t comes with
 * the example (trl_nota_view).  Where the corpus has no instance at all there is no outcome NOTA,
 * and the model is the MEMM; where some other sequence has one, the 1 stands in every normaliser.
 *
 * Few instances: a row each (local_term.h).  Many, and only nodes depend on the position: with
 * psi_t = exp(node_t - m_t) and E of the chain, Z_t = exp(m_t + shift) E psi_t for all sources at
 * once, and the adjoint is the sum of outer products of 1 / (exp(-m_t - shift) + E psi_t), 0 for
 * sources not in N_t, with psi_t: forward-backward's kernels, and no recursion.
 *
 * [SM05b] Sutton, McCallum. Fast, piecewise training for discriminative finite-state and parsing
 *         models. CIIR report IR-403, 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "chain/local_term.h"
#include "num/matrix_kernel.h"
#include "num/vexp.h"

#define MAX_SHIFT 500.0 /* |m_t + shift| within which exp and products are safe */
#define DENSE_FROM 0.4  /* share of instances from which all sources at once is faster */

/* ---- few instances --------------------------------------------------------------------------- */

static uint64_t word_at(const trl_chain_example *x, size_t t, size_t Q, size_t k)
{
    const uint64_t valid = Q - k * 64 < 64 ? ((uint64_t)1 << (Q - k * 64)) - 1 : ~(uint64_t)0;
    return valid & (x->nota.all ? ~(uint64_t)0 : x->nota.bits[t * x->nota.words + k]);
}

/* log(1 + Z_t(q)) of all q in N_t + {source_t}; returns s_t(gold). */
static double position_few(const trl_chain_example *x, trl_source_sum *s, size_t t)
{
    const size_t Q = trl_sources(x->chain, t), gold = trl_gold_source(x->chain, x->gold, t);
    const double score = trl_source_sum_gold(s, t, x->nota.any);
    if (t == 0 || !x->nota.any)
        return score;
    for (size_t k = 0; k * 64 < Q; k++)
        for (uint64_t set = word_at(x, t, Q, k); set; set &= set - 1) {
            const size_t q = k * 64 + (size_t)__builtin_ctzll(set);
            if (q != gold)
                trl_source_sum_more(s, t, q, true);
        }
    return score;
}

/* ---- many ------------------------------------------------------------------------------------ */

typedef struct nota_work {
    double *psi;   /* [T][S] */
    double *shift; /* [T] m_t + shift */
    double *a;     /* [T][S] weight / (exp(-shift_t) + E psi), 0 for sources not in N_t */
    double *back;  /* [T][S] sum over sources of a E */
    double *keep;  /* [S] 1 for sources in N_t */
    double *y;     /* [S] */
} nota_work;

static bool is_dense(const trl_chain_example *x)
{
    const size_t T = x->scores->n;
    if (!x->nota.any || !trl_shared_only(x) || T <= (size_t)x->chain->order)
        return false;
    size_t n = 0, sources = 0;
    for (size_t t = (size_t)x->chain->order; t < T; t++) {
        const size_t Q = trl_sources(x->chain, t);
        sources += Q;
        for (size_t k = 0; k * 64 < Q; k++)
            n += (size_t)__builtin_popcountll(word_at(x, t, Q, k));
    }
    return (double)n > DENSE_FROM * (double)sources;
}

static bool work_get(const trl_chain_example *x, nota_work *w)
{
    const size_t T = x->scores->n, S = x->chain->stride;
    w->psi = trl_arena_get(x->arena, T * S, sizeof(double));
    w->shift = trl_arena_get(x->arena, T, sizeof(double));
    w->a = trl_arena_get(x->arena, T * S, sizeof(double));
    w->back = trl_arena_get(x->arena, T * S, sizeof(double));
    w->keep = trl_arena_get(x->arena, S, sizeof(double));
    w->y = trl_arena_get(x->arena, S, sizeof(double));
    return w->psi && w->shift && w->a && w->back && w->keep && w->y;
}

/* psi and shift from `order` on; false when a shift is out of bounds or not a number. */
static bool exponentials(const trl_chain_example *x, nota_work *w)
{
    const size_t S = x->chain->stride;
    for (size_t t = (size_t)x->chain->order; t < x->scores->n; t++) {
        double min;
        const double *node = x->scores->row[TRL_NODE] + t * x->scores->step[TRL_NODE];
        w->shift[t] = x->chain->shift + trl_exp_row(x->chain->L, node, w->psi + t * S, &min);
        if (!(fabs(w->shift[t]) <= MAX_SHIFT))
            return false;
    }
    return true;
}

/* 1 for the sources with middle label i (order 1: all) that are in N_t + {source_t}. */
static void mark_sources(const trl_chain_example *x, size_t t, size_t i, double *keep)
{
    const size_t L = x->chain->L, gold = trl_gold_source(x->chain, x->gold, t);
    for (size_t h = 0; h < x->chain->stride; h++) {
        const size_t q = x->chain->order == 2 ? h * L + i : h;
        const bool in = h < L && (x->nota.all || q == gold ||
                                  x->nota.bits[t * x->nota.words + q / 64] >> q % 64 & 1);
        keep[h] = in ? 1.0 : 0.0;
    }
}

/* Those sources at t: a_t, and the sum of log(1 + Z) over them. */
static double sources_exp(const trl_chain_example *x, nota_work *w, size_t t, size_t i)
{
    const size_t L = x->chain->L, S = x->chain->stride;
    double *a = w->a + t * S, n = 0.0;
    if (!x->nota.all)
        mark_sources(x, t, i, w->keep);
    for (size_t h = 0; h < L; h++)
        n += w->keep[h];
    trl_vecmat(L, S, w->psi + t * S, x->chain->Et + i * L * S, a);
    const double sum = trl_nota_sources(S, exp(-w->shift[t]), w->keep, a);
    for (size_t h = 0; x->weight != 1.0 && h < L; h++)
        a[h] *= x->weight;
    return n * w->shift[t] + sum;
}

/* The same for all positions from `order` on. */
static double positions_exp(const trl_chain_example *x, nota_work *w, trl_term *m,
                            trl_tables *adjoint, trl_chain_sums *minus, trl_log_sum *z)
{
    const trl_chain *c = x->chain;
    const size_t T = x->scores->n, L = c->L, S = c->stride, from = (size_t)c->order;
    double sum = 0.0, score = 0.0;
    memset(w->back, 0, T * S * sizeof *w->back);
    if (x->nota.all)
        mark_sources(x, from, 0, w->keep);
    for (size_t i = 0; i < (c->order == 2 ? L : 1); i++) {
        for (size_t t = from; t < T; t++) {
            sum += sources_exp(x, w, t, i);
            trl_vecmat(L, S, w->a + t * S, c->E + i * L * S, w->y);
            for (size_t j = 0; j < S; j++)
                w->back[t * S + j] += w->y[j];
        }
        if (isfinite(sum))
            trl_outer_sum(T - from, L, S, w->a + from * S, S, w->psi + from * S, S,
                          minus->outer + i * L * S);
    }
    for (size_t t = from; t < T; t++) {
        double *node = adjoint->row[TRL_NODE] + t * adjoint->step[TRL_NODE];
        for (size_t j = 0; j < S; j++)
            node[j] = -w->psi[t * S + j] * w->back[t * S + j];
        trl_term_source(m, t, trl_gold_source(c, x->gold, t));
        score += trl_term_gold(m, x->gold[t], x->weight);
    }
    z->sum += sum;
    return score;
}

/* ---- the objective --------------------------------------------------------------------------- */

trl_status trl_obj_nota(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                        double *value, trl_error *err)
{
    trl_source_sum s;
    trl_status st = trl_local_start(x, TRL_EDGE, adjoint, err);
    if (st == TRL_OK)
        st = trl_source_sum_init(&s, x, adjoint, minus, err);
    if (st != TRL_OK)
        return st;
    nota_work w;
    bool dense = is_dense(x);
    if (dense && !work_get(x, &w))
        return trl_fail_mem(err);
    dense = dense && exponentials(x, &w);
    double score = 0.0;
    for (size_t t = 0; t < (dense ? (size_t)x->chain->order : x->scores->n); t++)
        score += position_few(x, &s, t);
    if (dense)
        score += positions_exp(x, &w, &s.m, adjoint, minus, &s.z);
    return trl_local_value(x, score - trl_log_sum_value(&s.z), value, err);
}
