/* test_solve.c -- LU decomposition: residuals, pivoting, refusals. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "num/solve.h"

static void random_system(trl_rng *rng, size_t n, double *A, double *b)
{
    for (size_t i = 0; i < n * n; i++) /* a few zeros, some of them on the diagonal */
        A[i] = trl_rng_below(rng, 4) ? trl_rng_unit(rng) - 0.5 : 0.0;
    for (size_t i = 0; i < n; i++)
        b[i] = trl_rng_unit(rng) - 0.5;
}

/* The largest |A x - b| (or A^T x - b), relative to the sizes of the terms. */
static double residual(size_t n, const double *A, bool transposed, const double *x, const double *b)
{
    double worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        double r = -b[i], size = fabs(b[i]);
        for (size_t j = 0; j < n; j++) {
            const double term = (transposed ? A[j * n + i] : A[i * n + j]) * x[j];
            r += term;
            size += fabs(term);
        }
        const double relative = fabs(r) / (size + 1e-300);
        worst = relative > worst ? relative : worst;
    }
    return worst;
}

static void test_random(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    size_t solved = 0;
    for (int k = 0; k < 400; k++) {
        const size_t n = 1 + trl_rng_below(&rng, k < 380 ? 12 : 90);
        double *A = malloc(n * n * sizeof *A), *LU = malloc(n * n * sizeof *LU);
        double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x);
        size_t *pivot = malloc(n * sizeof *pivot);
        assert_true(A && LU && b && x && pivot);
        random_system(&rng, n, A, b);
        memcpy(LU, A, n * n * sizeof *A);
        if (trl_lu_factor(n, LU, pivot)) {
            solved++;
            memcpy(x, b, n * sizeof *x);
            trl_lu_solve(n, LU, pivot, x);
            assert_true(residual(n, A, false, x, b) < 1e-13);
            memcpy(x, b, n * sizeof *x);
            trl_lu_solve_transposed(n, LU, pivot, x);
            assert_true(residual(n, A, true, x, b) < 1e-13);
        }
        free(A);
        free(LU);
        free(b);
        free(x);
        free(pivot);
    }
    assert_true(solved > 300); /* tiny ones with zeros are often singular */
}

static void test_pivoting(void **state)
{
    (void)state;
    double A[9] = {0.0, 2.0, 0.0, 0.0, 0.0, 4.0, 8.0, 0.0, 0.0};
    double x[3] = {2.0, 4.0, 8.0}, z[3] = {8.0, 2.0, 4.0};
    size_t pivot[3];
    assert_true(trl_lu_factor(3, A, pivot));
    trl_lu_solve(3, A, pivot, x);
    trl_lu_solve_transposed(3, A, pivot, z);
    for (int i = 0; i < 3; i++) {
        assert_near(x[i], 1.0, 1e-15);
        assert_near(z[i], 1.0, 1e-15);
    }
    /* without pivoting the tiny element would wipe out the 1s */
    double B[4] = {1e-20, 1.0, 1.0, 1.0}, y[2] = {1.0, 2.0};
    assert_true(trl_lu_factor(2, B, pivot));
    trl_lu_solve(2, B, pivot, y);
    assert_near(y[0], 1.0, 1e-15);
    assert_near(y[1], 1.0, 1e-15);
}

static void test_refusals(void **state)
{
    (void)state;
    size_t pivot[3];
    double singular[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1}, zero[1] = {0.0};
    double nan_in_it[4] = {1.0, nan(""), 0.0, 1.0}, inf_in_it[1] = {HUGE_VAL};
    assert_false(trl_lu_factor(3, singular, pivot));
    double nearly[9] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}; /* but for rounding */
    assert_false(trl_lu_factor(3, nearly, pivot));
    assert_false(trl_lu_factor(1, zero, pivot));
    assert_false(trl_lu_factor(2, nan_in_it, pivot));
    assert_false(trl_lu_factor(1, inf_in_it, pivot));
    double never_ends[4] = {1.0, -1.0, -1.0, 1.0}; /* I - T of two states that only swap */
    assert_false(trl_lu_factor(2, never_ends, pivot));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_pivoting),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
