/* fit.c -- leaf values by line search on R, and the update of odds and weights.
 *
 * The leaves of a tree share no example, so each is a problem in one variable: with K = -Theta_f,
 * where the compound feature's parameter would be 0,
 *
 *     min_x  loss(x) + lambda |x - K|,     D(x) = d loss / d x, increasing in x:
 *
 *     |D(K)| <= lambda:   x = K            D(K) > lambda:  D(x) = lambda,   x < K
 *                                          D(K) < -lambda: D(x) = -lambda,  x > K
 *
 * by Newton's method within a bracket.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/loss.h"
#include "boost/trainer.h"

#define CLOSE 1e-4    /* |D - target| in lambdas from which one more Newton step is exact enough */
#define MAX_STEP 8.0  /* of Newton's method, in h */
#define MAX_STEPS 100 /* bisection alone needs 60 */

/* ---- sums over a leaf ------------------------------------------------------------------------ */

typedef struct slope_job {
    const double *v, *odds;
    size_t n;
    double t;
    double *part; /* [pieces][2] */
} slope_job;

static trl_status run_slope(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const slope_job *j = ctx;
    const size_t at = piece * TRL_LOSS_PIECE, left = j->n - at;
    const trl_slope s = trl_loss_slope(left < TRL_LOSS_PIECE ? left : TRL_LOSS_PIECE, j->v + at,
                                       j->odds + at, j->t);
    j->part[2 * piece] = s.first;
    j->part[2 * piece + 1] = s.second;
    return TRL_OK;
}

typedef struct leaf_examples {
    const double *v, *odds;
    size_t n;
    double positive; /* sum of v > 0 */
} leaf_examples;

/* D and its derivative at x. */
static trl_slope slope_at(trl_trainer *t, const leaf_examples *l, double x)
{
    slope_job j = {l->v, l->odds, l->n, exp(x), t->slope};
    const size_t pieces = (l->n + TRL_LOSS_PIECE - 1) / TRL_LOSS_PIECE;
    if (t->pool && pieces > 1)
        trl_pool_run_all(t->pool, pieces, run_slope, &j);
    else
        for (size_t k = 0; k < pieces; k++)
            (void)run_slope(&j, k, 0, NULL);
    trl_slope sum = {0};
    for (size_t k = 0; k < pieces; k++) {
        sum.first += t->slope[2 * k];
        sum.second += t->slope[2 * k + 1];
    }
    sum.first -= l->positive;
    return sum;
}

/* x with D(x) = target, started at `x` where the slope is `s`. */
static double solve(trl_trainer *t, const leaf_examples *l, double target, double x, trl_slope s)
{
    double low = -HUGE_VAL, high = HUGE_VAL;
    const double close = CLOSE * (fabs(target) > 0.0 ? fabs(target) : 1e-9 * l->positive);
    for (int k = 0; k < MAX_STEPS; k++) {
        const double miss = s.first - target;
        if (miss == 0.0)
            return x;
        *(miss < 0.0 ? &low : &high) = x;
        double step = -miss / s.second; /* may be infinite */
        if (!(fabs(step) <= MAX_STEP))
            step = miss < 0.0 ? MAX_STEP : -MAX_STEP;
        double next = x + step;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (next == x || !isfinite(next)) /* the step is below rounding, on one side of all */
            return x;
        if (fabs(miss) <= close && fabs(step) < 0.1)
            return next;
        x = next;
        s = slope_at(t, l, x);
    }
    return x;
}

