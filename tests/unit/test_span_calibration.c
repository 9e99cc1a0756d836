/* test_span_calibration.c -- probabilities of constituents and trees: the fit against all poolings
 * of its bins, the map, sums over trees, files. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "parser/span_calibration.h"

#define BINS (TRL_SPAN_KNOTS - 2)
#define EACH 60
#define N (BINS * EACH)

static void draw_outcomes(trl_span_outcome *x, uint64_t seed)
{
    trl_rng r = trl_rng_seed(seed);
    const double bend = 0.5 + 2.0 * trl_rng_unit(&r);
    for (size_t k = 0; k < N; k++) {
        x[k].p = 0.002 + 0.996 * trl_rng_unit(&r);
        x[k].right = trl_rng_unit(&r) < pow(x[k].p, bend);
    }
}

/* Isotonic regression by its formula: at bin k the largest over i <= k of the least over j >= k of
 * the mean of bins i .. j. */
static double isotonic(const double *right, size_t k)
{
    double best = 0.0;
    for (size_t i = 0; i <= k; i++) {
        double least = 1.0;
        for (size_t j = k; j < BINS; j++) {
            double sum = 0.0;
            for (size_t b = i; b <= j; b++)
                sum += right[b];
            const double mean = sum / (double)((j - i + 1) * EACH);
            least = mean < least ? mean : least;
        }
        best = least > best ? least : best;
    }
    return best;
}

static void test_fit(void **state)
{
    (void)state;
    trl_span_outcome *x = malloc(N * sizeof *x);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trl_span_calibration s;
        double right[BINS] = {0};
        draw_outcomes(x, seed);
        assert_true(trl_span_calibration_fit(x, N, &s));
        for (size_t k = 0; k < N; k++) {
            assert_true(k == 0 || x[k - 1].p <= x[k].p);
            right[k / EACH] += x[k].right;
        }
        assert_true(s.n >= 3 && s.knot[0].p == 0.0 && s.knot[s.n - 1].p == 1.0);
        size_t at = 1; /* bins of one value are one knot, at their mean */
        for (size_t k = 0; k < BINS;) {
            const double value = isotonic(right, k);
            double sum = 0.0;
            size_t to = k;
            while (to < BINS && fabs(isotonic(right, to) - value) < 1e-12)
                to++;
            for (size_t i = k * EACH; i < to * EACH; i++)
                sum += x[i].p;
            assert_near(s.knot[at].p, sum / (double)((to - k) * EACH), 1e-12);
            assert_near(s.knot[at].share, value, 1e-12);
            assert_near(trl_span_calibrated(&s, s.knot[at].p), value, 1e-12);
            at++;
            k = to;
        }
        assert_int_equal(at + 1, s.n);
    }
    free(x);
}

/* It never falls, and stays within 0 and 1; the usual one leaves room for what is in no chart: two
 * constituents that exclude each other have at most 1 together. */
static void check_map(const trl_span_calibration *s)
{
    const trl_span_calibration none = {0};
    double last = 0.0;
    for (double p = 0.0; p <= 1.0; p += 1e-4) {
        const double q = trl_span_calibrated(s, p);
        assert_near(trl_span_calibrated(&none, p), p, 0.0);
        assert_true(q >= last && q <= 1.0);
        assert_true(q + trl_span_calibrated(s, 1.0 - p) <= 1.0 + 1e-12);
        last = q;
    }
    assert_near(trl_span_calibrated(s, 0.5 * (s->knot[3].p + s->knot[4].p)),
                0.5 * (s->knot[3].share + s->knot[4].share), 1e-12);
}

static void test_map(void **state)
{
    (void)state;
    check_map(&trl_span_calibration_usual);
    check_map(&trl_span_calibration_latent);
}

/* Nothing to learn from; few; all at one place. */
static void test_extremes(void **state)
{
    (void)state;
    trl_span_calibration s;
    trl_span_outcome x[200];
    assert_false(trl_span_calibration_fit(x, 0, &s));
    for (size_t n = 1; n <= 200; n *= 2)
        for (int right = 0; right < 3; right++)
            for (int place = 0; place < 3; place++) {
                for (size_t k = 0; k < n; k++)
                    x[k] = (trl_span_outcome){0.5 * place, right < 2 ? right == 1 : k % 2 == 1};
                assert_true(trl_span_calibration_fit(x, n, &s));
                assert_true(s.n >= 2 && s.n <= TRL_SPAN_KNOTS);
                for (size_t k = 1; k < s.n; k++)
                    assert_true(s.knot[k].p > s.knot[k - 1].p &&
                                s.knot[k].share >= s.knot[k - 1].share);
            }
}

static trl_error err;

static trl_status load_as(const char *tag, const trl_span_calibration *s, const double *raw,
                          size_t n, trl_span_calibration *back)
{
    trl_container_builder b = {0};
    trl_container *c = NULL;
    trl_buf bytes = {0};
    if (s)
        assert_ok(trl_span_calibration_save(s, tag, &b, &err));
    if (raw)
        trl_container_builder_add(&b, tag, raw, n * sizeof *raw);
    trl_container_builder_add(&b, "other", "x", 1);
    assert_ok(trl_container_to_buf(&b, "tree", &bytes, &err));
    assert_ok(trl_container_from_memory(bytes.data, bytes.len, "tree", &c, &err));
    const trl_status st = trl_span_calibration_load(back, tag, c, &err);
    trl_container_free(c);
    trl_container_builder_fini(&b);
    trl_buf_fini(&bytes);
    return st;
}

