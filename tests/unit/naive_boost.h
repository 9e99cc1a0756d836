/* naive_boost.h -- the learner of boost.h as its definition reads: sums over all examples for every
 * feature of every node, parameters in a list, R as a function.  For tests. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_NAIVE_BOOST_H
#define TRL_TEST_NAIVE_BOOST_H

#include "support.h"

#include "base/rng.h"
#include "boost/model.h"
#include "trellis/boost.h"

enum { NAIVE_N = 80, NAIVE_F = 14, NAIVE_TERMS = 4000, NAIVE_NODES = 100000 };

typedef struct naive_term {
    uint32_t literal[NAIVE_F];
    size_t n;
    double theta;
} naive_term;

typedef struct naive {
    size_t n, F;
    bool has[NAIVE_N][NAIVE_F];
    signed char y[NAIVE_N];
    double value[NAIVE_N], h[NAIVE_N];
    const trl_boost_options *o;
    double scale, lambda;
    naive_term term[NAIVE_TERMS];
    size_t n_terms;
    trl_boost_node node[NAIVE_NODES];
    size_t n_nodes;
    bool in[NAIVE_F + 1][NAIVE_N]; /* examples of the open nodes, by depth */
    size_t tree_end[2000], n_trees;
} naive;

/* Random examples whose answers depend on pairs of features, with noise. */
static void naive_random(naive *s, uint64_t seed, bool equal_values)
{
    trl_rng r = trl_rng_seed(seed);
    s->n = 20 + trl_rng_below(&r, NAIVE_N - 20);
    s->F = 2 + trl_rng_below(&r, NAIVE_F - 2);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t a = 0; a < s->F; a++)
            s->has[i][a] = trl_rng_unit(&r) < 0.15 + 0.5 * (double)a / NAIVE_F;
        const bool positive = s->has[i][0] != s->has[i][s->F / 2] || s->has[i][s->F - 1];
        s->y[i] = (trl_rng_unit(&r) < 0.9) == positive ? 1 : -1;
        s->value[i] = equal_values ? 1.0 : i % 7 == 3 ? 0.0 : 0.1 + trl_rng_unit(&r);
    }
    s->y[0] = 1, s->y[1] = -1;
}

static trl_boost_data *naive_data(const naive *s)
{
    size_t end[NAIVE_N], k = 0;
    uint32_t feature[NAIVE_N * NAIVE_F];
    trl_boost_data *d = NULL;
    trl_error err;
    for (size_t i = 0; i < s->n; end[i++] = k)
        for (size_t a = s->F; a-- > 0;) /* in any order */
            if (s->has[i][a])
                feature[k++] = (uint32_t)a;
    assert_ok(trl_boost_data_new(&(trl_boost_examples){s->n, s->F, end, feature}, (size_t)1 << 30,
                                 &d, &err));
    assert_ok(trl_boost_data_answer(d, "+1", s->y, s->value, &err));
    return d;
}

static double naive_penalty(const naive *s)
{
    double sum = 0.0;
    for (size_t k = 0; k < s->n_terms; k++)
        sum += fabs(s->term[k].theta);
    return sum;
}

static double naive_loss(const naive *s)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->value[i] * log1p(exp(-s->y[i] * s->h[i]));
    return sum;
}

/* R when the examples of a node had x more. */
static double naive_risk(const naive *s, const bool *in, double theta, double x)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->value[i] * log1p(exp(-s->y[i] * (s->h[i] + (in[i] ? x : 0.0))));
    return sum + s->lambda * (naive_penalty(s) - fabs(theta) + fabs(theta + x));
}

static int64_t naive_weight(const naive *s, size_t i)
{
    const double w = s->value[i] / (1.0 + exp(s->y[i] * s->h[i]));
    return s->y[i] * llround(s->scale * w);
}

static int64_t naive_gain(const naive *s, int64_t sum)
{
    const int64_t g = llabs(sum) - (int64_t)(s->lambda * s->scale);
    return g > 0 ? g : 0;
}

