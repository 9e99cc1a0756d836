/* test_matrix_kernel.c -- every kernel against its plain twin, all sizes up to 70.
 *
 * All terms are positive in forward-backward, so the twins may differ by the rounding of n + 2
 * operations: 1e-14 relative is ample for n = 70.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "num/matrix_kernel.h"
#include "plain_matrix.h"

#define TOL 1e-14
#define MAX 70
#define WIDE 96 /* padded(MAX) and some strides more */

typedef struct case_data {
    size_t n, stride;
    double *x, *M, *psi, *y, *want; /* exactly as long as the contract says */
} case_data;

static double *numbers(trl_rng *rng, size_t n)
{
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = trl_rng_unit(rng);
    return x;
}

/* The row's own padding, one more vector, or a width that has nothing to do with n. */
static size_t stride_for(trl_rng *rng, size_t n, int round)
{
    return round == 0   ? trl_padded(n)
           : round == 1 ? trl_padded(n) + 8
                        : 8 + 8 * trl_rng_below(rng, 12);
}

static case_data case_make(trl_rng *rng, size_t n, size_t stride)
{
    return (case_data){n,
                       stride,
                       numbers(rng, n > stride ? n : stride),
                       numbers(rng, n * stride),
                       numbers(rng, stride),
                       numbers(rng, stride),
                       numbers(rng, stride)};
}

static void case_free(case_data *d)
{
    free(d->x);
    free(d->M);
    free(d->psi);
    free(d->y);
    free(d->want);
}

static void same(size_t n, const double *got, const double *want, const char *what, size_t rows)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= TOL * fabs(want[i])))
            fail_msg("%s, n = %zu: [%zu] is %.17g, not %.17g", what, rows, i, got[i], want[i]);
}

static void test_vecmat(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(11);
    for (size_t n = 1; n <= MAX; n++)
        for (int round = 0; round < 4; round++) {
            case_data d = case_make(&rng, n, stride_for(&rng, n, round));
            trl_vecmat(n, d.stride, d.x, d.M, d.y);
            vecmat_plain(n, d.stride, d.x, d.M, d.want);
            same(d.stride, d.y, d.want, "vecmat", n);
            case_free(&d);
        }
}

static void test_forward_step(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(12);
    for (size_t n = 1; n <= MAX; n++)
        for (int round = 0; round < 4; round++) {
            case_data d = case_make(&rng, n, stride_for(&rng, n, round));
            for (size_t j = n; j < d.stride; j++)
                d.psi[j] = 0.0;
            const double c = trl_forward_step(n, d.stride, d.x, d.M, 0.37, d.psi, d.y);
            const double want = forward_step_plain(n, d.stride, d.x, d.M, 0.37, d.psi, d.want);
            same(1, &c, &want, "forward sum", n);
            same(d.stride, d.y, d.want, "forward step", n);
            case_free(&d);
        }
}

static void test_backward_step(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(13);
    for (size_t n = 1; n <= MAX; n++)
        for (int round = 0; round < 2; round++) {
            case_data d = case_make(&rng, n, stride_for(&rng, n, round));
            double *beta = numbers(&rng, d.stride), *tmp = numbers(&rng, d.stride);
            const double r = trl_backward_step(n, d.stride, d.psi, beta, d.M, 0.37, tmp, d.y);
            const double want =
                backward_step_plain(n, d.stride, d.psi, beta, d.M, 0.37, tmp, d.want);
            same(1, &r, &want, "backward sum", n);
            same(d.stride, d.y, d.want, "backward step", n);
            free(beta);
            free(tmp);
            case_free(&d);
        }
}

static void test_combine(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(15);
    for (size_t stride = 8; stride <= 80; stride += 8) {
        double *a[2], *b[2], *v[2], sum = 0.0;
        for (int k = 0; k < 2; k++) {
            trl_rng same_numbers = rng;
            a[k] = numbers(&same_numbers, stride);
            b[k] = numbers(&same_numbers, stride);
            v[k] = numbers(&same_numbers, stride);
        }
        trl_combine(stride, 2.5, 0.75, a[0], b[0], v[0]);
        combine_plain(stride, 2.5, 0.75, a[1], b[1], v[1]);
        same(stride, a[0], a[1], "combined alpha", stride);
        same(stride, b[0], b[1], "combined beta", stride);
        same(stride, v[0], v[1], "combined psi", stride);
        for (size_t j = 0; j < stride; j++)
            sum += b[0][j];
        assert_near(sum, 1.0, TOL);
        for (int k = 0; k < 2; k++) {
            free(a[k]);
            free(b[k]);
            free(v[k]);
        }
        (void)trl_rng_u64(&rng);
    }
}

static void test_multiply(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(14);
    for (size_t n = 0; n <= WIDE; n += 8) {
        double *x = numbers(&rng, n + 1), *y = numbers(&rng, n + 1), want[WIDE + 1];
        for (size_t i = 0; i <= n; i++)
            want[i] = i < n ? x[i] * y[i] : y[i];
        trl_multiply(n, x, y);
        assert_memory_equal(y, want, (n + 1) * sizeof *y);
        free(x);
        free(y);
    }
}

