/* chart_kernel.c -- the loops over (i, k, j) and rules: inside, best, outside.
 *
 * Numbers of a cell are times 2^scale[cell]; combining (i, k) and (k, j) into (i, j) costs one
 * factor 2^(scale + scale - scale) for all its rules.  Outside numbers of a cell are times
 * 2^(scale of Z - scale[cell]), divided by Z's mantissa: inside times outside is the posterior.
 */
/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "chart/chart_kernel.h"

#include <math.h>
#include <string.h>

#include "num/simd.h"

#define UNSET INT32_MIN

TRL_INLINE double power_of_two(int64_t e)
{
    if (e < -1022)
        return 0.0;
    if (e > 1023)
        e = 1023;
    const uint64_t bits = (uint64_t)(e + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- one cell -------------------------------------------------------------------------------- */

static void rescale(trl_chart *c, uint32_t from, uint32_t to, size_t cell)
{
    double top = 0.0, sum = 0.0;
    for (uint32_t x = from; x < to; x++) {
        top = c->before[x] > top ? c->before[x] : top;
        top = c->after[x] > top ? c->after[x] : top;
        sum += 0.0 * (c->before[x] + c->after[x]);
    }
    if (sum != 0.0) { /* inf or NaN among them */
        c->overflow = true;
        top = 0.0;
    }
    if (!(top > 0.0)) {
        c->scale[cell] = UNSET;
        return;
    }
    int e = ilogb(top);
    e = e < -1022 ? -1022 : e; /* 2^-e must be finite */
    const double f = power_of_two(-e);
    for (uint32_t x = from; x < to; x++) {
        c->before[x] *= f;
        c->after[x] *= f;
    }
    c->scale[cell] += e;
}

/* Whether the item needs a unary rule above it. */
static bool barred(const trl_chart *c, uint32_t x, size_t cell)
{
    return !trl_skeleton_allows(c->s, c->g, cell, c->s->item[x] & TRL_STATE_MASK, TRL_NO_ID);
}

/* Turns the sums over binary rules into before and after. */
static void close_cell(trl_chart *c, size_t i, size_t j)
{
    const size_t cell = trl_cell(i, j);
    const uint32_t *item = c->s->item;
    const uint32_t from = c->s->first[cell], to = c->s->first[cell + 1];
    if (j - i == 1)
        c->scale[cell] = 0;
    if (from == to || c->scale[cell] == UNSET)
        return;
    for (uint32_t x = from; x < to; x++) {
        const double made = j - i == 1 ? 1.0 : c->before[x];
        c->before[x] = item[x] & TRL_BEFORE ? made * c->item_exp[x] : 0.0;
        c->after[x] = item[x] & TRL_AFTER ? c->before[x] : 0.0;
        if (c->s->n_must && barred(c, x, cell))
            c->after[x] = 0.0;
        if (c->back)
            c->back[TRL_BACK * (size_t)x + TRL_BACK_UNARY] = TRL_NO_ID;
    }
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        const trl_unary_edge *u = &c->unary[e];
        const double v = c->unary_exp[e] * c->before[u->child];
        if (!c->back) {
            c->after[u->parent] += v;
        } else if (v > c->after[u->parent]) {
            c->after[u->parent] = v;
            c->back[TRL_BACK * (size_t)u->parent + TRL_BACK_UNARY] = e;
        }
    }
    rescale(c, from, to, cell);
}

/* ---- binary rules ---------------------------------------------------------------------------- */

TRL_INLINE double edge_at(const trl_tree_tables *t, int anchor, size_t at, uint32_t q)
{
    if (!t->edge[anchor])
        return 1.0;
    const double x = t->edge[anchor][at * t->n_classes + q];
    return x >= 0.0 ? x : t->fill(t->self, anchor, at, q);
}

TRL_INLINE double edge_factor(const trl_tree_tables *t, size_t i, size_t k, size_t j, uint32_t r)
{
    const uint32_t q = t->edge_class[r];
    return edge_at(t, TRL_EDGE_FIRST, i, q) * edge_at(t, TRL_EDGE_SPLIT, k, q) *
           edge_at(t, TRL_EDGE_END, j, q);
}

/* The common exponent of the contributions of (i, k) and (k, j) to (i, j), relative to the
 * latter's. */
TRL_INLINE double join(trl_chart *c, size_t i, size_t k, size_t j)
{
    const int64_t sum = (int64_t)c->scale[trl_cell(i, k)] + c->scale[trl_cell(k, j)];
    const size_t cell = trl_cell(i, j);
    if (c->scale[cell] == UNSET)
        c->scale[cell] = (int32_t)sum;
    const int64_t more = sum - c->scale[cell];
    if (more > 300) { /* rare: the existing sums are scaled down instead */
        const double f = power_of_two(-more);
        for (uint32_t x = c->s->first[cell]; x < c->s->first[cell + 1]; x++)
            c->before[x] *= f;
        c->scale[cell] = (int32_t)sum;
        return 1.0;
    }
    return power_of_two(more);
}

TRL_INLINE void remember(trl_chart *c, uint32_t x, double v, uint32_t rule, size_t k, uint32_t left,
                         uint32_t right)
{
    uint32_t *back = c->back + TRL_BACK * (size_t)x;
    c->before[x] = v;
    back[TRL_BACK_RULE] = rule;
    back[TRL_BACK_SPLIT] = (uint32_t)k;
    back[TRL_BACK_LEFT] = left;
    back[TRL_BACK_RIGHT] = right;
}

TRL_INLINE void combine(trl_chart *c, const trl_tree_tables *t, size_t i, size_t k, size_t j,
                        bool any, bool best)
{
    const trl_grammar *g = c->g;
    const uint32_t *item = c->s->item;
    const uint32_t *right = c->map + k * g->n_states, *up = c->map + i * g->n_states;
    const double f = join(c, i, k, j);
    const size_t cell = trl_cell(i, k);
    for (uint32_t b = c->s->first[cell]; b < c->s->first[cell + 1]; b++) {
        const double x = c->after[b] * f;
        if (!(x > 0.0))
            continue;
        const uint32_t state = item[b] & TRL_STATE_MASK;
        for (uint32_t p = g->pair_by_left[state]; p < g->pair_by_left[state + 1]; p++) {
            const uint32_t d = right[g->pair[p].right];
            if (!d || !(c->after[d - 1] > 0.0))
                continue;
            const double both = x * c->after[d - 1];
            for (uint32_t r = g->pair[p].first; r < g->pair[p + 1].first; r++) {
                const uint32_t a = up[g->binary_parent[r]];
                if (!a)
                    continue;
                double v = both * t->binary_exp[r];
                if (any)
                    v *= edge_factor(t, i, k, j, r);
                if (!best)
                    c->before[a - 1] += v;
                else if (v > c->before[a - 1])
                    remember(c, a - 1, v, r, k, b, d - 1);
            }
        }
    }
}

static bool empty(const trl_chart *c, size_t cell)
{
    return c->s->first[cell] == c->s->first[cell + 1];
}

static void combine_all(trl_chart *c, const trl_tree_tables *t, size_t k, size_t j, bool any)
{
    for (size_t i = 0; i < k; i++) {
        if (c->scale[trl_cell(i, k)] == UNSET || empty(c, trl_cell(i, j)) ||
            empty(c, trl_cell(i, k)))
            continue;
        if (c->back)
            combine(c, t, i, k, j, any, true);
        else if (any)
            combine(c, t, i, k, j, true, false);
        else
            combine(c, t, i, k, j, false, false);
    }
}

void trl_chart_inside_end(trl_chart *c, const trl_tree_tables *t, size_t j, bool any)
{
    for (size_t i = 0; i < j; i++)
        c->scale[trl_cell(i, j)] = UNSET;
    for (size_t k = j; k-- > 0;) {
        close_cell(c, k, j);
        if (k > 0 && c->scale[trl_cell(k, j)] != UNSET && !empty(c, trl_cell(k, j)))
            combine_all(c, t, k, j, any);
    }
}

/* ---- outside -----------------------------------------------------------------------------------
 */

/* From after to before; leaves the posterior of each use in the adjoint. */
static void open_cell(trl_chart *c, size_t cell, trl_tree_adjoint *a)
{
    const uint32_t *item = c->s->item;
    const uint32_t from = c->s->first[cell], to = c->s->first[cell + 1];
    for (uint32_t x = from; x < to; x++)
        if ((item[x] & TRL_AFTER) && !(c->s->n_must && barred(c, x, cell)))
            c->out_before[x] += c->out_after[x];
    for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
        const trl_unary_edge *u = &c->unary[e];
        const double o = c->out_after[u->parent] * c->unary_exp[e];
        c->out_before[u->child] += o;
        if (a) {
            a->unary_at[e] = o * c->before[u->child];
            a->unary[u->rule] += a->unary_at[e];
        }
    }
    for (uint32_t x = from; x < to; x++) {
        if (a)
            a->item[x] = c->out_before[x] * c->before[x];
    }
}

