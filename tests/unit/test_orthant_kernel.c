/* test_orthant_kernel.c -- the sweeps of OWL-QN against their definitions, one element after the
 * other. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "base/rng.h"
#include "num/orthant_kernel.h"

#define N 37

/* Numbers of both signs, some of them 0. */
static double number(trl_rng *rng)
{
    return trl_rng_below(rng, 3) ? 4.0 * trl_rng_unit(rng) - 2.0 : 0.0;
}

static double smallest(double c1, double x, double g)
{
    if (x != 0.0)
        return x > 0.0 ? g + c1 : g - c1;
    return g + c1 < 0.0 ? g + c1 : g - c1 > 0.0 ? g - c1 : 0.0;
}

static void check(trl_rng *rng, size_t n, double c1, bool scaled)
{
    double x[N] = {0}, g[N] = {0}, v[N + 1], to[N + 1], from[N], scale[N] = {0};
    double sum = 0.0, slope = 0.0;
    for (size_t i = 0; i < n; i++) {
        x[i] = number(rng);
        g[i] = number(rng);
        to[i] = from[i] = number(rng);
        scale[i] = scaled ? ldexp(1.0, (int)trl_rng_below(rng, 9) - 4) : 1.0;
        sum += c1 * fabs(x[i]) / scale[i];
    }
    v[n] = to[n] = 77.0; /* not theirs */
    trl_orthant_gradient(n, c1, scaled ? scale : NULL, x, g, v);
    trl_orthant_project(n, x, v, to);
    for (size_t i = 0; i < n; i++) {
        const double side = x[i] != 0.0 ? x[i] : -v[i];
        assert_true(v[i] == smallest(c1 / scale[i], x[i], g[i]));
        assert_true(to[i] == (from[i] * side <= 0.0 ? 0.0 : from[i]));
        slope += v[i] * (to[i] - x[i]);
    }
    assert_true(v[n] == 77.0 && to[n] == 77.0);
    assert_near(trl_orthant_penalty(n, c1, scaled ? scale : NULL, x), sum, 1e-14);
    assert_near(trl_orthant_slope(n, v, x, to), slope, 1e-14);
}

static void test_definitions(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    for (int round = 0; round < 20; round++)
        for (size_t n = 0; n <= N; n++)
            check(&rng, n, (const double[]){0.1, 0.5, 1.5}[round % 3], round % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