static void test_outer_sum(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(15);
    static const size_t lengths[] = {0, 1, 2, 7, 33};
    for (size_t n = 1; n <= MAX; n++)
        for (int round = 0; round < 3; round++) {
            const size_t stride = stride_for(&rng, n, round), T = lengths[n % 5];
            const size_t a_step = n + trl_rng_below(&rng, 5),
                         b_step = stride + 8 * trl_rng_below(&rng, 3);
            double *A = numbers(&rng, T * a_step + 1), *B = numbers(&rng, T * b_step + 1);
            double *X = numbers(&rng, n * stride), *want = malloc(n * stride * sizeof *want);
            assert_non_null(want);
            memcpy(want, X, n * stride * sizeof *want);
            trl_outer_sum(T, n, stride, A, a_step, B, b_step, X);
            outer_sum_plain(T, n, stride, A, a_step, B, b_step, want);
            same(n * stride, X, want, "outer sum", n);
            free(A);
            free(B);
            free(X);
            free(want);
        }
}

/* Bit for bit: one addition per candidate.  Few distinct values, so that most maxima are ties;
 * packed rows (step < lanes) as well as padded ones. */
static void test_maxplus(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(16);
    for (size_t n = 1; n <= MAX; n++)
        for (int round = 0; round < 4; round++) {
            const size_t lanes = trl_padded(n), step = round % 2 ? n : lanes + 8;
            double *x = numbers(&rng, n), *M = numbers(&rng, (n - 1) * step + lanes);
            for (size_t i = 0; round >= 2 && i < (n - 1) * step + lanes; i++)
                M[i] = M[i] < 0.3 ? -HUGE_VAL : floor(3.0 * M[i]);
            for (size_t i = 0; round >= 2 && i < n; i++)
                x[i] = x[i] < 0.2 ? -HUGE_VAL : floor(3.0 * x[i]);
            double y[WIDE], want[WIDE];
            int64_t from[WIDE], want_from[WIDE];
            trl_maxplus(n, lanes, x, M, step, y, from);
            maxplus_plain(n, lanes, x, M, step, want, want_from);
            assert_memory_equal(y, want, lanes * sizeof *y);
            assert_memory_equal(from, want_from, lanes * sizeof *from);
            free(x);
            free(M);
        }
}

static void test_maxplus_ties_take_the_lowest(void **state)
{
    (void)state;
    double x[5] = {1.0, 3.0, 2.0, 3.0, -HUGE_VAL}, M[5 * 8], y[8];
    int64_t from[8];
    for (int k = 0; k < 40; k++)
        M[k] = 0.0;
    M[0 * 8 + 1] = 2.0;                       /* 3 from 0, before 1 and 3 */
    M[2 * 8 + 2] = 1.5;                       /* 3.5 from 2 alone */
    M[1 * 8 + 3] = -1.0, M[3 * 8 + 3] = -1.0; /* 2 from 1, 2 and 3 */
    for (int i = 0; i < 5; i++)
        M[i * 8 + 4] = -HUGE_VAL; /* nothing: 0 */
    static const int64_t want_from[5] = {1, 0, 2, 1, 0};
    static const double want[5] = {3.0, 3.0, 3.5, 2.0, -HUGE_VAL};
    trl_maxplus(5, 8, x, M, 8, y, from);
    for (int j = 0; j < 5; j++) {
        assert_int_equal(from[j], want_from[j]);
        assert_true(y[j] == want[j]);
    }
}

/* The twins themselves, once, by hand: M = [1 2; 3 4], x = (5, 6). */
static void test_plain_twins_by_hand(void **state)
{
    (void)state;
    const double x[8] = {5, 6}, psi[8] = {2, 1};
    const double M[16] = {1, 2, 0, 0, 0, 0, 0, 0, 3, 4};
    double y[8], tmp[8], v[8] = {1, 2}, X[16] = {100};
    vecmat_plain(2, 8, x, M, y);
    assert_true(y[0] == 23.0 && y[1] == 34.0 && y[2] == 0.0);
    assert_true(forward_step_plain(2, 8, x, M, 0.5, psi, y) == 40.0);
    assert_true(y[0] == 23.0 && y[1] == 17.0);
    /* psi v = (2, 2) */
    assert_true(backward_step_plain(2, 8, psi, v, M, 0.5, tmp, y) == 10.0);
    assert_true(y[0] == 4.0 && y[1] == 6.0);
    double alpha[8] = {2, 6}, beta[8] = {3, 1}, w[8] = {1, 1};
    /* a = (1/4, 3/4), b = (3/4, 1/4), d = 3/8 */
    combine_plain(8, 8.0, 4.0, alpha, beta, w);
    assert_true(alpha[0] == 0.25 && beta[0] == 0.5 && beta[1] == 0.5 && w[0] == 0.25);
    outer_sum_plain(2, 2, 8, M, 8, M, 8, X); /* X += M' M */
    assert_true(X[0] == 110.0 && X[1] == 14.0 && X[8] == 14.0 && X[9] == 20.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vecmat),
        cmocka_unit_test(test_forward_step),
        cmocka_unit_test(test_backward_step),
        cmocka_unit_test(test_combine),
        cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_outer_sum),
        cmocka_unit_test(test_maxplus),
        cmocka_unit_test(test_maxplus_ties_take_the_lowest),
        cmocka_unit_test(test_plain_twins_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
