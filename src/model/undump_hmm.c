/* undump_hmm.c -- the lines of an HMM in a dump (format: dump_hmm.c), and multipliers. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "model/undump.h"

#define COLUMNS_MAX 100

void trl_hmm_parts_fini(trl_hmm_parts *p)
{
    for (size_t c = 0; c < p->h.n_columns; c++)
        trl_free(p->p[c]);
    trl_free(p->p);
    trl_free(p->p_cap);
    trl_free(p->start);
    trl_free(p->next);
    trl_hmm_fini(&p->h);
    *p = (trl_hmm_parts){0};
}

/* A probability in the last field. */
static trl_status read_p(trl_undump *u, double *p)
{
    const size_t last = u->n_fields - 1;
    const trl_status st = trl_undump_number(u, last, p);
    if (st == TRL_OK && !(*p >= 0.0 && *p <= 1.0))
        return FAIL_AT(u, last, "%g is not a probability", *p);
    if (*p == 0.0)
        *p = 0.0; /* not -0 */
    return st;
}

static trl_status need_order(trl_undump *u)
{
    return u->q0.any ? TRL_OK : FAIL_AT(u, 0, "'q0-order' comes first");
}

trl_status trl_undump_q0_order(trl_undump *u)
{
    trl_hmm_parts *q = &u->q0;
    const trl_status st = u->in_weights ? TRL_OK : trl_undump_begin(u);
    if (st != TRL_OK)
        return st;
    const trl_str s = u->field[1];
    if (q->any)
        return FAIL_AT(u, 0, "a second HMM");
    if (s.n != 1 || s.p[0] < '1' || s.p[0] - '0' > u->parts.order)
        return FAIL_AT(u, 1, "the order of the HMM is 1 up to that of the model");
    q->any = true;
    q->h.order = s.p[0] - '0';
    q->h.L = u->labels.n;
    size_t n = 0;
    if (!__builtin_mul_overflow(trl_hmm_contexts(q->h.L, q->h.order), q->h.L + 1, &n))
        q->next = trl_zalloc(n, sizeof *q->next);
    q->start = trl_zalloc(q->h.L, sizeof *q->start);
    q->h.column = trl_zalloc(COLUMNS_MAX, sizeof *q->h.column);
    q->h.names = trl_zalloc(COLUMNS_MAX, sizeof *q->h.names);
    q->p = trl_zalloc(COLUMNS_MAX, sizeof *q->p);
    q->p_cap = trl_zalloc(COLUMNS_MAX, sizeof *q->p_cap);
    q->h.start = q->start;
    q->h.next = q->next;
    const bool good = q->next && q->start && q->h.column && q->h.names && q->p && q->p_cap;
    return good ? TRL_OK : trl_fail_mem(u->err);
}

trl_status trl_undump_q0_start(trl_undump *u)
{
    uint32_t y = 0;
    double p = 0.0;
    trl_status st = need_order(u);
    if (st == TRL_OK)
        st = trl_undump_label(u, 1, &y);
    if (st == TRL_OK)
        st = read_p(u, &p);
    if (st == TRL_OK)
        u->q0.start[y] = p;
    return st;
}

/* Labels up to the probability: [FIRST] BEFORE, and LABEL unless it is STOP. */
static trl_status read_next(trl_undump *u, bool stop)
{
    const trl_hmm *h = &u->q0.h;
    uint32_t y[3] = {0};
    double p = 0.0;
    trl_status st = need_order(u);
    const size_t labels = u->n_fields >= 2 ? u->n_fields - 2 : 0, known = labels + stop;
    if (st == TRL_OK && (known < 2 || known > (size_t)h->order + 1))
        st = FAIL_AT(u, 0, "%zu labels do not fit an HMM of order %d", labels, h->order);
    for (size_t k = 0; st == TRL_OK && k < labels; k++)
        st = trl_undump_label(u, 1 + k, &y[k]);
    if (st == TRL_OK)
        st = read_p(u, &p);
    if (st != TRL_OK)
        return st;
    const size_t before = known == 3 ? y[0] : h->L; /* START */
    const size_t context = (h->order == 2 ? before * h->L : 0) + y[known - 2];
    u->q0.next[context * (h->L + 1) + (stop ? h->L : y[known - 1])] = p;
    return TRL_OK;
}

trl_status trl_undump_q0_next(trl_undump *u)
{
    return read_next(u, false);
}

