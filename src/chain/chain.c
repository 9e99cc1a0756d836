/* chain.c -- preparing the shared scores, choosing an engine, scoring one labelling. */
/* SPDX-License-Identifier: MIT */
#include "chain/chain.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "chain/chain_pairs.h"
#include "chain/engine.h"
#include "num/float_kernel.h"
#include "num/simd.h"
#include "num/vexp.h"

/* ---- lifetime -------------------------------------------------------------------------------- */

/* Doubles in E: [L][stride], or [L][L][stride] in order 2. */
static size_t matrix_size(const trl_chain *c)
{
    return (c->order == 2 ? c->L : 1) * c->L * c->stride;
}

trl_status trl_chain_init(trl_chain *c, size_t L, int order, trl_error *err)
{
    *c = (trl_chain){.L = L, .order = order, .stride = trl_padded(L)};
    if (L == 0)
        return trl_fail(err, TRL_EINVAL, "a chain needs at least one label");
    if (order != 1 && order != 2)
        return trl_fail(err, TRL_EINVAL, "order %d is not supported: use 1 or 2", order);
    if (L > 65535)
        return trl_fail(err, TRL_EINVAL, "%zu labels are more than 65,535", L);
    c->edge = trl_alloc64(L * L + TRL_LANES, sizeof *c->edge);
    c->tri = order == 2 ? trl_alloc64(L * L * L + TRL_LANES, sizeof *c->tri) : NULL;
    c->E = trl_alloc64(matrix_size(c), sizeof *c->E);
    c->Et = trl_alloc64(matrix_size(c), sizeof *c->Et);
    if (!c->edge || !c->E || !c->Et || (order == 2 && !c->tri)) {
        trl_chain_fini(c);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}

void trl_chain_fini(trl_chain *c)
{
    trl_free(c->edge);
    trl_free(c->tri);
    trl_free(c->E);
    trl_free(c->Et);
    trl_free(c->set_E);
    trl_free(c->set_Et);
    trl_free(c->single_E);
    trl_free(c->single_Et);
    trl_free(c->single_rest);
    *c = (trl_chain){0};
}

trl_status trl_chain_use_single(trl_chain *c, trl_error *err)
{
    if (c->order != 1 || c->single_E)
        return TRL_OK;
    const size_t n = matrix_size(c);
    float *E = trl_alloc64(n, sizeof *E), *Et = trl_alloc64(n, sizeof *Et);
    float *rest = trl_alloc64(n, sizeof *rest);
    if (!E || !Et || !rest) {
        trl_free(E);
        trl_free(Et);
        trl_free(rest);
        return trl_fail_mem(err);
    }
    c->single_E = E;
    c->single_Et = Et;
    c->single_rest = rest;
    c->scaled = false; /* until it is prepared again */
    return TRL_OK;
}

/* ---- preparation ----------------------------------------------------------------------------- */

static void copy_or_zero(size_t n, const double *from, double *to)
{
    if (from)
        memcpy(to, from, n * sizeof *to);
    else
        memset(to, 0, n * sizeof *to);
}

/* Largest and smallest value; false when one is NaN or +inf. */
static bool range(size_t n, const double *x, double *min, double *max)
{
    *min = HUGE_VAL;
    *max = -HUGE_VAL;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        good &= x[i] < HUGE_VAL;
        *min = x[i] < *min ? x[i] : *min;
        *max = x[i] > *max ? x[i] : *max;
    }
    return good;
}

/* E and Et from an n x n block of scores whose element (i, k) is at x[i * step + k]; `add`
 * (may be NULL) adds add[k] to every row. */
static void fill_block(const trl_chain *c, const double *x, size_t step, const double *add,
                       double *E, double *Et)
{
    const size_t L = c->L, S = c->stride;
    for (size_t i = 0; i < L; i++) {
        for (size_t k = 0; k < L; k++)
            E[i * S + k] = x[i * step + k] + (add ? add[k] : 0.0);
        trl_vexp(L, E + i * S, c->shift, E + i * S);
        memset(E + i * S + L, 0, (S - L) * sizeof *E);
    }
    for (size_t k = 0; k < L; k++) {
        for (size_t i = 0; i < L; i++)
            Et[k * S + i] = E[i * S + k];
        memset(Et + k * S + L, 0, (S - L) * sizeof *Et);
    }
}

