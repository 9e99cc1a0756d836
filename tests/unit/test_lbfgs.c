/* test_lbfgs.c -- where L-BFGS and OWL-QN stop by themselves, and how they start. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "base/fail.h"
#include "base/pool.h"
#include "base/rng.h"
#include "train/lbfgs.h"

#define N 150
#define MOST 20000

/* sum (x_i - x_{i-1} - b_i)^2 / 2 + 1, x_{-1} = 0: what one number needs is passed on from
 * neighbour to neighbour, a long way down. */
typedef struct valley {
    double b[N];
} valley;

static void valley_make(trl_rng *rng, valley *v)
{
    for (size_t i = 0; i < N; i++)
        v->b[i] = 2.0 * trl_rng_unit(rng) - 1.0;
}

static trl_status valley_value(void *self, const double *x, double *g, double *F, trl_error *err)
{
    (void)err;
    const valley *v = self;
    *F = 1.0;
    for (size_t i = 0; i < N; i++) {
        const double r = x[i] - (i ? x[i - 1] : 0.0) - v->b[i];
        *F += 0.5 * r * r;
        g[i] = r;
        if (i)
            g[i - 1] -= r;
    }
    return TRL_OK;
}

typedef struct curve {
    double F[MOST];
    size_t n;
} curve;

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    (void)save, (void)optimizer, (void)stop, (void)err;
    curve *c = self;
    assert_true(c->n < MOST);
    c->F[c->n++] = it->objective;
    return TRL_OK;
}

/* Until it stops by itself: its curve into *c.  No threads: without a pool. */
static void descend_by(size_t threads, valley *v, double c1, curve *c)
{
    trl_error err;
    trl_ending ending;
    trl_pool *pool = threads ? trl_pool_new(threads) : NULL;
    double *x = calloc(N + 64, sizeof *x);
    const trl_function f = {.self = v, .n = N, .eval = valley_value};
    const trl_lbfgs_options o = {
        .memory = 6, .c1 = c1, .max_iter = MOST, .epsilon = 1e-9, .period = 10, .delta = 1e-5};
    const trl_watcher eye = {c, watch, NULL};
    const trl_descent how = {.pool = pool, .watcher = &eye, .x = x, .ending = &ending};
    c->n = 0;
    assert_ok(trl_lbfgs(&f, &o, &how, &err));
    assert_int_equal(ending, TRL_END_STALLED);
    free(x);
    trl_pool_free(pool);
}

static void descend(valley *v, double c1, curve *c)
{
    descend_by(1, v, c1, c);
}

/* After iteration k: did the last ten gain less than delta?  Would as many iterations again, at
 * this rate, gain less than ten times that? */
static bool is_flat(const curve *c, size_t k)
{
    return c->F[k - 11] - c->F[k - 1] < 1e-5 * c->F[k - 1];
}

static bool is_done(const curve *c, size_t k)
{
    return (c->F[k - 11] - c->F[k - 1]) * (double)k / 10.0 < 1e-4 * c->F[k - 1];
}

/* Without c1 the first is enough, with c1 both must hold. */
static void test_rest(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    valley *v = malloc(sizeof *v);
    curve *c = malloc(sizeof *c);
    size_t later = 0;
    for (int round = 0; round < 12; round++) {
        const double c1 = (const double[]){0.0, 1e-2, 3e-3, 1e-3}[round % 4];
        valley_make(&rng, v);
        descend(v, c1, c);
        const size_t k = c->n;
        assert_true(k > 20 && is_flat(c, k) && (c1 <= 0.0 || is_done(c, k)));
        for (size_t j = 11; j < k; j++) {
            assert_false(is_flat(c, j) && (c1 <= 0.0 || is_done(c, j)));
            later += is_flat(c, j);
        }
    }
    assert_true(later > 0);
    free(v);
    free(c);
}

/* A pool is not needed: the same run, to the bit. */
static void test_no_pool(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    valley *v = malloc(sizeof *v);
    curve *with = malloc(sizeof *with), *without = malloc(sizeof *without);
    valley_make(&rng, v);
    for (int round = 0; round < 2; round++) {
        descend_by(2, v, round * 1e-2, with);
        descend_by(0, v, round * 1e-2, without);
        assert_int_equal(with->n, without->n);
        assert_memory_equal(with->F, without->F, with->n * sizeof *with->F);
    }
    free(v);
    free(with);
    free(without);
}

/* ---- with a point before the start ----------------------------------------------------------- */

#define STEEP 1e-3 /* curvature: a step of length 1 is far too short */

/* A bowl around 5, 5, ..., and no value beyond 1e6. */
static trl_status bowl_value(void *self, const double *x, double *g, double *F, trl_error *err)
{
    (void)self;
    *F = 1.0;
    for (size_t i = 0; i < N; i++) {
        if (x[i] > 1e6)
            return trl_fail(err, TRL_ENUMERIC, "too far");
        g[i] = STEEP * (x[i] - 5.0);
        *F += 0.5 * STEEP * (x[i] - 5.0) * (x[i] - 5.0);
    }
    return TRL_OK;
}

static void descend_from(const double *before, double c1, curve *c)
{
    trl_error err;
    trl_ending ending;
    double *x = calloc(N + 64, sizeof *x);
    const trl_function f = {.n = N, .eval = bowl_value};
    const trl_lbfgs_options o = {
        .memory = 6, .c1 = c1, .max_iter = 100, .epsilon = 1e-9, .before = before};
    const trl_watcher eye = {c, watch, NULL};
    const trl_descent how = {.watcher = &eye, .x = x, .ending = &ending};
    c->n = 0;
    assert_ok(trl_lbfgs(&f, &o, &how, &err));
    free(x);
}

/* The way from there says how long the first step may be: here it goes all the way.  A point that
 * has no value is as none. */
static void test_before(void **state)
{
    (void)state;
    curve *plain = malloc(sizeof *plain), *c = malloc(sizeof *c);
    double near[N], far[N];
    for (size_t i = 0; i < N; i++) {
        near[i] = -0.25;
        far[i] = 1e7;
    }
    for (int round = 0; round < 2; round++) {
        const double c1 = round * 1e-4, least = 1.0 + N * (5.0 * c1 - 0.5 * c1 * c1 / STEEP);
        descend_from(NULL, c1, plain);
        descend_from(near, c1, c);
        assert_near(c->F[c->n - 1], least, 1e-9);
        assert_near(c->F[0], least, 1e-4);
        assert_true(plain->F[0] > 1.2 * least);
        descend_from(far, c1, c);
        assert_int_equal(c->n, plain->n);
        assert_memory_equal(c->F, plain->F, c->n * sizeof *c->F);
    }
    free(plain);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest), cmocka_unit_test(test_no_pool),
                                       cmocka_unit_test(test_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
