/* label_lattice_sums.c -- sums over all paths of a lattice.
 *
 * With w = exp(score - m_t), m_t the largest score of the arcs into layer t:
 *
 *     alpha(x) = sum over arcs (x', x) of a(x') w,   a = alpha / c_t,  c_t = sum of alpha over t
 *     beta(x') = sum over arcs (x', x) of w b(x),    b = beta / r_t,   r_t = sum of beta over t
 *     log Z = sum_t (log c_t + m_t)
 *     P(arc) = a w b / sum over the arcs of its layer,   P(x) = a b / d_t,   d_t = a . b
 *
 * What underflows is lost.  A cell that is lost in alpha at t is below 1e-307 / c_t of its row, and
 * its share in P is at most that over d_t, since b <= 1; the same holds of beta.  So where c_t, r_t
 * and d_t are all above 1e-80, nothing above 1e-60 is missing; else the logarithms of all are used.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/fail.h"
#include "chain/label_lattice.h"
#include "num/simd.h"
#include "num/vexp.h"

#define SMALLEST 1e-80

typedef struct sums {
    const trl_lattice *g;
    double *a, *b; /* [n] */
    double *w;     /* [n_arcs], then enter */
    double *c;     /* [T] */
    double shift;
} sums;

static bool sums_get(const trl_lattice *g, trl_arena *arena, sums *s)
{
    *s = (sums){.g = g};
    s->a = trl_arena_get(arena, g->n, sizeof(double));
    s->b = trl_arena_get(arena, g->n, sizeof(double));
    s->w = trl_arena_get(arena, g->n_arcs + 1, sizeof(double));
    s->c = trl_arena_get(arena, g->T, sizeof(double));
    return s->a && s->b && s->w && s->c;
}

/* ---- on exponentials ------------------------------------------------------------------------- */

static double scale(double *x, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    for (size_t k = 0; k < n; k++)
        x[k] /= sum;
    return sum;
}

static void forward(sums *s)
{
    const trl_lattice *g = s->g;
    const double max = trl_vmax(g->first[1], g->enter);
    s->shift = max;
    trl_vexp(g->first[1], g->enter, max, s->a);
    s->c[0] = scale(s->a, g->first[1]);
    for (size_t t = 1; t < g->T; t++) {
        const size_t from = g->first[t], to = g->first[t + 1];
        const size_t arc = g->arc[from], arcs = g->arc[to] - arc;
        const double m = trl_vmax(arcs, g->score + arc);
        s->shift += m;
        trl_vexp(arcs, g->score + arc, m, s->w + arc);
        for (size_t x = from; x < to; x++) {
            double sum = 0.0;
            for (size_t k = g->arc[x]; k < g->arc[x + 1]; k++)
                sum += s->a[g->from[k]] * s->w[k];
            s->a[x] = sum;
        }
        s->c[t] = scale(s->a + from, to - from);
    }
}

/* False when something may be missing. */
static bool backward(sums *s)
{
    const trl_lattice *g = s->g;
    double least = HUGE_VAL;
    for (size_t x = g->first[g->T - 1]; x < g->n; x++)
        s->b[x] = 1.0;
    for (size_t t = g->T; t-- > 0;) {
        const size_t from = g->first[t], to = g->first[t + 1];
        const double r = scale(s->b + from, to - from);
        double d = 0.0;
        for (size_t x = from; x < to; x++)
            d += s->a[x] * s->b[x];
        const double worst = d < r ? d : r;
        least = worst < least ? worst : least;
        least = s->c[t] < least ? s->c[t] : least;
        if (!(least > SMALLEST)) /* NaN too */
            return false;
        for (size_t x = t ? g->first[t - 1] : 0; t && x < from; x++)
            s->b[x] = 0.0;
        for (size_t x = from; x < to; x++)
            for (size_t k = g->arc[x]; k < g->arc[x + 1]; k++)
                s->b[g->from[k]] += s->w[k] * s->b[x];
    }
    return true;
}

/* ---- what comes out -------------------------------------------------------------------------- */

/* Cells that sum to `sum` become probabilities. */
static void divide(double *x, size_t n, double sum)
{
    for (size_t k = 0; k < n; k++)
        x[k] /= sum;
}

/* Those into layer t. */
static size_t layer_arcs(const trl_lattice *g, size_t t)
{
    return g->arc[g->first[t + 1]] - g->arc[g->first[t]];
}

