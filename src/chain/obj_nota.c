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
 * Sources as in term.h.  START at t = 0 is a source with the outcome NOTA, and never wrong; in
 * order 2 the sources from t = 2 on are pairs and all but the gold pair are wrong, L^2 - 1 of them
 * (also those with the right y_{t-1}: the model must tell those apart, too).  N_t comes with the
 * example (trl_nota_view).  Where the corpus has no instance at all there is no outcome NOTA, and
 * the model is the MEMM; where some other sequence has one, the 1 stands in every normaliser.
 *
 * Few instances: a row of exponentials each.  Many, and only nodes depend on the position: with
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
#include "chain/term.h"
#include "num/matrix_kernel.h"
#include "num/vexp.h"

#define MAX_SHIFT 500.0  /* |m_t + shift| within which exp and products are safe */
#define DENSE_FROM 8     /* instances per L sources from which all sources at once is faster */

/* ---- few instances ------------------------------------------------------------------ */

static uint64_t word_at(const trl_chain_example *x, size_t t, size_t Q, size_t k)
{
    const uint64_t valid = Q - k * 64 < 64 ? ((uint64_t)1 << (Q - k * 64)) - 1 : ~(uint64_t)0;
    return valid & (x->nota.all ? ~(uint64_t)0 : x->nota.bits[t * x->nota.words + k]);
}

/* sum over q in N_t + {source_t} of log(1 + Z_t(q)); adjoint added. */
static double position_log(const trl_chain_example *x, trl_term *m, size_t t, double *p)
{
    const size_t Q = trl_sources(x->chain, t), gold = trl_gold_source(x->chain, x->gold, t);
    trl_term_source(m, t, gold);
    double sum = trl_rows_term(m->L, m->n, m->line, x->nota.any, true, x->weight, p);
    if (t == 0 || !x->nota.any)
        return sum;
    for (size_t k = 0; k * 64 < Q; k++)
        for (uint64_t set = word_at(x, t, Q, k); set; set &= set - 1) {
            const size_t q = k * 64 + (size_t)__builtin_ctzll(set);
            if (q == gold)
                continue;
            trl_term_source(m, t, q);
            sum += trl_rows_term(m->L, m->n, m->line, true, false, x->weight, p);
        }
    return sum;
}

/* ---- many --------------------------------------------------------------------------- */

typedef struct nota_work {
    double *psi;   /* [T][S] */
    double *shift; /* [T] m_t + shift */
    double *a;     /* [T][S] weight / (exp(-shift_t) + Z), 0 for sources not in N_t */
    double *back;  /* [T][S] sum over sources of a E */
    double *z, *y; /* [S] */
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
    return n * DENSE_FROM > sources;
}

static bool work_get(const trl_chain_example *x, nota_work *w)
{
    const size_t T = x->scores->n, S = x->chain->stride;
    w->psi = trl_arena_get(x->arena, T * S, sizeof(double));
    w->shift = trl_arena_get(x->arena, T, sizeof(double));
    w->a = trl_arena_get(x->arena, T * S, sizeof(double));
    w->back = trl_arena_get(x->arena, T * S, sizeof(double));
    w->z = trl_arena_get(x->arena, S, sizeof(double));
    w->y = trl_arena_get(x->arena, S, sizeof(double));
    return w->psi && w->shift && w->a && w->back && w->z && w->y;
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

/* The sources with middle label i (order 1: all) at t: a_t, and log(1 + Z) of those in N_t. */
static double sources_exp(const trl_chain_example *x, nota_work *w, size_t t, size_t i)
{
    const size_t L = x->chain->L, S = x->chain->stride, second = x->chain->order == 2;
    const size_t gold = trl_gold_source(x->chain, x->gold, t);
    const double inverse = exp(-w->shift[t]);
    double *a = w->a + t * S;
    size_t n = 0;
    trl_vecmat(L, S, w->psi + t * S, x->chain->Et + i * L * S, w->z);
    memset(a, 0, S * sizeof *a);
    for (size_t h = 0; h < L; h++) {
        const size_t q = second ? h * L + i : h;
        const bool in = x->nota.all || q == gold ||
                        x->nota.bits[t * x->nota.words + q / 64] >> q % 64 & 1;
        const double z = inverse + w->z[h];
        a[h] = in ? x->weight / z : 0.0;
        w->y[n] = z;
        n += in;
    }
    return (double)n * w->shift[t] + trl_sum_log(n, w->y);
}

/* All positions from `order` on. */
static double positions_exp(const trl_chain_example *x, nota_work *w, trl_tables *adjoint,
                            trl_chain_sums *minus)
{
    const trl_chain *c = x->chain;
    const size_t T = x->scores->n, L = c->L, S = c->stride, from = (size_t)c->order;
    double sum = 0.0;
    memset(w->back, 0, T * S * sizeof *w->back);
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
    }
    return sum;
}

/* ---- the objective ------------------------------------------------------------------ */

trl_status trl_obj_nota(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                        double *value, trl_error *err)
{
    const trl_status st = trl_local_start(x, TRL_EDGE, adjoint, err);
    if (st != TRL_OK)
        return st;
    double *p = trl_arena_get(x->arena, x->chain->stride, sizeof *p);
    nota_work w;
    bool dense = is_dense(x);
    if (!p || (dense && !work_get(x, &w)))
        return trl_fail_mem(err);
    dense = dense && exponentials(x, &w);
    trl_term m = trl_term_of(x->chain, x->scores, adjoint);
    double sum = trl_chain_score(x->chain, x->scores, x->gold);
    for (size_t t = 0; t < (dense ? (size_t)x->chain->order : x->scores->n); t++)
        sum -= position_log(x, &m, t, p);
    if (dense)
        sum -= positions_exp(x, &w, adjoint, minus);
    trl_add_path(x->chain, x->gold, x->weight, adjoint);
    return trl_local_value(x, sum, value, err);
}
