/* empirical.c -- expectations of q0(y | x) on the training data.
 *
 * Forward-backward on the HMM's states, with the emissions e_t of each token divided by c_t such
 * that every alpha_t sums to 1:
 *
 *     alpha_t = (T^T alpha_{t-1}) * e_t / c_t        beta_t = T (beta_{t+1} * e_{t+1} / c_{t+1})
 *
 * from alpha_0 = start * e_0 / c_0 and beta_{n-1} = stop / sum alpha_{n-1} stop.  Marginals
 * become score tables and are scattered to the weights as every objective's adjoints are.
 *
 * The engines of chain/chain.h are not used: a transition that was never seen has probability 0,
 * its score of -inf leaves them only the log engine (eight times slower with 22 labels and two
 * fifths of the pairs seen), and q0's order need not be that of the features.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "mest/expectation.h"
#include "mest/state_graph.h"
#include "train/gradient.h"

typedef struct job {
    const trl_expect_data *x;
    const trl_hmm *q0;
    const uint32_t *value;
    trl_state_graph graph;
    double total; /* weight of all sequences */
} job;

typedef struct pass {
    double *alpha, *beta, *e; /* [n][states], [n][states], [n][L] */
    double *weighted;         /* [states] */
    double *table;            /* [widest family] */
} pass;

/* e[y] up to a factor: the largest is 1. */
static void emissions(const trl_hmm *h, const uint32_t *value, double *e)
{
    double max = -HUGE_VAL;
    for (size_t y = 0; y < h->L; y++) {
        e[y] = 0.0;
        for (size_t c = 0; c < h->n_columns; c++)
            e[y] += h->column[c].log_p[value[c] * h->L + y];
        max = e[y] > max ? e[y] : max;
    }
    for (size_t y = 0; y < h->L; y++)
        e[y] = exp(e[y] - max);
}

/* alpha *= e, then both are divided by the sum.  False when that is 0. */
static bool scale(const trl_state_graph *g, double *alpha, double *e)
{
    double sum = 0.0;
    for (size_t s = 0; s < g->n; s++)
        sum += alpha[s] *= e[g->label[s]];
    if (!(sum > 0.0))
        return false;
    for (size_t s = 0; s < g->n; s++)
        alpha[s] /= sum;
    for (size_t y = 0; y < g->L; y++)
        e[y] /= sum;
    return true;
}

static bool forward_backward(const job *j, const pass *p, size_t from, size_t n)
{
    const trl_state_graph *g = &j->graph;
    for (size_t t = 0; t < n; t++) {
        double *alpha = p->alpha + t * g->n, *e = p->e + t * g->L;
        emissions(j->q0, j->value + (from + t) * j->q0->n_columns, e);
        if (t == 0)
            memcpy(alpha, g->start, g->n * sizeof *alpha);
        else
            trl_state_graph_forward(g, alpha - g->n, alpha);
        if (!scale(g, alpha, e))
            return false;
    }
    double sum = 0.0;
    for (size_t s = 0; s < g->n; s++)
        sum += p->alpha[(n - 1) * g->n + s] * g->stop[s];
    if (!(sum > 0.0))
        return false;
    for (size_t s = 0; s < g->n; s++)
        p->beta[(n - 1) * g->n + s] = g->stop[s] / sum;
    for (size_t t = n - 1; t-- > 0;) {
        const double *next = p->beta + (t + 1) * g->n, *e = p->e + (t + 1) * g->L;
        for (size_t s = 0; s < g->n; s++)
            p->weighted[s] = next[s] * e[g->label[s]];
        trl_state_graph_backward(g, p->weighted, p->beta + t * g->n);
    }
    return true;
}

/* Marginals of family f at t, times `weight`, into the row and the shared table. */
static void put_row(const job *j, const pass *p, size_t f, size_t t, double weight,
                    const trl_tables *out)
{
    const trl_state_graph *g = &j->graph;
    const size_t width = j->x->design->family[f].width;
    double *table = out->row[f] ? out->row[f] + t * out->step[f] : p->table;
    memset(table, 0, width * sizeof *table);
    if (t >= f) {
        const double *e[2] = {p->e + t * g->L, t ? p->e + (t - 1) * g->L : NULL};
        const size_t at = (t - trl_clique_arcs(g, f)) * g->n;
        trl_clique_add(g, f, p->alpha + at, p->beta + t * g->n, e, table);
    }
    for (size_t c = 0; c < width; c++)
        table[c] *= weight;
    for (size_t c = 0; out->shared[f] && c < width; c++)
        out->shared[f][c] += table[c];
    if (out->row[f])
        memset(table + width, 0, (out->step[f] - width) * sizeof *table);
}

/* One sequence's expectations, scattered to E. */
static trl_status add_sequence(const job *j, size_t seq, trl_arena *arena, trl_tables *shared,
                               double *E, trl_error *err)
{
    const trl_design *d = j->x->design;
    const trl_state_graph *g = &j->graph;
    const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
    const size_t order = (size_t)d->order;
    trl_tables out;
    trl_arena_reset(arena);
    const pass p = {trl_arena_get(arena, n, g->n * sizeof(double)),
                    trl_arena_get(arena, n, g->n * sizeof(double)),
                    trl_arena_get(arena, n, g->L * sizeof(double)),
                    trl_arena_get(arena, g->n, sizeof(double)),
                    trl_arena_get(arena, d->family[order].width, sizeof(double))};
    if (!p.alpha || !p.beta || !p.e || !p.weighted || !p.table ||
        !trl_tables_get(d, n, arena, &out))
        return trl_fail_mem(err);
    if (!forward_backward(j, &p, from, n))
        return trl_fail(err, TRL_ENUMERIC, "sequence %zu is impossible under q0", seq + 1);
    for (size_t f = 0; f <= order; f++) {
        out.shared[f] = shared->shared[f];
        for (size_t t = 0; (out.row[f] || out.shared[f]) && t < n; t++)
            put_row(j, &p, f, t, j->x->corpus->weight[seq] / j->total, &out);
    }
    for (size_t f = 0; f <= order; f++)
        out.shared[f] = NULL; /* they go on to the next sequence */
    trl_scatter_all(d, from, &out, 1.0, E);
    return TRL_OK;
}

trl_status trl_expect_empirical(const trl_expect_data *x, const trl_hmm *q0, const uint32_t *value,
                                double *E, trl_error *err)
{
    job j = {.x = x, .q0 = q0, .value = value};
    trl_tables shared = {0};
    trl_arena arena = {0};
    for (size_t i = 0; i < x->corpus->n_sequences; i++)
        j.total += x->corpus->weight[i];
    if (!(j.total > 0.0))
        return trl_fail(err, TRL_EINVAL, "all sequences have weight 0");
    trl_status st = trl_state_graph_init(&j.graph, q0, err);
    if (st == TRL_OK)
        st = trl_shared_new(x->design, &shared, err);
    for (size_t seq = 0; st == TRL_OK && seq < x->design->n_sequences; seq++) {
        st = trl_cancel_check(x->cancel, err);
        if (st == TRL_OK && x->corpus->weight[seq] > 0.0) /* q0 may not know the others' labels */
            st = add_sequence(&j, seq, &arena, &shared, E, err);
    }
    if (st == TRL_OK)
        trl_scatter_shared(x->design, &shared, E);
    trl_shared_free(&shared);
    trl_arena_fini(&arena);
    trl_state_graph_fini(&j.graph);
    return st;
}