static naive_term *naive_find(naive *s, const uint32_t *path, size_t n)
{
    uint32_t sorted[NAIVE_F];
    memcpy(sorted, path, n * sizeof *path);
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && sorted[k - 1] > sorted[k]; k--) {
            const uint32_t x = sorted[k];
            sorted[k] = sorted[k - 1];
            sorted[k - 1] = x;
        }
    for (size_t k = 0; k < s->n_terms; k++)
        if (s->term[k].n == n && memcmp(s->term[k].literal, sorted, n * sizeof *sorted) == 0)
            return &s->term[k];
    assert_true(s->n_terms < NAIVE_TERMS);
    naive_term *t = &s->term[s->n_terms++];
    *t = (naive_term){.n = n};
    memcpy(t->literal, sorted, n * sizeof *sorted);
    return t;
}

/* d loss / d x for the examples of a node. */
static double naive_slope(const naive *s, const bool *in, double x)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++)
        if (in[i])
            sum -= s->y[i] * s->value[i] / (1.0 + exp(s->y[i] * (s->h[i] + x)));
    return sum;
}

static double naive_bisect(const naive *s, const bool *in, double target)
{
    double low = -60.0, high = 60.0;
    for (int k = 0; k < 200; k++) {
        const double x = 0.5 * (low + high);
        *(naive_slope(s, in, x) < target ? &low : &high) = x;
    }
    return 0.5 * (low + high);
}

/* The minimum of R in one parameter; R must not rise and be flat there on both sides. */
static double naive_leaf(naive *s, const bool *in, double theta)
{
    const double at_zero = naive_slope(s, in, -theta);
    double x = -theta;
    if (at_zero > s->lambda)
        x = naive_bisect(s, in, s->lambda);
    else if (at_zero < -s->lambda)
        x = naive_bisect(s, in, -s->lambda);
    const double e = 1e-4, R = naive_risk(s, in, theta, x);
    assert_true(R <= naive_risk(s, in, theta, 0.0) + 1e-12 * R);
    assert_true(R <= naive_risk(s, in, theta, x + e) + 1e-12 * R);
    assert_true(R <= naive_risk(s, in, theta, x - e) + 1e-12 * R);
    return x;
}

static bool naive_node(naive *s, size_t depth, uint32_t *path, double *value);

/* The best split of the examples s->in[depth]; false: none. */
static bool naive_split(const naive *s, const bool *in, uint32_t *feature)
{
    int64_t total = 0, best = 0;
    for (size_t i = 0; i < s->n; i++)
        total += in[i] ? naive_weight(s, i) : 0;
    for (size_t a = 0; a < s->F; a++) {
        int64_t on = 0;
        for (size_t i = 0; i < s->n; i++)
            on += in[i] && s->has[i][a] ? naive_weight(s, i) : 0;
        const int64_t g = naive_gain(s, on) + naive_gain(s, total - on);
        if (a == 0 || g > best) {
            best = g;
            *feature = (uint32_t)a;
        }
    }
    return best - naive_gain(s, total) > (int64_t)(s->lambda * s->o->min_gain * s->scale);
}

/* Appends the subtree; value[i] is what it gives example i.  True: all of its leaves are 0. */
static bool naive_node(naive *s, size_t depth, uint32_t *path, double *value)
{
    const bool *in = s->in[depth];
    const size_t here = s->n_nodes++;
    const size_t first = s->n_trees ? s->tree_end[s->n_trees - 1] : 0;
    uint32_t a = 0;
    assert_true(s->n_nodes < NAIVE_NODES);
    s->node[here] = (trl_boost_node){.feature = TRL_NO_ID};
    if ((s->o->depth && depth >= s->o->depth) || !naive_split(s, in, &a)) {
        if (depth == 0)
            return true;
        naive_term *t = naive_find(s, path, depth);
        const double x = s->o->rate * naive_leaf(s, in, t->theta);
        for (size_t i = 0; i < s->n; i++)
            if (in[i])
                value[i] = x;
        t->theta += x;
        s->node[here].value = x;
        return x == 0.0;
    }
    bool zero = true;
    s->node[here].feature = a;
    for (int off = 0; off < 2; off++) {
        for (size_t i = 0; i < s->n; i++)
            s->in[depth + 1][i] = in[i] && s->has[i][a] == !off;
        path[depth] = 2 * a + (uint32_t)off;
        if (off)
            s->node[here].off = (uint32_t)(s->n_nodes - first);
        if (!naive_node(s, depth + 1, path, value))
            zero = false;
    }
    if (zero) {
        s->n_nodes = here + 1;
        s->node[here] = (trl_boost_node){.feature = TRL_NO_ID};
    }
    return zero;
}

