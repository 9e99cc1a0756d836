/* obj_piecewise.c -- piecewise training: every factor its own normalised model [SM05, eq. 13].
 *
 *     value = sum_t [ s_t(gold) - A_t ],   A_t = log sum over all assignments of exp s_t(.)
 *     d value / d score = [gold cell] - exp(s_t - A_t)
 *
 * The pieces are the factors s_t of local_term.h, each cell of the tables in exactly one: node_0
 * alone; the pair (y', y) with node_t in it; in order 2, from t = 2 on, the triple with node_t and
 * edge_t in it.  The value bounds the likelihood from below on every sequence (Proposition 1: the
 * product of the pieces' sums has all terms of Z, and more), and equals it for one token.
 *
 * Where only nodes depend on the position, with psi_t = exp(node_t - max) and E = exp(shared
 * scores - shift) of the chain:
 *
 *     exp A_t ~ sum_y psi_t(y) C(y),   C(y) = sum over sources of E(source, y)
 *     sum_t P_t(source, y) = E(source, y) sum_t psi_t(y) / sum_y' psi_t(y') C(y')
 *
 * so that a token costs O(L), and the sums over sources are done once per sequence.  As psi
 * reaches 1 and C >= exp(-600), nothing underflows that matters.
 *
 * [SM05] Sutton, McCallum. Piecewise training for undirected models. UAI 2005.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/local_term.h"
#include "num/matrix_kernel.h"
#include "num/vexp.h"

/* A_t in log space, an exponential per cell; its adjoint added.  X: [sources][S]. */
static double piece_log(const trl_chain_example *x, trl_term *m, size_t t, double *X)
{
    const size_t Q = trl_sources(x->chain, t), L = x->chain->L, S = x->chain->stride;
    for (size_t q = 0; q < Q; q++) {
        trl_term_source(m, t, q);
        trl_lines_sum(L, m->n, m->line, 0.0, X + q * S);
    }
    const double z = trl_softmax(Q * S, X, false);
    for (size_t q = 0; q < Q; q++) {
        trl_term_source(m, t, q);
        trl_lines_add(L, m->n, m->line, -x->weight, X + q * S);
    }
    return z;
}

/* The sum of A_t over t >= order, on exponentials.  False when memory ran out. */
static bool pieces_exp(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                       double *sum)
{
    const trl_chain *c = x->chain;
    const size_t T = x->scores->n, L = c->L, S = c->stride, Q = c->order == 1 ? L : L * L;
    double *ones = trl_arena_get(x->arena, Q, sizeof *ones);
    double *C = trl_arena_get(x->arena, S, sizeof *C);
    double *psi = trl_arena_get(x->arena, S, sizeof *psi);
    double *r = trl_arena_get(x->arena, S, sizeof *r);
    if (!ones || !C || !psi || !r)
        return false;
    for (size_t q = 0; q < Q; q++)
        ones[q] = 1.0;
    for (size_t j = 0; j < S; j++)
        r[j] = 0.0;
    trl_vecmat(Q, S, ones, c->E, C);
    for (size_t t = (size_t)c->order; t < T; t++) {
        const size_t at = t * x->scores->step[TRL_NODE];
        double min;
        const double max = trl_exp_row(L, x->scores->row[TRL_NODE] + at, psi, &min);
        *sum += max + c->shift;
        if (isfinite(max))
            *sum += log(trl_exp_piece(S, x->weight, psi, C, adjoint->row[TRL_NODE] + at, r));
    }
    if (isfinite(*sum))
        trl_outer_sum(1, Q, S, ones, Q, r, S, minus->outer);
    return true;
}

trl_status trl_obj_piecewise(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                             double *value, trl_error *err)
{
    const size_t T = x->scores->n, order = (size_t)x->chain->order;
    const bool fast = trl_shared_only(x) && T > order;
    const trl_status st = trl_local_start(x, TRL_NODE, adjoint, err);
    if (st != TRL_OK)
        return st;
    const size_t most = fast ? order - 1 : T - 1; /* the last position done in log space */
    double *X = trl_arena_get(x->arena, trl_sources(x->chain, most), x->chain->stride * sizeof *X);
    if (!X)
        return trl_fail_mem(err);
    trl_term m = trl_term_of(x->chain, x->scores, adjoint);
    double sum = 0.0;
    for (size_t t = 0; t <= most; t++)
        sum += piece_log(x, &m, t, X);
    if (fast && !pieces_exp(x, adjoint, minus, &sum))
        return trl_fail_mem(err);
    trl_add_path(x->chain, x->gold, x->weight, adjoint);
    return trl_local_value(x, trl_chain_score(x->chain, x->scores, x->gold) - sum, value, err);
}
