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
#include "chain/partial_lattice.h"

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

/* A sequence's scores, and those multiplied, which `rows` was prepared for. */
typedef struct calibrated {
    const trl_chain *rows;
    trl_tables plain, scaled;
} calibrated;

/* Where labels are notes: log of the sum over what they allow, of s', into *score, and grad[q % L]
 * += weight * P(q, y | allowed) s_t(q, y). */
static trl_status add_allowed(const trl_chain_example *x, const calibrated *k, double *score,
                              double *grad, trl_error *err)
{
    const size_t L = x->chain->L;
    const trl_tables *plain = &k->plain, *scaled = &k->scaled;
    trl_tables P = *scaled;
    trl_chain_example all = *x;
    all.chain = k->rows;
    all.scores = scaled;
    all.weight = 1.0;
    for (size_t f = 0; f < TRL_FAMILIES; f++) {
        P.shared[f] = NULL;
        P.row[f] = scaled->row[f] ? trl_arena_get(x->arena, P.n * P.step[f], sizeof(double)) : NULL;
        if (scaled->row[f] && !P.row[f])
            return trl_fail_mem(err);
    }
    trl_clear_rows(&P);
    const trl_status st = trl_partial_sum(&all, false, &P, score, err);
    for (size_t t = 1; st == TRL_OK && *score > -HUGE_VAL && t < P.n; t++)
        for (size_t q = 0; q < trl_sources(x->chain, t); q++) {
            const double *s = trl_factor_row(x->chain, plain, t, q);
            const double *p = trl_factor_row(x->chain, &P, t, q);
            for (size_t j = 0; j < L; j++)
                grad[q % L] += p[j] > 0.0 ? x->weight * p[j] * s[j] : 0.0;
        }
    return st;
}

trl_status trl_calibrate_example(const trl_chain_example *x, const trl_chain *rows, const double *a,
                                 double *value, double *grad, trl_error *err)
{
    calibrated k = {.rows = rows};
    trl_chain_marginals m;
    trl_status st = trl_factor_tables(x->chain, x->scores, x->arena, &k.plain, err);
    if (st == TRL_OK)
        st = trl_calibrate_tables(x->chain, x->scores, a, x->arena, &k.scaled, err);
    if (st == TRL_OK)
        st = trl_chain_infer(
            rows,
            &(trl_chain_ask){
                .s = &k.scaled, .arena = x->arena, .want = TRL_WANT_EDGE_ROWS, .weight = 1.0},
            &m, NULL, err);
    if (st != TRL_OK)
        return st;
    double score;
    if (x->notes)
        st = add_allowed(x, &k, &score, grad, err);
    else
        score = trl_chain_score(rows, &k.scaled, x->gold);
    if (st != TRL_OK)
        return st;
    *value = x->weight * (score - m.log_z);
    if (score == -HUGE_VAL)
        return TRL_OK;
    const trl_tables P = {.n = k.plain.n,
                          .step = {x->chain->stride, k.plain.step[TRL_EDGE], k.plain.step[TRL_TRI]},
                          .row = {m.node, m.edge, m.tri}};
    for (size_t t = 1; t < k.plain.n; t++) {
        const size_t q = trl_gold_source(x->chain, x->gold, t);
        if (!x->notes)
            grad[q % x->chain->L] +=
                x->weight * trl_factor_row(x->chain, &k.plain, t, q)[x->gold[t]];
        subtract_expected(x, &k.plain, &P, t, grad);
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
    const trl_label_notes *notes = p->c->corpus->notes;
    const bool known = !notes || trl_label_notes_plain(notes, v->from, v->scores->n);
    const trl_chain_example x = {.chain = v->chain,
                                 .scores = v->scores,
                                 .gold = p->c->corpus->label + v->from,
                                 .weight = p->c->corpus->weight[v->seq],
                                 .arena = v->arena,
                                 .notes = known ? NULL : notes,
                                 .note = known ? NULL : notes->of + v->from};
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