static void naive_end_tree(naive *s, const double *value)
{
    for (size_t i = 0; i < s->n; i++)
        s->h[i] += value[i];
    assert_true(s->n_trees < 2000);
    s->tree_end[s->n_trees++] = s->n_nodes;
}

static void naive_intercept(naive *s)
{
    double value[NAIVE_N];
    for (size_t i = 0; i < s->n; i++)
        s->in[0][i] = s->value[i] > 0.0;
    const double x = naive_bisect(s, s->in[0], 0.0);
    for (size_t i = 0; i < s->n; i++)
        value[i] = s->in[0][i] ? x : 0.0;
    s->node[s->n_nodes++] = (trl_boost_node){.feature = TRL_NO_ID, .value = x};
    naive_end_tree(s, value);
}

/* One tree, or false when the root cannot be split. */
static bool naive_tree(naive *s)
{
    double value[NAIVE_N] = {0};
    uint32_t path[NAIVE_F + 1];
    const size_t first = s->n_nodes;
    const double before = naive_loss(s) + s->lambda * naive_penalty(s);
    for (size_t i = 0; i < s->n; i++)
        s->in[0][i] = s->value[i] > 0.0;
    const bool none = naive_node(s, 0, path, value);
    if (none) {
        s->n_nodes = first;
        return false;
    }
    naive_end_tree(s, value);
    assert_true(naive_loss(s) + s->lambda * naive_penalty(s) <= before * (1.0 + 1e-12));
    return true;
}

/* The whole path; objective[k] is R at point k. */
static size_t naive_path(naive *s, const trl_boost_options *o, double *objective, size_t cap)
{
    double all = 0.0, first = 0.0;
    int64_t total = 0;
    int exponent;
    size_t n = 0, at_point = 0;
    s->o = o;
    for (size_t i = 0; i < s->n; i++)
        all += s->value[i];
    (void)frexp(all, &exponent);
    s->scale = ldexp(1.0, 61 - exponent);
    if (!o->no_intercept)
        naive_intercept(s);
    for (size_t i = 0; i < s->n; i++)
        total += naive_weight(s, i);
    for (size_t a = 0; a < s->F; a++) {
        int64_t on = 0;
        for (size_t i = 0; i < s->n; i++)
            on += s->has[i][a] ? naive_weight(s, i) : 0;
        first = fmax(first, fmax((double)llabs(on), (double)llabs(total - on)) / s->scale);
    }
    for (s->lambda = first;; s->lambda *= o->decay) {
        bool off = true; /* nothing is split at the first lambda */
        while (n && off) {
            while (naive_tree(s))
                if (o->trees && s->n_trees >= o->trees)
                    break;
            total = 0;
            for (size_t i = 0; i < s->n; i++)
                total += naive_weight(s, i);
            off = !o->no_intercept && fabs((double)total) > 0.01 * s->lambda * s->scale &&
                  !(o->trees && s->n_trees >= o->trees);
            if (off)
                naive_intercept(s);
        }
        assert_true(n < cap);
        if (n == 0 || s->n_trees > at_point)
            objective[n++] = naive_loss(s) + s->lambda * naive_penalty(s);
        at_point = s->n_trees;
        if (s->lambda * o->decay < o->lambda_end * first || (o->trees && s->n_trees >= o->trees))
            return n;
    }
}

#endif
