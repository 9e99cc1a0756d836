/* local_term.c -- terms of the local objectives. */
/* SPDX-License-Identifier: MIT */
#include "chain/local_term.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"
#include "feature/select.h"

/* log of the normaliser over the term's L outcomes, one more of score 0 with `nota`; adds
 * - weight * probability to the adjoint.  p: scratch of padded(L) doubles, left holding the
 * probabilities. */
static double normalise(const trl_term *m, bool nota, double weight, double *p)
{
    trl_lines_sum(m->L, m->n, m->line, 0.0, p);
    const double z = trl_softmax(trl_padded(m->L), p, nota);
    trl_lines_add(m->L, m->n, m->line, -weight, p);
    return z;
}

double trl_term_log_p(const trl_term *m, size_t gold, double weight, double *p)
{
    const double z = normalise(m, false, weight, p);
    return trl_term_gold(m, gold, weight) - z;
}

/* ---- single sources -------------------------------------------------------------------------- */

#define MAX_SHIFT 300.0 /* |chain->shift| up to which exp(scores) is taken apart */

trl_status trl_source_sum_init(trl_source_sum *s, const trl_chain_example *x, trl_tables *adjoint,
                               trl_chain_sums *minus, trl_error *err)
{
    const bool fast = trl_shared_only(x) && fabs(x->chain->shift) <= MAX_SHIFT;
    s->x = x;
    s->minus = minus;
    s->m = trl_term_of(x->chain, x->scores, adjoint);
    s->z = trl_log_sum_new();
    s->p = trl_arena_get(x->arena, x->chain->stride, sizeof(double));
    s->psi = trl_arena_get(x->arena, x->chain->stride, sizeof(double));
    s->factor = fast ? exp(x->chain->shift) : 0.0;
    return s->p && s->psi ? TRL_OK : trl_fail_mem(err);
}

static void add_source(trl_source_sum *s, size_t t, size_t q, bool nota, bool first)
{
    const trl_chain *c = s->x->chain;
    if (s->fast) {
        const size_t row = (c->order == 2 ? q % c->L * c->L + q / c->L : q) * c->stride;
        double *node = s->m.adjoint->row[TRL_NODE] + t * s->m.adjoint->step[TRL_NODE];
        if (trl_exp_term(c->stride, s->psi, c->E + row, s->factor, nota, first, s->x->weight, node,
                         s->minus->outer + row, &s->z))
            return;
    }
    trl_term_source(&s->m, t, q);
    trl_rows_term(c->L, s->m.n, s->m.line, nota, first, s->x->weight, s->p, &s->z);
}

double trl_source_sum_gold(trl_source_sum *s, size_t t, bool nota)
{
    const trl_chain *c = s->x->chain;
    const size_t q = trl_gold_source(c, s->x->gold, t);
    s->fast = s->factor > 0.0 && t >= (size_t)c->order;
    if (s->fast)
        trl_exp_plain(c->L, s->x->scores->row[TRL_NODE] + t * s->x->scores->step[TRL_NODE], s->psi);
    add_source(s, t, q, nota, true);
    trl_term_source(&s->m, t, q);
    return trl_term_gold(&s->m, s->x->gold[t], s->x->weight);
}

void trl_source_sum_more(trl_source_sum *s, size_t t, size_t q, bool nota)
{
    add_source(s, t, q, nota, false);
}

/* ---- start and end --------------------------------------------------------------------------- */

trl_status trl_local_start(const trl_chain_example *x, size_t f, trl_tables *adjoint,
                           trl_error *err)
{
    if (x->scores->n == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence has no value");
    if (adjoint->chain.only)
        trl_clear_selected(x->chain->L, adjoint->chain.only, adjoint->chain.from, adjoint);
    for (; !adjoint->chain.only && f < TRL_FAMILIES; f++)
        if (adjoint->row[f])
            memset(adjoint->row[f], 0, adjoint->n * adjoint->step[f] * sizeof(double));
    return TRL_OK;
}

trl_status trl_local_value(const trl_chain_example *x, double sum, double *value, trl_error *err)
{
    if (!isfinite(sum)) {
        if (x->scores->chain.only) { /* cells outside the selection cannot be inspected */
            if (sum != -HUGE_VAL)
                return trl_fail(err, TRL_ENUMERIC, "a score is not a number or not finite");
        } else {
            const trl_status st = trl_chain_check_scores(x->scores, x->chain->L, err);
            if (st != TRL_OK)
                return st;
        }
        sum = -HUGE_VAL;
    }
    *value = x->weight == 0.0 ? 0.0 : x->weight * sum;
    return TRL_OK;
}

bool trl_shared_only(const trl_chain_example *x)
{
    return x->chain->scaled && !x->scores->row[TRL_EDGE] && !x->scores->row[TRL_TRI];
}