/* The best change of Theta, 0 at present `theta`. */
static double best_change(trl_trainer *t, const leaf_examples *l, double theta)
{
    const double zero = -theta, lambda = t->lambda;
    const trl_slope s = slope_at(t, l, zero);
    if (fabs(s.first) <= lambda)
        return zero;
    const double target = s.first > lambda ? lambda : -lambda;
    const double x = solve(t, l, target, zero, s);
    return (target > 0.0) == (x < zero) ? x : zero; /* rounding must not cross the kink */
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static int by_literal(const void *pa, const void *pb)
{
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return a < b ? -1 : a > b;
}

/* The path of a leaf as ascending literals in t->path; their number is the leaf's depth. */
static trl_status collect_path(trl_trainer *t, uint32_t at, trl_error *err)
{
    const size_t n = t->grown[at].depth;
    uint32_t *path = trl_reserve(t->path, &t->path_cap, n + 1, sizeof *path);
    if (!path)
        return trl_fail_mem(err);
    t->path = path;
    for (size_t k = n; k-- > 0; at = t->grown[at].parent)
        path[k] = t->grown[at].literal;
    qsort(path, n, sizeof *path, by_literal);
    return TRL_OK;
}

/* The leaf's term, or SIZE_MAX when it has none yet. */
static trl_status find_term(trl_trainer *t, uint32_t at, size_t *term, trl_error *err)
{
    *term = SIZE_MAX;
    if (!trl_boost_terms_may_have(&t->terms, t->grown[at].hash))
        return TRL_OK;
    const trl_status st = collect_path(t, at, err);
    if (st == TRL_OK)
        *term = trl_boost_terms_find(&t->terms, t->grown[at].hash, t->path, t->grown[at].depth);
    return st;
}

static bool is_leaf(const trl_grown *g)
{
    return g->on == TRL_NO_ID;
}

/* A leaf of small weight sum whose parameter is 0 stays so: |D(0)| <= lambda. */
static trl_status choose_leaves(trl_trainer *t, size_t *n_chosen, trl_error *err)
{
    uint64_t *at = trl_reserve(t->leaf_at, &t->leaf_cap, t->n_grown + 1, sizeof *at);
    if (!at)
        return trl_fail_mem(err);
    t->leaf_at = at; /* by slot: where its examples start, or UINT64_MAX */
    uint64_t used = 0;
    *n_chosen = 0;
    for (size_t k = 0; k < t->n_grown; k++)
        at[k] = UINT64_MAX;
    for (uint32_t k = 0; k < t->n_grown; k++) {
        trl_grown *g = &t->grown[k];
        size_t term;
        g->value = 0.0;
        if (!is_leaf(g))
            continue;
        const trl_status st = find_term(t, k, &term, err);
        if (st != TRL_OK)
            return st;
        const int64_t size = g->total < 0 ? -g->total : g->total;
        if (size <= t->lambda_units && (term == SIZE_MAX || t->terms.term[term].theta == 0.0))
            continue;
        at[g->slot] = used;
        used += g->count;
        ++*n_chosen;
    }
    return TRL_OK;
}

static void gather(trl_trainer *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->slot[i] == TRL_NO_ID || t->leaf_at[t->slot[i]] == UINT64_MAX)
            continue;
        const uint64_t to = t->leaf_at[t->slot[i]]++;
        t->leaf_v[to] = t->v[i];
        t->leaf_odds[to] = t->odds[i];
    }
}

/* After gather: leaf_at is where the examples of the slot end. */
static leaf_examples examples_of(const trl_trainer *t, const trl_grown *g)
{
    const uint64_t begin = t->leaf_at[g->slot] - g->count;
    leaf_examples l = {t->leaf_v + begin, t->leaf_odds + begin, g->count, 0.0};
    for (size_t k = 0; k < l.n; k++)
        l.positive += l.v[k] > 0.0 ? l.v[k] : 0.0;
    return l;
}

static trl_status fit_leaf(trl_trainer *t, uint32_t at, bool *moved, trl_error *err)
{
    trl_grown *g = &t->grown[at];
    size_t term;
    if (!is_leaf(g) || t->leaf_at[g->slot] == UINT64_MAX)
        return TRL_OK;
    trl_status st = find_term(t, at, &term, err);
    const leaf_examples l = examples_of(t, g);
    if (st == TRL_OK)
        g->value =
            t->o->rate * best_change(t, &l, term == SIZE_MAX ? 0.0 : t->terms.term[term].theta);
    if (st != TRL_OK || g->value == 0.0)
        return st;
    *moved = true;
    if (term == SIZE_MAX && (st = collect_path(t, at, err)) == TRL_OK) {
        term = trl_boost_terms_add(&t->terms, g->hash, t->path, g->depth);
        if (term == SIZE_MAX)
            st = trl_fail_mem(err);
    }
    if (st == TRL_OK)
        t->terms.term[term].theta += g->value;
    return st;
}

/* ---- what a tree changes --------------------------------------------------------------------- */

typedef struct change_job {
    trl_trainer *t;
    const double *factor; /* [slots] exp(value); 1: no change */
    int64_t *part;        /* [pieces][3] sums of w and |w|; features of rows that were visited */
} change_job;

/* The number of its features. */
static int64_t change_row(trl_trainer *t, int64_t *sum, size_t i, int64_t by)
{
    const uint32_t *id = t->d->id;
    const uint64_t begin = trl_boost_begin(t->d->row_end, i), end = t->d->row_end[i];
    for (uint64_t k = begin; k < end; k++)
        sum[id[k]] += by;
    return (int64_t)(end - begin);
}

static trl_status run_change(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)err;
    const change_job *j = ctx;
    trl_trainer *t = j->t;
    int64_t total = 0, weight = 0, visited = 0;
    int64_t *sum = !t->root || worker == 0
                       ? t->root
                       : t->side + (worker - 1) * t->sums.n_blocks * TRL_SUMS_BLOCK;
    const size_t end = (piece + 1) * TRL_LOSS_PIECE < t->n ? (piece + 1) * TRL_LOSS_PIECE : t->n;
    for (size_t i = piece * TRL_LOSS_PIECE; i < end; i++) {
        const bool begins = i % TRL_WEIGHT_BLOCK == 0;
        if (t->slot[i] != TRL_NO_ID && j->factor[t->slot[i]] != 1.0) {
            t->odds[i] *= j->factor[t->slot[i]];
            const int64_t w = trl_loss_weight(t->v[i], t->odds[i], t->scale);
            if (sum && w != t->w[i])
                visited += change_row(t, sum, i, w - t->w[i]);
            t->w[i] = w;
        }
        const int64_t size = t->w[i] < 0 ? -t->w[i] : t->w[i];
        total += t->w[i];
        weight += size;
        if (t->block)
            t->block[i / TRL_WEIGHT_BLOCK] = size + (begins ? 0 : t->block[i / TRL_WEIGHT_BLOCK]);
    }
    j->part[3 * piece] = total;
    j->part[3 * piece + 1] = weight;
    j->part[3 * piece + 2] = visited;
    return TRL_OK;
}

