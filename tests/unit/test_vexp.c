/* test_vexp.c -- array exponentials against long double. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "base/rng.h"
#include "num/vexp.h"

#define ULP_BOUND 2.0L /* what vexp.h promises; 1.0 is the worst seen */

/* |y - exp x| in units of the last place of exp x. */
static long double ulps(double x, double y)
{
    const long double want = expl((long double)x);
    const double place = nextafter((double)want, HUGE_VAL) - (double)want;
    return fabsl((long double)y - want) / (long double)place;
}

static void check_ulps(size_t n, const double *x, const double *y)
{
    for (size_t i = 0; i < n; i++)
        if (!(ulps(x[i], y[i]) < ULP_BOUND))
            fail_msg("exp(%.17g) = %.17g is %.3Lf ulp off", x[i], y[i], ulps(x[i], y[i]));
}

static void test_accuracy(void **state)
{
    (void)state;
    enum { N = 400000 };
    static double x[N], y[N];
    trl_rng rng = trl_rng_seed(1);
    static const double lo[] = {-708.0, -1.0, -40.0, -1e-6}, hi[] = {709.0, 1.0, 0.0, 1e-6};
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < N; i++)
            x[i] = lo[k] + (hi[k] - lo[k]) * trl_rng_unit(&rng);
        trl_vexp(N, x, 0.0, y);
        check_ulps(N, x, y);
    }
    for (size_t i = 0; i < N; i++) /* around the halves of ln 2, where rounding to k is worst */
        x[i] = ((double)(i % 2000) - 1000.0 + 0.5) * 0x1.62e42fefa39efp-1 +
               1e-9 * (trl_rng_unit(&rng) - 0.5);
    trl_vexp(N, x, 0.0, y);
    check_ulps(N, x, y);
}

/* Powers of numbers from subnormal ones to 1, and a little above; any length; 0 stays 0. */
static void test_powers(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double x[N], y[N];
    trl_rng rng = trl_rng_seed(2);
    for (int k = 0; k < 12; k++) {
        const double p = k == 0 ? 1.0 : trl_rng_unit(&rng);
        for (size_t i = 0; i < N; i++)
            x[i] = i % 3 == 0   ? exp(-745.0 * trl_rng_unit(&rng))
                   : i % 3 == 1 ? 1.5 * trl_rng_unit(&rng)
                                : 1.0 + 1e-8 * (trl_rng_unit(&rng) - 0.5);
        x[7] = 0.0, x[8] = 1.0, x[9] = 0x1p-1074;
        const size_t n = N - (size_t)k;
        trl_vpow(n, x, p, y);
        assert_true(y[7] == 0.0 && y[8] == 1.0);
        for (size_t i = 0; i < n; i++) {
            const double want = (double)powl((long double)x[i], (long double)p);
            if (want > 1e-300 && !(fabs(y[i] - want) <= 2e-13 * want))
                fail_msg("%.17g^%.17g = %.17g, not %.17g", x[i], p, y[i], want);
        }
    }
}

/* Sums of exponentials are those of the exponentials, maxima those of all places, NaN or not. */
static void test_sums(void **state)
{
    (void)state;
    double x[40], y[40], z[40];
    trl_rng rng = trl_rng_seed(3);
    for (size_t n = 0; n <= 40; n++)
        for (int round = 0; round < 10; round++) {
            double sum = 0.0, max = -HUGE_VAL;
            for (size_t i = 0; i < n; i++) {
                x[i] = trl_rng_below(&rng, 6) ? 9.0 * trl_rng_unit(&rng) : -HUGE_VAL;
                max = fmax(max, x[i]);
            }
            assert_true(trl_vmax(n, x) == max);
            trl_vexp(n, x, 5.0, y);
            for (size_t i = 0; i < n; i++)
                sum += y[i];
            assert_near(trl_vexp_sum(n, x, 5.0, z), sum, 1e-14 * sum);
            assert_memory_equal(y, z, n * sizeof *y);
            if (n > 0)
                x[trl_rng_below(&rng, n)] = NAN;
            max = -HUGE_VAL;
            for (size_t i = 0; i < n; i++)
                max = fmax(max, x[i]);
            assert_true(trl_vmax(n, x) == max);
        }
}

static void test_shift(void **state)
{
    (void)state;
    double x[16], y[16];
    for (int i = 0; i < 16; i++)
        x[i] = 1000.0 + 3 * i;
    trl_vexp(16, x, 1024.0, y);
    for (int i = 0; i < 16; i++)
        assert_true(ulps(x[i] - 1024.0, y[i]) < ULP_BOUND);
}

/* A NaN of any sign and payload: none may be lost. */
static double nan_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void test_special_values(void **state)
{
    (void)state;
    const double x[] = {0.0,    -0.0,  -HUGE_VAL, HUGE_VAL, -708.0000001, 709.0000001,
                        -1e308, 1e308, -745.0,    710.0,    0x1p-1074,    -0x1p-1074,
                        -708.0, 709.0, 1e-300,    -1e-300};
    const double want[] = {1.0, 1.0,      0.0, HUGE_VAL, 0.0, HUGE_VAL, 0.0, HUGE_VAL,
                           0.0, HUGE_VAL, 1.0, 1.0,      0.0, 0.0,      1.0, 1.0};
    double y[16];
    trl_vexp(16, x, 0.0, y);
    for (int i = 0; i < 16; i++)
        if (i != 12 && i != 13 && !(y[i] == want[i] && !signbit(y[i])))
            fail_msg("exp(%.17g) = %.17g, not %.17g", x[i], y[i], want[i]);
    check_ulps(2, x + 12, y + 12); /* the ends of the range */
}

