/* calibrate.c -- multipliers per source label, by global likelihood. */
/* SPDX-License-Identifier: MIT */
#include "chain/calibrate.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/local.h"
#include "chain/sweep.h"
#include "chain/local_term.h"

/* ---- one sequence ---------------------------------------------------------------------------- */

/* In place: tables of factors to s'. */
static void multiply(const trl_chain *c, const double *a, trl_tables *t)
{
    const size_t L = c->L;
    for (size_t u = 1; u < t->n; u++)
        for (size_t q = 0; q < trl_sources(c, u); q++) {
            double *row = trl_factor_row(c, t, u, q);
            for (size_t j = 0; j < L; j++)
                row[j] = row[j] == -HUGE_VAL ? row[j] : a[q % L] * row[j];
        }
}

trl_status trl_calibrate_tables(const trl_chain *c, const trl_tables *s, const double *a,
                                trl_arena *arena, trl_tables *out, trl_error *err)
{
    const trl_status st = trl_factor_tables(c, s, arena, out, err);
    if (st == TRL_OK)
        multiply(c, a, out);
    return st;
}

/* grad[q % L] -= weight * P(q, y) s_t(q, y), all cells of position t. */
static void subtract_expected(const trl_chain_example *x, const trl_tables *plain,
                              const trl_tables *P, size_t t, double *grad)
{
    const size_t L = x->chain->L;
    for (size_t q = 0; q < trl_sources(x->chain, t); q++) {
        const double *s = trl_factor_row(x->chain, plain, t, q);
        const double *p = trl_factor_row(x->chain, P, t, q);
        double sum = 0.0;
        for (size_t j = 0; j < L; j++)
            sum += p[j] > 0.0 ? p[j] * s[j] : 0.0; /* s may be -inf where p is 0 */
        grad[q % L] -= x->weight * sum;
    }
}

trl_status trl_calibrate_example(const trl_chain_example *x, const trl_chain *rows, const double *a,
                                 double *value, double *grad, trl_error *err)
{
    trl_tables plain, scaled;
    trl_chain_marginals m;
    trl_status st = trl_factor_tables(x->chain, x->scores, x->arena, &plain, err);
    if (st == TRL_OK)
        st = trl_calibrate_tables(x->chain, x->scores, a, x->arena, &scaled, err);
    if (st == TRL_OK)
        st = trl_chain_infer(
            rows,
            &(trl_chain_ask){
                .s = &scaled, .arena = x->arena, .want = TRL_WANT_EDGE_ROWS, .weight = 1.0},
            &m, NULL, err);
    if (st != TRL_OK)
        return st;
    const double score = trl_chain_score(rows, &scaled, x->gold);
    *value = x->weight * (score - m.log_z);
    if (score == -HUGE_VAL)
        return TRL_OK;
    const trl_tables P = {.n = plain.n,
                          .step = {x->chain->stride, plain.step[TRL_EDGE], plain.step[TRL_TRI]},
                          .row = {m.node, m.edge, m.tri}};
    for (size_t t = 1; t < plain.n; t++) {
        const size_t q = trl_gold_source(x->chain, x->gold, t);
        grad[q % x->chain->L] += x->weight * trl_factor_row(x->chain, &plain, t, q)[x->gold[t]];
        subtract_expected(x, &plain, &P, t, grad);
    }
    return TRL_OK;
}

/* ---- the corpus ------------------------------------------------------------------------------ */

typedef struct calibration_pass {
    const trl_calibration *c;
    const double *a;
    trl_chain rows;
    double *grad; /* [TRL_SWEEP_LANES][L] */
    double value[TRL_SWEEP_LANES];
} calibration_pass;

static trl_status visit(void *ctx, const trl_sweep_visit *v, trl_error *err)
{
    calibration_pass *p = ctx;
    const trl_chain_example x = {.chain = v->chain,
                                 .scores = v->scores,
                                 .gold = p->c->corpus->label + v->from,
                                 .weight = p->c->corpus->weight[v->seq],
                                 .arena = v->arena};
    double value;
    const trl_status st =
        trl_calibrate_example(&x, &p->rows, p->a, &value, p->grad + v->lane * v->chain->L, err);
    if (st == TRL_OK)
        p->value[v->lane] += value;
    return st;
}

trl_status trl_calibration_eval(void *self, const double *a, double *g, double *F, trl_error *err)
{
    const trl_calibration *c = self;
    const size_t L = c->design->L;
    calibration_pass p = {.c = c, .a = a};
    p.grad = trl_zalloc(TRL_SWEEP_LANES * L, sizeof *p.grad);
    trl_status st =
        p.grad ? trl_rows_chain_init(&p.rows, L, c->design->order, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = trl_chain_sweep(c->design, c->w, c->pool, visit, &p, err);
    if (st == TRL_OK) {
        double value = 0.0;
        memset(g, 0, L * sizeof *g);
        for (size_t k = 0; k < TRL_SWEEP_LANES; k++) {
            value += p.value[k];
            for (size_t i = 0; i < L; i++)
                g[i] -= p.grad[k * L + i];
        }
        *F = -value;
        if (!isfinite(*F))
            st = trl_fail(err, TRL_ENUMERIC, "the calibrated likelihood is not finite");
    }
    trl_chain_fini(&p.rows);
    trl_free(p.grad);
    return st;
}