/* The range of what goes into E: edges, or triples with (perhaps) edges added. */
static bool shared_range(const trl_chain *c, double *min, double *max)
{
    const size_t L = c->L;
    if (c->order == 1)
        return range(L * L, c->edge, min, max);
    bool good = true;
    *min = HUGE_VAL;
    *max = -HUGE_VAL;
    for (size_t hi = 0; hi < L * L; hi++) {
        const double *tri = c->tri + hi * L, *edge = c->edge + hi % L * L;
        for (size_t k = 0; k < L; k++) {
            const double x = tri[k] + (c->edge_in_E ? edge[k] : 0.0);
            good &= x < HUGE_VAL;
            *min = x < *min ? x : *min;
            *max = x > *max ? x : *max;
        }
    }
    return good;
}

trl_status trl_chain_prepare(trl_chain *c, const trl_tables *s, trl_error *err)
{
    const size_t L = c->L, S = c->stride;
    copy_or_zero(L * L, s->shared[TRL_EDGE], c->edge);
    if (c->order == 2)
        copy_or_zero(L * L * L, s->shared[TRL_TRI], c->tri);
    c->edge_in_E = c->order == 2 && !s->row[TRL_EDGE];

    double min, max, edge_min, edge_max;
    bool good = range(L * L, c->edge, &edge_min, &edge_max);
    good = shared_range(c, &min, &max) && good;
    if (!good)
        return trl_fail(err, TRL_ENUMERIC, "a transition score is NaN or infinite");
    if (s->chain.pairs && !trl_pairs_range(c, s->chain.pairs, &min, &max))
        max = HUGE_VAL;    /* the engine that reads rows finds the token */
    c->spread = max - min; /* inf, or NaN when all are forbidden: both refuse scaling */
    c->scaled = c->zeros ? max > -HUGE_VAL && max < HUGE_VAL
                         : c->spread <= TRL_SCALED_MAX_SPREAD && edge_max - edge_min < HUGE_VAL;
    if (!c->scaled)
        return TRL_OK;
    c->shift = max;
    if (c->order == 1) {
        fill_block(c, c->edge, L, NULL, c->E, c->Et);
        if (c->single_E) {
            trl_narrow_rest(matrix_size(c), c->E, c->single_E, c->single_rest);
            trl_narrow(matrix_size(c), c->Et, c->single_Et);
        }
        if (s->chain.pairs)
            return trl_pairs_tables(c, s->chain.pairs, err);
    } else {
        for (size_t i = 0; i < L; i++)
            fill_block(c, c->tri + i * L, L * L, c->edge_in_E ? c->edge + i * L : NULL,
                       c->E + i * L * S, c->Et + i * L * S);
    }
    return TRL_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

trl_status trl_chain_sums_init(trl_chain_sums *m, const trl_chain *c, trl_error *err)
{
    const size_t L = c->L;
    *m = (trl_chain_sums){0};
    m->outer = trl_alloc64(matrix_size(c), sizeof *m->outer);
    m->edge = trl_alloc64(L * L, sizeof *m->edge);
    m->tri = c->order == 2 ? trl_alloc64(L * L * L, sizeof *m->tri) : NULL;
    if (!m->outer || !m->edge || (c->order == 2 && !m->tri)) {
        trl_chain_sums_fini(m);
        return trl_fail_mem(err);
    }
    trl_chain_sums_clear(m, c);
    return TRL_OK;
}

void trl_chain_sums_fini(trl_chain_sums *m)
{
    trl_free(m->outer);
    trl_free(m->edge);
    trl_free(m->tri);
    trl_free(m->set_outer);
    trl_free(m->set_edge);
    *m = (trl_chain_sums){0};
}

void trl_chain_sums_clear(trl_chain_sums *m, const trl_chain *c)
{
    const size_t L = c->L;
    memset(m->outer, 0, matrix_size(c) * sizeof *m->outer);
    memset(m->edge, 0, L * L * sizeof *m->edge);
    if (m->set_room) {
        memset(m->set_outer, 0, m->set_room * matrix_size(c) * sizeof *m->set_outer);
        memset(m->set_edge, 0, m->set_room * matrix_size(c) * sizeof *m->set_edge);
    }
    if (m->tri)
        memset(m->tri, 0, L * L * L * sizeof *m->tri);
}

/* `outer` of one middle label, multiplied with E: triples (., i, .) and pairs (i, .). */
static void add_outer2(const trl_chain_sums *m, const trl_chain *c, size_t i, double scale,
                       double *edge, double *tri)
{
    const size_t L = c->L, S = c->stride;
    for (size_t h = 0; h < L; h++)
        for (size_t k = 0; k < L; k++) {
            const size_t at = (i * L + h) * S + k;
            const double n = scale * m->outer[at] * c->E[at];
            if (tri)
                tri[(h * L + i) * L + k] += n;
            if (edge)
                edge[i * L + k] += n;
        }
}

void trl_chain_sums_add(const trl_chain_sums *m, const trl_chain *c, double scale, double *edge,
                        double *tri)
{
    const size_t L = c->L, S = c->stride;
    for (size_t i = 0; edge && i < L * L; i++)
        edge[i] += scale * m->edge[i];
    for (size_t i = 0; tri && i < L * L * L; i++)
        tri[i] += scale * m->tri[i];
    if (!c->scaled)
        return;
    if (c->order == 2)
        for (size_t i = 0; i < L; i++)
            add_outer2(m, c, i, scale, edge, tri);
    else
        for (size_t i = 0; edge && i < L; i++)
            for (size_t k = 0; k < L; k++)
                edge[i * L + k] += scale * m->outer[i * S + k] * c->E[i * S + k];
}

/* ---- inference ------------------------------------------------------------------------------- */

double trl_sum_log(size_t n, const double *c)
{
    double sum = 0.0, product = 1.0;
    for (size_t t = 0; t < n; t++) {
        const double next = product * c[t];
        if (next > 1e-150 && next < 1e150) {
            product = next;
        } else {
            sum += log(product) + log(c[t]);
            product = 1.0;
        }
    }
    return sum + log(product);
}

static trl_status infer(const trl_chain_call *call, trl_chain_marginals *out, trl_chain_sums *sums,
                        trl_error *err)
{
    if (call->s->n == 0)
        return trl_fail(err, TRL_EINVAL, "an empty sequence has no marginals");
    *out = (trl_chain_marginals){0};
    bool fits = call->c->scaled && !call->s->row[TRL_TRI];
    if (call->s->chain.pairs && (!fits || (call->want & TRL_WANT_EDGE_ROWS)))
        return trl_pairs_by_rows(call, out, sums, err);
    if (fits && trl_chain_single_serves(call)) {
        const trl_status st = trl_chain_single1(call, out, sums, &fits, err);
        if (fits || st != TRL_OK)
            return st;
        fits = true;
    }
    if (fits) {
        const trl_status st = call->c->order == 1 ? trl_chain_scaled1(call, out, sums, &fits, err)
                                                  : trl_chain_scaled2(call, out, sums, &fits, err);
        if (fits || st != TRL_OK)
            return st;
    }
    return call->s->chain.pairs ? trl_pairs_by_rows(call, out, sums, err)
                                : trl_chain_log(call, out, sums, err);
}

trl_status trl_chain_infer(const trl_chain *c, const trl_chain_ask *ask, trl_chain_marginals *out,
                           trl_chain_sums *sums, trl_error *err)
{
    const trl_chain_call call = {
        c, ask->s, ask->arena, ask->want, ask->weight, NULL, ask->zeros || c->zeros};
    return infer(&call, out, sums, err);
}

trl_status trl_chain_adjoint(const trl_chain *c, const trl_chain_ask *ask, double *node,
                             trl_chain_marginals *out, trl_chain_sums *sums, trl_error *err)
{
    const trl_chain_call call = {
        c, ask->s, ask->arena, ask->want, ask->weight, node, ask->zeros || c->zeros};
    const trl_status st = infer(&call, out, sums, err);
    for (size_t k = 0; st == TRL_OK && out->node && k < ask->s->n * c->stride; k++)
        node[k] = -ask->weight * out->node[k];
    out->node = NULL;
    return st;
}

double trl_chain_score(const trl_chain *c, const trl_tables *s, const uint32_t *y)
{
    double sum = 0.0;
    for (size_t t = 0; t < s->n; t++) {
        sum += trl_node_at(s, t, y[t]);
        if (t >= 1)
            sum += trl_edge_at(c, s, t, y[t - 1], y[t]) +
                   (s->chain.pairs ? trl_pairs_score(s, t, y) : 0.0);
        if (t >= 2 && c->order == 2)
            sum += trl_tri_at(c, s, t, y[t - 2], y[t - 1], y[t]);
    }
    return sum;
}

static double largest(const double *x, size_t n, double most)
{
    for (size_t k = 0; k < n; k++)
        if (fabs(x[k]) > most && x[k] > -HUGE_VAL)
            most = fabs(x[k]);
    return most;
}

double trl_chain_largest_score(const trl_chain *c, const trl_tables *s)
{
    const size_t L = c->L;
    double most = largest(c->edge, L * L, 0.0);
    if (c->order == 2)
        most = largest(c->tri, L * L * L, most);
    size_t width = L;
    for (size_t f = 0; f <= (size_t)c->order; f++, width *= L)
        for (size_t t = f; s->row[f] && t < s->n; t++)
            most = largest(s->row[f] + t * s->step[f], width, most);
    return most;
}