/* Adds what other workers changed to the root's sums, and empties it. */
static void merge_sides(trl_trainer *t)
{
    const size_t n = t->sums.n_blocks * TRL_SUMS_BLOCK;
    for (size_t k = 0; t->side && k + 1 < trl_pool_threads(t->pool); k++) {
        int64_t *side = t->side + k * n;
        for (size_t a = 0; a < n; a++)
            t->root[a] += side[a];
        memset(side, 0, n * sizeof *side);
    }
}

static trl_status change_odds(trl_trainer *t, const double *factor, trl_error *err)
{
    const size_t pieces = (t->n + TRL_LOSS_PIECE - 1) / TRL_LOSS_PIECE;
    int64_t *part = trl_alloc(pieces, 3 * sizeof *part);
    if (!part)
        return trl_fail_mem(err);
    change_job j = {t, factor, part};
    if (t->pool)
        trl_pool_run_all(t->pool, pieces, run_change, &j);
    else
        for (size_t k = 0; k < pieces; k++)
            (void)run_change(&j, k, 0, NULL);
    merge_sides(t);
    t->total = t->weight = 0;
    for (size_t k = 0; k < pieces; k++) {
        t->total += part[3 * k];
        t->weight += part[3 * k + 1];
        t->visited += (uint64_t)part[3 * k + 2];
    }
    trl_free(part);
    return TRL_OK;
}

/* Whether all leaves below a node are 0; children come after their parents. */
static void mark_zero(trl_trainer *t)
{
    for (size_t k = t->n_grown; k-- > 0;) {
        trl_grown *g = &t->grown[k];
        g->zero = is_leaf(g) ? g->value == 0.0 : t->grown[g->on].zero && t->grown[g->off].zero;
    }
}

/* Nodes in preorder.  The way without the feature is followed in a loop: it may be long. */
static bool append(trl_trainer *t, uint32_t at, size_t first)
{
    while (!is_leaf(&t->grown[at]) && !t->grown[at].zero) {
        const trl_grown g = t->grown[at];
        const size_t here = t->trees.n_nodes;
        if (!trl_boost_ensemble_node(&t->trees,
                                     (trl_boost_node){t->grown[g.on].literal / 2, 0, 0.0}) ||
            !append(t, g.on, first))
            return false;
        t->trees.node[here].off = (uint32_t)(t->trees.n_nodes - first);
        at = g.off;
    }
    const double value = is_leaf(&t->grown[at]) ? t->grown[at].value : 0.0;
    return trl_boost_ensemble_node(&t->trees, (trl_boost_node){TRL_NO_ID, 0, value});
}

static trl_status apply_tree(trl_trainer *t, trl_error *err)
{
    double *factor = trl_alloc(t->n_grown, sizeof *factor);
    if (!factor)
        return trl_fail_mem(err);
    for (size_t k = 0; k < t->n_grown; k++)
        if (is_leaf(&t->grown[k]))
            factor[t->grown[k].slot] = exp(t->grown[k].value);
    mark_zero(t);
    trl_status st = TRL_OK;
    if (!append(t, 0, t->trees.n_nodes) || !trl_boost_ensemble_tree(&t->trees))
        st = trl_fail_mem(err);
    if (st == TRL_OK)
        st = change_odds(t, factor, err);
    trl_free(factor);
    return st;
}

trl_status trl_fit_leaves(trl_trainer *t, bool *moved, trl_error *err)
{
    size_t n_chosen = 0;
    *moved = false;
    trl_status st = choose_leaves(t, &n_chosen, err);
    if (st != TRL_OK || n_chosen == 0)
        return st;
    gather(t);
    for (uint32_t k = 0; st == TRL_OK && k < t->n_grown; k++)
        st = fit_leaf(t, k, moved, err);
    return st == TRL_OK && *moved ? apply_tree(t, err) : st;
}

trl_status trl_fit_intercept(trl_trainer *t, trl_error *err)
{
    const leaf_examples all = {t->v, t->odds, t->n, t->positive};
    const double x = solve(t, &all, 0.0, 0.0, slope_at(t, &all, 0.0));
    t->grown[0] = (trl_grown){.on = TRL_NO_ID, .off = TRL_NO_ID, .value = x};
    t->n_grown = 1;
    for (size_t i = 0; i < t->n; i++)
        t->slot[i] = t->v[i] != 0.0 ? 0 : TRL_NO_ID;
    return apply_tree(t, err);
}
