/* test_value_list.c -- values of attributes against a plain array of doubles. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "base/rng.h"
#include "feature/value_list.h"

enum { N = 500 };

/* `different` values, -0 among them, after `ones` ones. */
static void check(trl_rng *rng, size_t different, size_t ones)
{
    trl_value_list v = {0};
    double plain[N];
    for (size_t k = 0; k < N; k++) {
        const size_t c = trl_rng_below(rng, different);
        plain[k] = k < ones ? 1.0 : c == 0 ? 1.0 : c == 1 ? 0.0 : c == 2 ? -0.0 : 0.5 * (double)c;
        assert_true(trl_value_list_add(&v, k, plain[k]));
    }
    for (size_t k = 0; k < N; k++) {
        const double value = trl_value_list_at(&v, k);
        assert_true(value == plain[k] && signbit(value) == signbit(plain[k]));
    }
    assert_int_equal(trl_value_list_all_one(&v), different == 1 || ones >= N);
    assert_int_equal(v.wide != NULL, different > TRL_VALUES_FEW && ones < N);
    assert_int_equal(v.code != NULL, different > 1 && different <= TRL_VALUES_FEW && ones < N);
    trl_value_list_fini(&v);
    assert_true(trl_value_list_all_one(&v));
}

static void test_against_doubles(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    for (size_t different = 1; different <= TRL_VALUES_FEW + 3; different++)
        for (size_t ones = 0; ones <= N; ones += 100)
            check(&rng, different, ones);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