trl_status trl_undump_q0_stop(trl_undump *u)
{
    return read_next(u, true);
}

trl_status trl_undump_q0_column(trl_undump *u)
{
    trl_hmm *h = &u->q0.h;
    double x = 0.0;
    trl_status st = need_order(u);
    if (st == TRL_OK)
        st = trl_undump_number(u, 1, &x);
    if (st == TRL_OK && !(x >= 0.0 && x < 1e9 && x == (double)(size_t)x))
        st = FAIL_AT(u, 1, "a number of a column expected");
    if (st == TRL_OK && h->n_columns == COLUMNS_MAX)
        st = FAIL_AT(u, 0, "more than %d columns", COLUMNS_MAX);
    if (st == TRL_OK)
        h->column[h->n_columns++].column = (size_t)x;
    return st;
}

trl_status trl_undump_q0_emit(trl_undump *u)
{
    trl_hmm_parts *q = &u->q0;
    uint32_t y = 0;
    double p = 0.0;
    trl_status st = need_order(u);
    if (st == TRL_OK && q->h.n_columns == 0)
        st = FAIL_AT(u, 0, "'q0-column' comes before 'q0-emit'");
    if (st == TRL_OK)
        st = trl_undump_label(u, 2, &y);
    if (st == TRL_OK)
        st = read_p(u, &p);
    if (st != TRL_OK)
        return st;
    const size_t c = q->h.n_columns - 1, L = q->h.L, known = q->h.names[c].n;
    const uint32_t v = trl_strtab_add(&q->h.names[c], u->field[1].p, u->field[1].n);
    if (v == TRL_NO_ID)
        return trl_fail_mem(u->err);
    if (v == known) {
        double *grown = trl_reserve(q->p[c], &q->p_cap[c], (known + 1) * L, sizeof *grown);
        if (!grown)
            return trl_fail_mem(u->err);
        q->p[c] = grown;
        memset(grown + known * L, 0, L * sizeof *grown);
    }
    q->p[c][v * L + y] = p;
    return TRL_OK;
}

trl_status trl_undump_q0_finish(trl_undump *u)
{
    trl_hmm_parts *q = &u->q0;
    const char *what = NULL;
    for (size_t c = 0; c < q->h.n_columns; c++) {
        q->h.column[c].n = q->h.names[c].n;
        q->h.column[c].p = q->p[c];
        if (q->h.names[c].n == 0)
            what = "a column of q0 has no values";
    }
    if (u->parts.masked && !q->any)
        what = "'mask yes' needs an HMM";
    else if (q->h.n_columns && !u->parts.n_columns)
        what = "q0 has columns, the model reads items";
    else if (q->any && !what && !trl_hmm_is_proper(&q->h))
        what = "the probabilities of q0 do not add up to 1";
    if (what) {
        const trl_status st = trl_fail(u->err, TRL_EPARSE, "%s", what);
        return trl_input_fail(u->in, u->err, st, 0);
    }
    u->parts.q0 = q->any ? &q->h : NULL;
    return TRL_OK;
}

trl_status trl_undump_calibration(trl_undump *u)
{
    uint32_t y = 0;
    double x = 0.0;
    trl_status st = u->in_weights ? TRL_OK : trl_undump_begin(u);
    if (st == TRL_OK)
        st = trl_undump_label(u, 1, &y);
    if (st == TRL_OK)
        st = trl_undump_number(u, 2, &x);
    if (st != TRL_OK)
        return st;
    if (!u->calibration) {
        u->calibration = trl_alloc(u->labels.n, sizeof *u->calibration);
        for (size_t k = 0; u->calibration && k < u->labels.n; k++)
            u->calibration[k] = 1.0;
    }
    if (!u->calibration)
        return trl_fail_mem(u->err);
    u->calibration[y] = x;
    return TRL_OK;
}

trl_status trl_undump_temperature(trl_undump *u)
{
    double x = 0.0;
    trl_status st = u->in_weights ? TRL_OK : trl_undump_begin(u);
    if (st == TRL_OK)
        st = trl_undump_number(u, 1, &x);
    if (st != TRL_OK)
        return st;
    if (!(x >= 1.0 / TRL_TEMPERATURE_MAX && x <= TRL_TEMPERATURE_MAX))
        return FAIL_AT(u, 1, "a temperature is above 0 and at most %g", TRL_TEMPERATURE_MAX);
    u->parts.temperature = x;
    return TRL_OK;
}