static trl_status load(const trl_span_calibration *s, const double *raw, size_t n,
                       trl_span_calibration *back)
{
    return load_as(TRL_SPAN_CALIBRATION_TAG, s, raw, n, back);
}

static void test_files(void **state)
{
    (void)state;
    const trl_span_calibration none = {0}, *usual = &trl_span_calibration_usual;
    trl_span_calibration back;
    static const double bad[][6] = {{0.1, 0, 0.5, 0.5, 1, 1}, {0, 0, 0.5, 0.5, 0.9, 1},
                                    {0, 0, 0.5, 0.5, 1, 1.1}, {0, 0.6, 0.5, 0.5, 1, 1},
                                    {0, 0, 1, 0.5, 1, 1},     {0, -0.1, 0.5, 0.5, 1, 1},
                                    {0, 0, NAN, 0.5, 1, 1},   {0, 0, 0.5, NAN, 1, 1}};
    assert_ok(load(&none, NULL, 0, &back));
    assert_int_equal(back.n, 0);
    assert_ok(load(usual, NULL, 0, &back));
    assert_int_equal(back.n, usual->n);
    for (size_t k = 0; k < usual->n; k++)
        assert_true(back.knot[k].p == usual->knot[k].p &&
                    back.knot[k].share == usual->knot[k].share);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(load(NULL, bad[k], 6, &back), TRL_EMODEL);
    assert_int_equal(load(NULL, bad[0], 5, &back), TRL_EMODEL);
    assert_int_equal(load(NULL, bad[0], 2, &back), TRL_EMODEL);
}

static void test_tree_files(void **state)
{
    (void)state;
    const char *tag = TRL_TREE_CALIBRATION_TAG;
    static const double above[] = {0, 0, 0.5, 0.6, 1, 1}, below[] = {0, 0, 0.5, 0.5, 1, 0.9};
    const trl_span_calibration *usual = &trl_tree_calibration_usual;
    trl_span_calibration back;
    assert_ok(load_as(tag, usual, NULL, 0, &back));
    assert_int_equal(back.n, usual->n);
    assert_ok(load_as(tag, NULL, below, 6, &back));
    assert_int_equal(load_as(tag, NULL, above, 6, &back), TRL_EMODEL);
    assert_ok(load(NULL, above, 6, &back));
}

/* What is told of trees that have 1 together adds up to at most 1, in their order. */
static void check_proper(const trl_span_calibration *s, uint64_t seed)
{
    double p[50], sum = 0.0, told = 0.0;
    trl_rng r = trl_rng_seed(seed);
    for (size_t k = 0; k < 50; k++)
        sum += p[k] = pow(trl_rng_unit(&r), 1.0 + (double)(seed % 40));
    for (size_t k = 0; k < 50; k++) {
        const double log_p = log(p[k] / sum), log_q = trl_log_calibrated(s, log_p);
        assert_true(log_q <= log_p + 1e-12 && log_q > -(double)INFINITY);
        assert_near(exp(log_q), trl_span_calibrated(s, p[k] / sum), 1e-12);
        for (size_t i = 0; i < k; i++)
            assert_true(p[i] > p[k] || trl_log_calibrated(s, log(p[i] / sum)) <= log_q + 1e-12);
        told += exp(log_q);
    }
    assert_true(told <= 1.0 + 1e-12);
}

static void test_trees(void **state)
{
    (void)state;
    const trl_span_calibration none = {0};
    trl_span_outcome *x = malloc(N * sizeof *x);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        trl_span_calibration s;
        draw_outcomes(x, seed);
        for (size_t k = 0; seed % 4 == 0 && k < N; k++)
            x[k].right = x[k].p > 0.3 && x[k].right; /* bins without a right one */
        assert_true(trl_tree_calibration_fit(x, seed % 3 ? N : seed, &s));
        for (size_t k = 1; k < s.n; k++)
            assert_true(s.knot[k].share >= s.knot[k - 1].share && s.knot[k].share > 0.0 &&
                        s.knot[k].share <= s.knot[k].p);
        check_proper(&s, seed);
        check_proper(&trl_tree_calibration_usual, seed);
    }
    free(x);
    assert_near(trl_log_calibrated(&none, -3.0), -3.0, 0.0);
    assert_true(trl_log_calibrated(&trl_tree_calibration_usual, -1e4) < -9e3);
    assert_true(isnan(trl_log_calibrated(&trl_tree_calibration_usual, NAN)));
    assert_true(trl_log_calibrated(&trl_tree_calibration_usual, -HUGE_VAL) == -HUGE_VAL);
}

/* 200 trees, most of a small p, of which 0.8 p are right: what is told above the mean of the last
 * bin follows p. */
static void test_few_trees(void **state)
{
    (void)state;
    enum { FEW = 200, TIMES = 50 };
    trl_span_outcome x[FEW];
    double told = 0.0;
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
        trl_span_calibration s;
        trl_rng r = trl_rng_seed(seed);
        for (size_t k = 0; k < FEW; k++) {
            x[k].p = pow(trl_rng_unit(&r), 6.0);
            x[k].right = trl_rng_unit(&r) < 0.8 * x[k].p;
        }
        assert_true(trl_tree_calibration_fit(x, FEW, &s));
        told += trl_span_calibrated(&s, 0.9) / TIMES;
    }
    assert_true(fabs(told - 0.72) < 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),        cmocka_unit_test(test_map),
        cmocka_unit_test(test_extremes),   cmocka_unit_test(test_files),
        cmocka_unit_test(test_tree_files), cmocka_unit_test(test_trees),
        cmocka_unit_test(test_few_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
