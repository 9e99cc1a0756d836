/* test_stats.c -- special functions and distributions against values computed to 40 digits
 * (mpmath 1.3; large parameters by summing binomial and Poisson terms), and against closed forms.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "score/stats.h"

/* Relative, unlike assert_near: p-values are small. */
static void close_to(double got, double want, double tol, const char *what, double a, double b)
{
    if (!(fabs(got - want) <= tol * fabs(want)))
        fail_msg("%s(%g, %g): %.17g is not %.17g, error %.1e", what, a, b, got, want,
                 fabs(got / want - 1.0));
}

static void test_log_gamma(void **state)
{
    static const double cases[][2] = {
        {1e-3, 6.9071788853838536825},  {0.5, 0.57236494292470008707},
        {1.5, -0.12078223763524522235}, {3, 0.69314718055994530942},
        {9.75, 12.242204940050762559},  {10, 12.801827480081469611},
        {33.3, 82.603723581654952928},  {1000.5, 5908.6741758486774887},
        {1e6, 12815504.56914761166},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_near(trl_log_gamma(cases[i][0]), cases[i][1], 2e-15);
    assert_near(trl_log_gamma(1.0), 0.0, 2e-15);
    assert_near(trl_log_gamma(2.0), 0.0, 2e-15);
}

static void test_beta(void **state)
{
    static const double cases[][5] = {
        {.5, .5, .3, 0.36901011956554537504, 1e-13},
        {2, 3, .4, 0.52480000000000003837, 1e-13},
        {10, .5, .97, 0.44080415359575815975, 1e-13},
        {.1, 7, .02, 0.84876497439572260482, 1e-13},
        {30, 20, .5, 0.076203885980739016759, 1e-12},
        {1005.5, .5, .999, 0.15611028181027745495, 1e-11},
        {5000, 5100, .49, 0.15505519246383393854, 1e-10},
        {1e5, .5, .99999, 0.15729868816242577867, 1e-9},
        {1e5, 1e5, .501, 0.81445325544244324535, 1e-9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i];
        close_to(trl_beta_inc(c[0], c[1], c[2], 1.0 - c[2]), c[3], c[4], "beta", c[0], c[1]);
    }
    for (double x = 0.0625; x < 1.0; x += 0.0625) { /* closed forms, and the mirror */
        close_to(trl_beta_inc(2.5, 1.0, x, 1.0 - x), pow(x, 2.5), 1e-13, "x^a", 2.5, x);
        close_to(trl_beta_inc(0.5, 0.5, x, 1.0 - x), 2.0 / acos(-1.0) * asin(sqrt(x)), 1e-13,
                 "arcsine", 0.5, x);
        assert_near(trl_beta_inc(3.0, 8.0, x, 1.0 - x) + trl_beta_inc(8.0, 3.0, 1.0 - x, x), 1.0,
                    1e-14);
    }
    assert_true(trl_beta_inc(2.0, 3.0, 0.0, 1.0) == 0.0);
    assert_true(trl_beta_inc(2.0, 3.0, 1.0, 0.0) == 1.0);
}

static void test_gamma(void **state)
{
    static const double cases[][4] = {
        {.5, .1, 0.65472084601857702044, 1e-13},
        {.5, 2, 0.045500263896358414401, 1e-13},
        {.5, 40, 3.7440973842028987636e-19, 1e-12},
        {3, .2, 0.9988515187551378674, 1e-13},
        {3, 5, 0.12465201948308114129, 1e-13},
        {29.5, 30, 0.43924745666029412984, 1e-12},
        {29.5, 80, 2.9371806094142568587e-11, 1e-12},
        {1000, 1050, 0.058671111377318077098, 1e-11},
        {1e5, 99500, 0.94325817678720773692, 1e-9},
        {1e5, 101000, 0.00080842151292559073247, 1e-9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *c = cases[i];
        close_to(trl_gamma_inc(c[0], c[1]), c[2], c[3], "gamma", c[0], c[1]);
    }
    for (double x = 0.25; x < 30.0; x += 0.75) {
        close_to(trl_gamma_inc(1.0, x), exp(-x), 1e-13, "exp", 1, x);
        close_to(trl_gamma_inc(0.5, x), erfc(sqrt(x)), 1e-12, "erfc", 0.5, x);
    }
    assert_true(trl_gamma_inc(2.0, 0.0) == 1.0);
    assert_true(trl_gamma_inc(2.0, HUGE_VAL) == 0.0);
}

static void test_normal(void **state)
{
    static const double cases[][2] = {
        {-37, 5.7255712225245768227e-300},
        {-10, 7.619853024160526066e-24},
        {-3, 0.0013498980316300945267},
        {-1, 0.15865525393145705141},
        {0, 0.5},
        {0.5, 0.69146246127401310364},
        {2.5, 0.99379033467422386483},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double z = cases[i][0], p = cases[i][1];
        close_to(trl_normal_two_sided(z), 2.0 * (z < 0.0 ? p : 1.0 - p), 1e-12, "two-sided", z, 0);
    }
}

static void test_distributions(void **state)
{
    static const double t[][4] = {
        {1.5, 1, 0.37433408362199763237, 1e-13},
        {2.0, 2, 0.18350341907227396727, 1e-13},
        {-2.228138851964939, 10, 0.050000000001808631294, 1e-13},
        {0.001, 12, 0.99921854753064946919, 1e-13},
        {12, 25, 7.1829730750348342873e-12, 1e-12},
        {1.7, 2011, 0.089285558750512154693, 1e-11},
        {3.3, 100000, 0.000967186262327142636, 1e-9},
    };
    static const double chi2[][3] = {
        {3.841458820694124, 1, 0.050000000000000057435},
        {0.01, 1, 0.92034432544594203624},
        {50, 1, 1.5374597944280348502e-12},
        {11.0705, 5, 0.049999955428043651581},
        {80, 40, 0.0001763028977385682789},
        {1e-8, 2, 0.9999999950000000125},
    };
    static const double coin[][3] = {
        {0, 1, 0.5},
        {1, 10, 0.0107421875},
        {3, 24, 0.00013858079910278320313},
        {40, 100, 0.028443966820490395835},
        {480, 1000, 0.10872414660207047141},
    };
    (void)state;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        close_to(trl_t_two_sided(t[i][0], t[i][1]), t[i][2], t[i][3], "t", t[i][0], t[i][1]);
    for (size_t i = 0; i < sizeof chi2 / sizeof *chi2; i++)
        close_to(trl_chi2_upper(chi2[i][0], chi2[i][1]), chi2[i][2], 1e-12, "chi2", chi2[i][0],
                 chi2[i][1]);
    for (size_t i = 0; i < sizeof coin / sizeof *coin; i++)
        close_to(trl_coin_lower((uint64_t)coin[i][0], (uint64_t)coin[i][1]), coin[i][2], 1e-11,
                 "coin", coin[i][0], coin[i][1]);
    assert_true(trl_t_two_sided(0.0, 7.0) == 1.0);
    assert_true(trl_t_two_sided(HUGE_VAL, 7.0) == 0.0);
    assert_true(trl_coin_lower(5, 5) == 1.0);
    assert_true(trl_coin_lower(0, 0) == 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log_gamma),     cmocka_unit_test(test_beta),
        cmocka_unit_test(test_gamma),         cmocka_unit_test(test_normal),
        cmocka_unit_test(test_distributions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