static void results(const sums *s, trl_lattice_sums *out)
{
    const trl_lattice *g = s->g;
    for (size_t t = 0; t < g->T; t++) {
        double node = 0.0, edge = 0.0;
        double *p = out->node ? out->node + t * out->node_step : NULL;
        double *pairs = out->edge && t ? out->edge + t * out->edge_step : NULL;
        for (size_t x = g->first[t]; x < g->first[t + 1]; x++) {
            if (p) {
                p[g->label[x]] += s->a[x] * s->b[x];
                node += s->a[x] * s->b[x];
            }
            for (size_t k = g->arc[x]; pairs && k < g->arc[x + 1]; k++) {
                const double mass = s->a[g->from[k]] * s->w[k] * s->b[x];
                pairs[g->label[g->from[k]] * out->L + g->label[x]] += mass;
                edge += mass;
                if (out->arc)
                    out->arc[k] = mass;
            }
        }
        if (p)
            divide(p, out->L, node);
        if (pairs)
            divide(pairs, out->L * out->L, edge);
        if (pairs && out->arc)
            divide(out->arc + g->arc[g->first[t]], layer_arcs(g, t), edge);
    }
}

/* ---- in logarithms --------------------------------------------------------------------------- */

static double add_logs(double a, double b)
{
    const double high = a > b ? a : b, low = a > b ? b : a;
    return low == -HUGE_VAL ? high : high + log1p(exp(low - high));
}

static void log_forward(sums *s)
{
    const trl_lattice *g = s->g;
    for (size_t x = 0; x < g->n; x++) {
        s->a[x] = x < g->first[1] ? g->enter[x] : -HUGE_VAL;
        for (size_t k = g->arc[x]; k < g->arc[x + 1]; k++)
            s->a[x] = add_logs(s->a[x], s->a[g->from[k]] + g->score[k]);
    }
}

static void log_backward(sums *s)
{
    const trl_lattice *g = s->g;
    const size_t last = g->first[g->T - 1];
    for (size_t x = 0; x < g->n; x++)
        s->b[x] = x < last ? -HUGE_VAL : 0.0;
    for (size_t x = g->n; x-- > 0;)
        for (size_t k = g->arc[x]; k < g->arc[x + 1]; k++)
            s->b[g->from[k]] = add_logs(s->b[g->from[k]], g->score[k] + s->b[x]);
}

/* Each layer is shifted by its own largest, and normalised on its own: scores of any size cost the
 * other layers no digits. */
static void log_results(const sums *s, trl_lattice_sums *out)
{
    const trl_lattice *g = s->g;
    for (size_t t = 0; t < g->T; t++) {
        double node = 0.0, edge = 0.0, max = -HUGE_VAL;
        double *p = out->node ? out->node + t * out->node_step : NULL;
        double *pairs = out->edge && t ? out->edge + t * out->edge_step : NULL;
        for (size_t x = g->first[t]; x < g->first[t + 1]; x++)
            max = s->a[x] + s->b[x] > max ? s->a[x] + s->b[x] : max;
        for (size_t x = g->first[t]; x < g->first[t + 1]; x++) {
            const double mine = exp(s->a[x] + s->b[x] - max);
            if (p)
                p[g->label[x]] += mine;
            node += mine;
            for (size_t k = g->arc[x]; pairs && k < g->arc[x + 1]; k++) {
                const double mass = exp(s->a[g->from[k]] + g->score[k] + s->b[x] - max);
                pairs[g->label[g->from[k]] * out->L + g->label[x]] += mass;
                edge += mass;
                if (out->arc)
                    out->arc[k] = mass;
            }
        }
        if (p)
            divide(p, out->L, node);
        if (pairs)
            divide(pairs, out->L * out->L, edge);
        if (pairs && out->arc)
            divide(out->arc + g->arc[g->first[t]], layer_arcs(g, t), edge);
    }
}

trl_status trl_lattice_infer_log(const trl_lattice *g, trl_arena *arena, trl_lattice_sums *out,
                                 trl_error *err)
{
    sums s;
    if (!sums_get(g, arena, &s))
        return trl_fail_mem(err);
    log_forward(&s);
    out->log_z = -HUGE_VAL;
    for (size_t x = g->first[g->T - 1]; x < g->n; x++)
        out->log_z = add_logs(out->log_z, s.a[x]);
    if (!isfinite(out->log_z))
        return trl_fail(err, TRL_ENUMERIC, "the scores are too large for a sum");
    if (out->node || out->edge) {
        log_backward(&s);
        log_results(&s, out);
    }
    return TRL_OK;
}

trl_status trl_lattice_infer(const trl_lattice *g, trl_arena *arena, trl_lattice_sums *out,
                             trl_error *err)
{
    sums s;
    if (!sums_get(g, arena, &s))
        return trl_fail_mem(err);
    forward(&s);
    if (!backward(&s))
        return trl_lattice_infer_log(g, arena, out, err);
    out->log_z = s.shift;
    for (size_t t = 0; t < g->T; t++)
        out->log_z += log(s.c[t]);
    results(&s, out);
    return TRL_OK;
}