TRL_INLINE void count_edge(const trl_tree_tables *t, trl_tree_adjoint *a, size_t i, size_t k,
                           size_t j, uint32_t r, double p)
{
    const uint32_t q = t->edge_class[r];
    if (a->edge[TRL_EDGE_FIRST])
        a->edge[TRL_EDGE_FIRST][i * t->n_classes + q] += p;
    if (a->edge[TRL_EDGE_SPLIT])
        a->edge[TRL_EDGE_SPLIT][k * t->n_classes + q] += p;
    if (a->edge[TRL_EDGE_END])
        a->edge[TRL_EDGE_END][j * t->n_classes + q] += p;
}

/* Adds the outside of (i, j) to those of (i, k) and (k, j). */
TRL_INLINE void distribute(trl_chart *c, const trl_tree_tables *t, trl_tree_adjoint *adj, size_t i,
                           size_t k, size_t j, bool any)
{
    const trl_grammar *g = c->g;
    const uint32_t *item = c->s->item;
    const uint32_t *right = c->map + k * g->n_states, *up = c->map + i * g->n_states;
    const size_t cell = trl_cell(i, k);
    const double f =
        power_of_two((int64_t)c->scale[cell] + c->scale[trl_cell(k, j)] - c->scale[trl_cell(i, j)]);
    if (!(f > 0.0))
        return;
    for (uint32_t b = c->s->first[cell]; b < c->s->first[cell + 1]; b++) {
        const double x = c->after[b];
        if (!(x > 0.0))
            continue;
        const uint32_t state = item[b] & TRL_STATE_MASK;
        double sum = 0.0;
        for (uint32_t p = g->pair_by_left[state]; p < g->pair_by_left[state + 1]; p++) {
            const uint32_t d = right[g->pair[p].right];
            if (!d || !(c->after[d - 1] > 0.0))
                continue;
            const double y = c->after[d - 1];
            for (uint32_t r = g->pair[p].first; r < g->pair[p + 1].first; r++) {
                const uint32_t a = up[g->binary_parent[r]];
                if (!a || !(c->out_before[a - 1] > 0.0))
                    continue;
                double w = c->out_before[a - 1] * c->item_exp[a - 1] * f * t->binary_exp[r];
                if (any)
                    w *= edge_factor(t, i, k, j, r);
                sum += w * y;
                c->out_after[d - 1] += w * x;
                if (adj) {
                    adj->binary[r] += w * x * y;
                    if (any)
                        count_edge(t, adj, i, k, j, r, w * x * y);
                }
            }
        }
        c->out_after[b] += sum;
    }
}

