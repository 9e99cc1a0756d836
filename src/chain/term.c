/* term.c -- terms of the local objectives. */
/* SPDX-License-Identifier: MIT */
#include "chain/term.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "chain/engine.h"

double trl_term_normalise(const trl_term *m, bool nota, double weight, double *p)
{
    trl_lines_sum(m->L, m->n, m->line, 0.0, p);
    const double z = trl_softmax(trl_padded(m->L), p, nota);
    trl_lines_add(m->L, m->n, m->line, -weight, p);
    return z;
}

double trl_term_log_p(const trl_term *m, size_t gold, double weight, double *p)
{
    double score = 0.0;
    for (size_t l = 0; l < m->n; l++)
        score += m->line[l].score[gold * m->line[l].stride];
    const double z = trl_term_normalise(m, false, weight, p);
    trl_term_add(m, gold, weight);
    return score - z;
}

void trl_term_add(const trl_term *m, size_t j, double amount)
{
    for (size_t l = 0; l < m->n; l++)
        if (m->line[l].adjoint)
            m->line[l].adjoint[j * m->line[l].stride] += amount;
}

trl_status trl_local_start(const trl_chain_example *x, size_t f, trl_tables *adjoint,
                           trl_error *err)
{
    if (x->scores->n == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence has no value");
    for (; f < TRL_FAMILIES; f++)
        if (adjoint->row[f])
            memset(adjoint->row[f], 0, adjoint->n * adjoint->step[f] * sizeof(double));
    return TRL_OK;
}

trl_status trl_local_value(const trl_chain_example *x, double sum, double *value,
                           trl_error *err)
{
    if (!isfinite(sum)) {
        const trl_status st = trl_chain_check_scores(x->scores, x->chain->L, err);
        if (st != TRL_OK)
            return st;
        sum = -HUGE_VAL;
    }
    *value = x->weight == 0.0 ? 0.0 : x->weight * sum;
    return TRL_OK;
}

bool trl_shared_only(const trl_chain_example *x)
{
    return x->chain->scaled && !x->scores->row[TRL_EDGE] && !x->scores->row[TRL_TRI];
}
