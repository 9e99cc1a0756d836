/* local.c -- locally normalised models as chains. */
/* SPDX-License-Identifier: MIT */
#include "chain/local.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "chain/local_term.h"

trl_status trl_rows_chain_init(trl_chain *c, size_t L, int order, trl_error *err)
{
    double row; /* only whether it exists matters */
    const trl_tables shape = {.row = {&row, &row, order == 2 ? &row : NULL}};
    trl_status st = trl_chain_init(c, L, order, err);
    if (st == TRL_OK)
        st = trl_chain_prepare(c, &shape, err);
    return st;
}

double *trl_factor_row(const trl_chain *c, const trl_tables *t, size_t position, size_t q)
{
    const size_t f = position < (size_t)c->order ? position : (size_t)c->order;
    return t->row[f] + position * t->step[f] + q * c->L;
}

trl_status trl_factor_tables(const trl_chain *c, const trl_tables *s, trl_arena *arena,
                             trl_tables *out, trl_error *err)
{
    const size_t L = c->L;
    *out = (trl_tables){.n = s->n};
    size_t width = L;
    for (size_t f = 0; f <= (size_t)c->order; f++, width *= L) {
        out->step[f] = trl_padded(width);
        out->row[f] = trl_arena_get(arena, s->n, out->step[f] * sizeof(double));
        if (!out->row[f])
            return trl_fail_mem(err);
        memset(out->row[f], 0, s->n * out->step[f] * sizeof(double));
    }
    double *x = trl_arena_get(arena, c->stride, sizeof *x);
    if (!x)
        return trl_fail_mem(err);
    trl_term m = trl_term_of(c, s, NULL);
    for (size_t t = 0; t < s->n; t++)
        for (size_t q = 0; q < trl_sources(c, t); q++) {
            trl_term_source(&m, t, q);
            trl_lines_sum(L, m.n, m.line, 0.0, x);
            memcpy(trl_factor_row(c, out, t, q), x, L * sizeof *x);
        }
    return TRL_OK;
}

trl_status trl_local_tables(const trl_chain *c, const trl_tables *s, trl_arena *arena,
                            trl_tables *out, trl_error *err)
{
    const size_t L = c->L;
    if (s->n == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence has no labels to give probabilities");
    trl_status st = trl_chain_check_scores(s, L, err);
    if (st == TRL_OK)
        st = trl_factor_tables(c, s, arena, out, err);
    double *p = st == TRL_OK ? trl_arena_get(arena, c->stride, sizeof *p) : NULL;
    if (!p)
        return st == TRL_OK ? trl_fail_mem(err) : st;
    for (size_t t = 0; t < s->n; t++)
        for (size_t q = 0; q < trl_sources(c, t); q++) {
            double *row = trl_factor_row(c, out, t, q);
            const trl_line line = {row, NULL, 1};
            trl_lines_sum(L, 1, &line, 0.0, p);
            const double z = trl_softmax(c->stride, p, false);
            for (size_t j = 0; z > -HUGE_VAL && j < L; j++)
                row[j] -= z;
        }
    return TRL_OK;
}