static void test_nan_stays_nan(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 64; k++) {
        const uint64_t payload = k < 52 ? (uint64_t)1 << k : 4095 + k;
        const uint64_t sign = k % 2 ? (uint64_t)1 << 63 : 0;
        const double bad = nan_of(sign | 0x7ff8000000000000u | payload);
        double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
        x[k % 8] = bad;
        trl_vexp(8, x, 0.5, y);
        for (unsigned i = 0; i < 8; i++)
            if (i == k % 8 ? !isnan(y[i]) : !isfinite(y[i]))
                fail_msg("payload %#llx: exp(%g) = %g", (unsigned long long)payload, x[i], y[i]);
    }
}

/* Every length writes its n values, in place too, and not one more. */
static void test_tails(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    for (size_t n = 0; n <= 40; n++) {
        double *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
        assert_true(x && y);
        for (size_t i = 0; i < n; i++)
            x[i] = 20.0 * trl_rng_unit(&rng) - 10.0;
        x[n] = y[n] = 12345.0;
        trl_vexp(n, x, 0.0, y);
        check_ulps(n, x, y);
        assert_true(y[n] == 12345.0);
        trl_vexp(n, x, 0.0, x);
        assert_memory_equal(x, y, (n + 1) * sizeof *x);
        free(x);
        free(y);
    }
}

/* The padding holds what would be a maximum, a minimum, or NaN. */
static void fill_row(trl_rng *rng, size_t n, double scale, double *x)
{
    const double pad[3] = {nan(""), 1e9, -1e9};
    for (size_t i = 0; i < trl_padded(n); i++)
        x[i] = i < n ? scale * (trl_rng_unit(rng) - 0.5) : pad[i % 3];
}

static void test_row(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    for (size_t n = 1; n <= 40; n++)
        for (int round = 0; round < 50; round++) {
            double x[40], y[40], min, max = -HUGE_VAL, least = HUGE_VAL;
            fill_row(&rng, n, round < 25 ? 20.0 : 1500.0, x);
            if (round % 5 == 0)
                x[trl_rng_below(&rng, n)] = -HUGE_VAL;
            for (size_t i = 0; i < n; i++) {
                max = x[i] > max ? x[i] : max;
                least = x[i] < least ? x[i] : least;
            }
            const double got = trl_exp_row(n, x, y, &min);
            if (max == -HUGE_VAL) { /* n = 1, forbidden */
                assert_true(got == max && isnan(y[0]));
                continue;
            }
            assert_true(got == max && min == least);
            for (size_t i = 0; i < trl_padded(n); i++)
                if (i >= n || x[i] - max < -708.0)
                    assert_true(y[i] == 0.0);
                else
                    assert_true(ulps(x[i] - max, y[i]) < ULP_BOUND);
        }
}

static bool any_nan(size_t n, const double *y)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(y[i]))
            return true;
    return false;
}

static void test_row_bad_values(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    for (size_t n = 1; n <= 24; n++)
        for (size_t at = 0; at < n; at++) {
            double x[24], y[24], min;
            fill_row(&rng, n, 5.0, x);
            x[at] = nan("7");
            (void)trl_exp_row(n, x, y, &min);
            assert_true(any_nan(n, y));
            x[at] = HUGE_VAL;
            assert_true(trl_exp_row(n, x, y, &min) == HUGE_VAL);
            assert_true(any_nan(n, y));
            for (size_t i = 0; i < n; i++)
                x[i] = -HUGE_VAL;
            assert_true(trl_exp_row(n, x, y, &min) == -HUGE_VAL && min == -HUGE_VAL);
            for (size_t i = 0; i < trl_padded(n); i++)
                assert_true(i < n ? isnan(y[i]) : y[i] == 0.0);
        }
}

static void test_logsumexp(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    double x[30] = {0};
    assert_true(trl_logsumexp(0, x) == -HUGE_VAL);
    for (int round = 0; round < 2000; round++) {
        const size_t n = 1 + trl_rng_below(&rng, 30);
        const double scale = round % 2 ? 5.0 : 5000.0;
        long double max = -HUGE_VALL, sum = 0.0L;
        for (size_t i = 0; i < n; i++) {
            x[i] = trl_rng_below(&rng, 6) ? scale * (trl_rng_unit(&rng) - 0.5) : -HUGE_VAL;
            max = (long double)x[i] > max ? (long double)x[i] : max;
        }
        for (size_t i = 0; max > -HUGE_VALL && i < n; i++)
            sum += expl((long double)x[i] - max);
        if (max > -HUGE_VALL)
            assert_near(trl_logsumexp(n, x), (double)(max + logl(sum)), 1e-15);
        else
            assert_true(trl_logsumexp(n, x) == -HUGE_VAL);
        x[trl_rng_below(&rng, n)] = nan("");
        if (max > -HUGE_VALL && n > 1 && trl_logsumexp(n, x) > -HUGE_VAL)
            fail_msg("log-sum-exp over a NaN is %g", trl_logsumexp(n, x));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),       cmocka_unit_test(test_powers),
        cmocka_unit_test(test_sums),           cmocka_unit_test(test_shift),
        cmocka_unit_test(test_special_values), cmocka_unit_test(test_nan_stays_nan),
        cmocka_unit_test(test_tails),          cmocka_unit_test(test_row),
        cmocka_unit_test(test_row_bad_values), cmocka_unit_test(test_logsumexp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
