/* chain_factors.c -- a chain as a list of factors, for objectives that are written over these.
 *
 * The factors are s_t of local_term.h: node_0; then pairs with the node of their second label; in
 * order 2, from t = 2 on, triples with the node and the pair in them.  Each cell of the score
 * tables is in one factor.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "chain/local_term.h"
#include "num/simd.h"

typedef struct factors {
    trl_scored_factor *factor; /* [T] */
    uint32_t *variable;        /* [T] 0, 1, ..: those of factor t end with t */
    uint32_t *labels;          /* [T] L */
    double *score, *adjoint;
} factors;

static bool get(const trl_chain_example *x, factors *f)
{
    const size_t T = x->scores->n;
    size_t cells = 0;
    for (size_t t = 0; t < T; t++)
        cells += trl_sources(x->chain, t) * x->chain->L;
    f->factor = trl_arena_get(x->arena, T, sizeof *f->factor);
    f->variable = trl_arena_get(x->arena, T, sizeof *f->variable);
    f->labels = trl_arena_get(x->arena, T, sizeof *f->labels);
    f->score = trl_arena_get(x->arena, cells + TRL_LANES, sizeof *f->score);
    f->adjoint = trl_arena_get(x->arena, cells, sizeof *f->adjoint);
    return f->factor && f->variable && f->labels && f->score && f->adjoint;
}

/* Factor t, with its first cell at `at`.  The pads of a source are overwritten by the next. */
static void make(const trl_chain_example *x, trl_term *m, size_t t, size_t at, factors *f)
{
    const size_t L = x->chain->L, Q = trl_sources(x->chain, t);
    const size_t before = t < (size_t)x->chain->order ? t : (size_t)x->chain->order;
    for (size_t q = 0; q < Q; q++) {
        trl_term_source(m, t, q);
        trl_lines_sum(L, m->n, m->line, 0.0, f->score + at + q * L);
    }
    memset(f->adjoint + at, 0, Q * L * sizeof *f->adjoint);
    f->variable[t] = (uint32_t)t;
    f->labels[t] = (uint32_t)L;
    f->factor[t] =
        (trl_scored_factor){.score = f->score + at,
                            .adjoint = f->adjoint + at,
                            .n_cells = Q * L,
                            .gold = trl_gold_source(x->chain, x->gold, t) * L + x->gold[t],
                            .n_variables = before + 1,
                            .variable = f->variable + t - before};
}

trl_status trl_obj_by_factors(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err)
{
    const size_t T = x->scores->n, L = x->chain->L;
    factors f;
    (void)minus;
    trl_status st = trl_local_start(x, TRL_NODE, adjoint, err);
    if (st == TRL_OK && !get(x, &f))
        st = trl_fail_mem(err);
    if (st != TRL_OK)
        return st;
    trl_term m = trl_term_of(x->chain, x->scores, adjoint);
    for (size_t t = 0, at = 0; t < T; at += f.factor[t++].n_cells)
        make(x, &m, t, at, &f);
    const trl_factor_view view = {.n = T,
                                  .n_variables = T,
                                  .factor = f.factor,
                                  .labels = f.labels,
                                  .gold = x->gold,
                                  .notes = x->notes,
                                  .note = x->note,
                                  .weight = x->weight,
                                  .arena = x->arena};
    st = x->by_factors(&view, value, err);
    if (st == TRL_ENUMERIC) /* which token it is */
        (void)trl_chain_check_scores(x->scores, L, err);
    for (size_t t = 0; t < T && st == TRL_OK; t++)
        for (size_t q = 0; q < trl_sources(x->chain, t); q++) {
            trl_term_source(&m, t, q);
            trl_lines_add(L, m.n, m.line, 1.0, f.factor[t].adjoint + q * L);
        }
    return st;
}