static void outside_end(trl_chart *c, const trl_tree_tables *t, size_t j, trl_tree_adjoint *a,
                        bool any)
{
    for (size_t i = 0; i < j; i++) {
        const size_t cell = trl_cell(i, j);
        if (empty(c, cell))
            continue;
        open_cell(c, cell, a);
        if (c->scale[cell] == UNSET)
            continue;
        for (size_t k = i + 1; k < j; k++) {
            if (c->scale[trl_cell(i, k)] == UNSET || c->scale[trl_cell(k, j)] == UNSET ||
                empty(c, trl_cell(i, k)) || empty(c, trl_cell(k, j)))
                continue;
            if (any)
                distribute(c, t, a, i, k, j, true);
            else
                distribute(c, t, a, i, k, j, false);
        }
    }
}

void trl_chart_outside(trl_chart *c, const trl_tree_tables *t, trl_tree_adjoint *a)
{
    const bool any = t->edge[0] || t->edge[1] || t->edge[2];
    memset(c->out_before, 0, c->n_items * sizeof *c->out_before);
    memset(c->out_after, 0, c->n_items * sizeof *c->out_after);
    c->out_after[c->root_item] = 1.0 / c->after[c->root_item];
    for (size_t j = c->n; j > 0; j--) {
        if (c->deadline > 0.0 && trl_clock() > c->deadline) {
            c->late = true;
            c->log_z = -(double)INFINITY;
            return;
        }
        trl_chart_map(c, j, true);
        outside_end(c, t, j, a, any);
        trl_chart_map(c, j, false);
    }
}
