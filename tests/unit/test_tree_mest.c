/* The M-estimation objective of trees: values, gradient, overflow. */
/* SPDX-License-Identifier: MIT */
#include "tree_bank.h"

#include "train_tree/tree_mest.h"

static void test_objective(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_mest *mest = NULL, *again = NULL;
    trl_pool *pool = trl_pool_new(1), *three = trl_pool_new(3);
    trl_rng r = trl_rng_seed(2);
    bank_open(&b, trl_tree_template_text("features"), (trl_annotation){true, false, true, 1}, false,
              12, 10, 7);
    const size_t n = trl_tree_weights(&b.m.features);
    double *E = trl_alloc(n, sizeof *E), *g = trl_zalloc(n + 64, sizeof *g);
    double *x = trl_zalloc(n + 64, sizeof *x), *unused = trl_zalloc(n + 64, sizeof *unused);
    const trl_tree_expect_options o = {.samples = 200, .max_words = 100, .seed = 1, .pool = pool};
    trl_tree_expect_report report;
    assert_ok(trl_tree_expect(&b.m, &o, E, &report, &err));
    assert_true(report.sampled > 10);
    random_weights(&b, 5, 0.05);
    memcpy(x, b.w, n * sizeof *x);
    assert_ok(trl_tree_mest_new(&b.m.features, &(trl_tree_examples){b.example, b.n}, E, pool, &mest,
                                &err));
    assert_ok(trl_tree_mest_new(&b.m.features, &(trl_tree_examples){b.example, b.n}, E, three,
                                &again, &err));
    double F, F3, plain = 0.0;
    assert_ok(trl_mest_eval(mest, x, 0.3, g, &F, &err));
    assert_ok(trl_mest_eval(again, x, 0.3, unused, &F3, &err));
    assert_true(F == F3);
    assert_memory_equal(g, unused, n * sizeof *g);
    for (size_t e = 0; e < b.n; e++)
        plain += exp(-naive_score(&b, &b.example[e].gold, &b.example[e].seen)) / (double)b.n;
    for (size_t k = 0; k < n; k++)
        plain += x[k] * E[k] + 0.3 * x[k] * x[k];
    assert_near(F, plain, 1e-11);
    size_t checked = 0;
    for (size_t k = 0; k < 150; k++) {
        const size_t at = trl_rng_below(&r, n);
        const double old = x[at], h = 1e-5;
        double up, down;
        x[at] = old + h;
        assert_ok(trl_mest_eval(mest, x, 0.3, unused, &up, &err));
        x[at] = old - h;
        assert_ok(trl_mest_eval(mest, x, 0.3, unused, &down, &err));
        x[at] = old;
        assert_near(g[at], (up - down) / (2.0 * h), 1e-6);
        checked += fabs(g[at]) > 1e-3;
    }
    assert_true(checked > 20);
    for (size_t k = 0; k < n; k++)
        x[k] = -50.0; /* overflows: a failed step */
    assert_int_equal(trl_mest_eval(mest, x, 0.3, g, &F, &err), TRL_ENUMERIC);
    trl_mest_free(mest);
    trl_mest_free(again);
    trl_pool_free(pool);
    trl_pool_free(three);
    trl_free(E);
    trl_free(g);
    trl_free(x);
    trl_free(unused);
    bank_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_objective)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
