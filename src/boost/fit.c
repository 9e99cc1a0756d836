/* fit.c -- leaf values by line search on R.
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

/* D and its derivative at x.  A leaf of one piece is worked at by one thread, of several by all. */
static trl_slope slope_at(trl_trainer *t, const leaf_examples *l, double x)
{
    double one[2];
    const size_t pieces = trl_loss_pieces(l->n);
    slope_job j = {l->v, l->odds, l->n, exp(x), pieces > 1 ? t->slope : one};
    if (pieces > 1)
        trl_pool_run_all(t->pool, pieces, run_slope, &j);
    else
        (void)run_slope(&j, 0, 0, NULL);
    trl_slope sum = {0};
    for (size_t k = 0; k < pieces; k++) {
        sum.first += j.part[2 * k];
        sum.second += j.part[2 * k + 1];
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

/* A leaf of small weight sum whose parameter is 0 stays so: |D(0)| <= lambda.  Leaves that are
 * fitted are listed in t->fit. */
static trl_status choose_leaf(trl_trainer *t, uint32_t at, trl_error *err)
{
    trl_grown *g = &t->grown[at];
    size_t term;
    g->value = 0.0;
    if (!trl_is_leaf(g))
        return TRL_OK;
    const trl_status st = find_term(t, at, &term, err);
    if (st != TRL_OK)
        return st;
    const int64_t size = g->total < 0 ? -g->total : g->total;
    const double theta = term == SIZE_MAX ? 0.0 : t->terms.term[term].theta;
    if (size <= t->lambda_units && theta == 0.0)
        return TRL_OK;
    trl_leaf_fit *fit = trl_reserve(t->fit, &t->fit_cap, t->n_fit + 1, sizeof *fit);
    if (!fit)
        return trl_fail_mem(err);
    t->fit = fit;
    fit[t->n_fit++] = (trl_leaf_fit){at, term, theta};
    return TRL_OK;
}

static trl_status choose_leaves(trl_trainer *t, trl_error *err)
{
    uint64_t *at = trl_reserve(t->leaf_at, &t->leaf_cap, t->n_grown + 1, sizeof *at);
    if (!at)
        return trl_fail_mem(err);
    t->leaf_at = at; /* by slot: where its examples start, or UINT64_MAX */
    t->n_fit = 0;
    trl_status st = TRL_OK;
    for (uint32_t k = 0; st == TRL_OK && k < t->n_grown; k++) {
        at[k] = UINT64_MAX;
        st = choose_leaf(t, k, err);
    }
    uint64_t used = 0;
    for (size_t k = 0; st == TRL_OK && k < t->n_fit; k++) {
        const trl_grown *g = &t->grown[t->fit[k].at];
        at[g->slot] = used;
        used += g->count;
    }
    return st;
}

/* ---- examples of leaves ---------------------------------------------------------------------- */

typedef struct gather_job {
    trl_trainer *t;
    size_t parts;
    uint64_t *at; /* [parts][n_grown] where the next example of a slot goes */
} gather_job;

static size_t part_begin(const gather_job *j, size_t part)
{
    return j->t->n / j->parts * part;
}

static size_t part_end(const gather_job *j, size_t part)
{
    return part + 1 < j->parts ? part_begin(j, part + 1) : j->t->n;
}

static trl_status run_count(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const gather_job *j = ctx;
    const trl_trainer *t = j->t;
    uint64_t *n = j->at + part * t->n_grown;
    memset(n, 0, t->n_grown * sizeof *n);
    for (size_t i = part_begin(j, part), end = part_end(j, part); i < end; i++)
        if (t->slot[i] != TRL_NO_ID)
            n[t->slot[i]]++;
    return TRL_OK;
}

static trl_status run_gather(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const gather_job *j = ctx;
    trl_trainer *t = j->t;
    uint64_t *at = j->at + part * t->n_grown;
    for (size_t i = part_begin(j, part), end = part_end(j, part); i < end; i++) {
        if (t->slot[i] == TRL_NO_ID || at[t->slot[i]] == UINT64_MAX)
            continue;
        const uint64_t to = at[t->slot[i]]++;
        t->leaf_v[to] = t->v[i];
        t->leaf_odds[to] = t->odds[i];
    }
    return TRL_OK;
}

/* From the numbers of examples of each slot in each part to where the first of them goes. */
static void place_parts(const gather_job *j)
{
    const trl_trainer *t = j->t;
    for (size_t s = 0; s < t->n_grown; s++) {
        uint64_t to = t->leaf_at[s];
        for (size_t part = 0; part < j->parts; part++) {
            uint64_t *at = &j->at[part * t->n_grown + s];
            const uint64_t n = *at;
            *at = to;
            to += to == UINT64_MAX ? 0 : n;
        }
    }
}

/* Values and odds of the chosen leaves, each leaf's in the order of examples.  Afterwards leaf_at
 * is where those of a slot begin, as before. */
static trl_status gather(trl_trainer *t, trl_error *err)
{
    gather_job j = {.t = t, .parts = t->pool ? trl_pool_threads(t->pool) : 1};
    if (j.parts * t->n_grown > t->n)
        j.parts = 1; /* not worth counting */
    j.at = trl_alloc(j.parts * t->n_grown, sizeof *j.at);
    if (!j.at)
        return trl_fail_mem(err);
    if (j.parts > 1) {
        trl_pool_run_all(t->pool, j.parts, run_count, &j);
        place_parts(&j);
        trl_pool_run_all(t->pool, j.parts, run_gather, &j);
    } else {
        memcpy(j.at, t->leaf_at, t->n_grown * sizeof *j.at);
        (void)run_gather(&j, 0, 0, NULL);
    }
    trl_free(j.at);
    return TRL_OK;
}

static trl_status run_positive(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const slope_job *j = ctx;
    const size_t at = piece * TRL_LOSS_PIECE, left = j->n - at;
    double sum = 0.0;
    for (size_t k = at; k < at + (left < TRL_LOSS_PIECE ? left : TRL_LOSS_PIECE); k++)
        sum += j->v[k] > 0.0 ? j->v[k] : 0.0;
    j->part[piece] = sum;
    return TRL_OK;
}

static leaf_examples examples_of(const trl_trainer *t, const trl_grown *g)
{
    const uint64_t begin = t->leaf_at[g->slot];
    leaf_examples l = {t->leaf_v + begin, t->leaf_odds + begin, g->count, 0.0};
    double one[1];
    const size_t pieces = trl_loss_pieces(l.n);
    slope_job j = {.v = l.v, .n = l.n, .part = pieces > 1 ? t->slope : one};
    if (pieces > 1)
        trl_pool_run_all(t->pool, pieces, run_positive, &j);
    else
        (void)run_positive(&j, 0, 0, NULL);
    for (size_t k = 0; k < pieces; k++)
        l.positive += j.part[k];
    return l;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void fit_leaf(trl_trainer *t, trl_leaf_fit *f)
{
    trl_grown *g = &t->grown[f->at];
    const leaf_examples l = examples_of(t, g);
    g->value = t->o->rate * best_change(t, &l, f->theta);
}

static trl_status run_small(void *ctx, size_t k, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    trl_trainer *t = ctx;
    if (trl_loss_pieces(t->grown[t->fit[k].at].count) <= 1)
        fit_leaf(t, &t->fit[k]);
    return TRL_OK;
}

/* Large leaves one by one, with all threads at each; then small ones, with one thread each. */
static void fit_chosen(trl_trainer *t)
{
    for (size_t k = 0; k < t->n_fit; k++)
        if (trl_loss_pieces(t->grown[t->fit[k].at].count) > 1)
            fit_leaf(t, &t->fit[k]);
    trl_pool_run_all(t->pool, t->n_fit, run_small, t);
}

/* Adds the leaf's value to its compound feature. */
static trl_status keep_leaf(trl_trainer *t, const trl_leaf_fit *f, bool *moved, trl_error *err)
{
    const trl_grown *g = &t->grown[f->at];
    size_t term = f->term;
    trl_status st = TRL_OK;
    if (g->value == 0.0)
        return TRL_OK;
    *moved = true;
    if (term == SIZE_MAX && (st = collect_path(t, f->at, err)) == TRL_OK) {
        term = trl_boost_terms_add(&t->terms, g->hash, t->path, g->depth);
        if (term == SIZE_MAX)
            st = trl_fail_mem(err);
    }
    if (st == TRL_OK)
        t->terms.term[term].theta += g->value;
    return st;
}

trl_status trl_fit_leaves(trl_trainer *t, bool *moved, trl_error *err)
{
    *moved = false;
    trl_status st = choose_leaves(t, err);
    if (st != TRL_OK || t->n_fit == 0)
        return st;
    st = gather(t, err);
    if (st == TRL_OK)
        fit_chosen(t);
    for (size_t k = 0; st == TRL_OK && k < t->n_fit; k++)
        st = keep_leaf(t, &t->fit[k], moved, err);
    return st == TRL_OK && *moved ? trl_apply_tree(t, err) : st;
}

trl_status trl_fit_intercept(trl_trainer *t, trl_error *err)
{
    const leaf_examples all = {t->v, t->odds, t->n, t->positive};
    const double x = solve(t, &all, 0.0, 0.0, slope_at(t, &all, 0.0));
    t->grown[0] = (trl_grown){.on = TRL_NO_ID, .off = TRL_NO_ID, .value = x};
    t->n_grown = 1;
    trl_trainer_unslot(t);
    return trl_apply_tree(t, err);
}
