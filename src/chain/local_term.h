/* local_term.h -- private: the terms of the local objectives.
 *
 * With the factor at position t
 *
 *     s_0(y) = node_0(y)
 *     s_t(y', y) = node_t(y) + edge_t(y', y)                           order 1, and t = 1
 *     s_t(y'', y', y) = node_t(y) + edge_t(y', y) + tri_t(y'', y', y)  order 2, t >= 2
 *
 * the *source* of position t is what its factor conditions on: START at t = 0, else the label
 * y' at t - 1, in order 2 from t = 2 on the pair (y'', y').  Sources are numbered 0, y' or
 * y'' * L + y'.
 *
 * A local objective is a sum of terms log p(gold) over few outcomes, usually the L labels, whose
 * scores are sums of lines of the tables (local_kernel.h).  A trl_term collects those lines.
 *
 * Forbidden cells: an outcome of score -inf has probability 0.  When the gold outcome is
 * forbidden the value is -inf, as the likelihood's is; the adjoint stays finite.  NaN and +inf
 * are TRL_ENUMERIC where they are read.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TERM_H
#define TRL_TERM_H

#include "chain/local_kernel.h"
#include "chain/objective.h"

#define TRL_TERM_LINES 12 /* at most 11: pseudolikelihood, order 2, shared scores and rows */

typedef struct trl_term {
    const trl_tables *scores;
    const trl_tables *adjoint; /* NULL: only values are wanted */
    size_t L;
    int order;
    size_t n; /* lines so far */
    trl_line line[TRL_TERM_LINES];
} trl_term;

static inline trl_term trl_term_of(const trl_chain *c, const trl_tables *scores,
                                   const trl_tables *adjoint)
{
    trl_term m;
    m.scores = scores;
    m.adjoint = adjoint;
    m.L = c->L;
    m.order = c->order;
    m.n = 0;
    return m;
}

/* Adds cells base, base + stride, ... of family f at position t, if t has that family. */
static inline void trl_term_take(trl_term *m, int f, size_t t, size_t base, size_t stride)
{
    const trl_tables *s = m->scores, *a = m->adjoint;
    if (t < (size_t)f || t >= s->n)
        return;
    if (f > 0 && s->shared[f])
        m->line[m->n++] =
            (trl_line){s->shared[f] + base, a && a->shared[f] ? a->shared[f] + base : NULL, stride};
    const size_t at = t * s->step[f] + base;
    if (s->row[f])
        m->line[m->n++] =
            (trl_line){s->row[f] + at, a && a->row[f] ? a->row[f] + at : NULL, stride};
}

/* The lines of the factor at t with source q: its L outcomes are the labels of t. */
static inline void trl_term_source(trl_term *m, size_t t, size_t q)
{
    m->n = 0;
    trl_term_take(m, TRL_NODE, t, 0, 1);
    trl_term_take(m, TRL_EDGE, t, q % m->L * m->L, 1);
    if (m->order == 2)
        trl_term_take(m, TRL_TRI, t, q * m->L, 1);
}

/* Number of sources at t, and the gold one. */
static inline size_t trl_sources(const trl_chain *c, size_t t)
{
    return t == 0 ? 1 : t == 1 || c->order == 1 ? c->L : c->L * c->L;
}

static inline size_t trl_gold_source(const trl_chain *c, const uint32_t *y, size_t t)
{
    const size_t before = t > 1 && c->order == 2 ? y[t - 2] * c->L : 0;
    return t == 0 ? 0 : before + y[t - 1];
}

/* Terms of single sources, for memm and nota: log-normalisers summed in z, adjoints added.  Where
 * only nodes depend on the position a source is a product of rows: exp(node_t), taken once per
 * position, and the source's row of exp(shared scores) in the chain; else L exponentials each. */
typedef struct trl_source_sum {
    const trl_chain_example *x;
    trl_chain_sums *minus;
    trl_term m;
    trl_log_sum z;
    double *p, *psi; /* [S] scratch; exp(node_t) */
    double factor;   /* exp(chain->shift); 0: not on exponentials */
    bool fast;       /* psi holds this position's */
} trl_source_sum;

trl_status trl_source_sum_init(trl_source_sum *s, const trl_chain_example *x, trl_tables *adjoint,
                               trl_chain_sums *minus, trl_error *err);

/* The gold source of position t; overwrites the node adjoint.  Returns s_t(gold).  `nota`: the
 * outcome NOTA is there. */
double trl_source_sum_gold(trl_source_sum *s, size_t t, bool nota);

/* One more source of the position that trl_source_sum_gold was called for last. */
void trl_source_sum_more(trl_source_sum *s, size_t t, size_t q, bool nota);

/* log p(gold); adds weight * ([gold] - probability) to the adjoint. */
double trl_term_log_p(const trl_term *m, size_t gold, double weight, double *p);

/* The score of outcome j; adds `amount` to its cells. */
static inline double trl_term_gold(const trl_term *m, size_t j, double amount)
{
    double score = 0.0;
    for (size_t l = 0; l < m->n; l++) {
        const size_t at = j * m->line[l].stride;
        score += m->line[l].score[at];
        if (m->line[l].adjoint)
            m->line[l].adjoint[at] += amount;
    }
    return score;
}

/* The start of every local objective: the adjoint's rows from family f on are cleared.
 * TRL_EINVAL for no tokens. */
trl_status trl_local_start(const trl_chain_example *x, size_t f, trl_tables *adjoint,
                           trl_error *err);

/* The end of every local objective: *value = weight * sum.  For a sum that is not finite:
 * TRL_ENUMERIC for a NaN or +inf among the scores, else something gold is forbidden and the value
 * is -inf. */
trl_status trl_local_value(const trl_chain_example *x, double sum, double *value, trl_error *err);

/* True when exp(shared scores) in x->chain serves at every position from `order` on: no rows
 * but the nodes', and a spread that no product of two factors can underflow with. */
bool trl_shared_only(const trl_chain_example *x);

#endif
