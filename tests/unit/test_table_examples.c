/* test_table_examples.c -- losses and sparse gradients of single examples add up to the objective
 * of the corpus and its gradient, whatever the objective, the order and the features. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain_problem.h"

#include "train/table_examples.h"

static void check(trl_rng *rng, const char *objective, int order)
{
    trl_error err;
    chain_problem p;
    const corpus_shape h = {.sequences = 9,
                            .max_tokens = 6,
                            .L = 4,
                            .attrs = {12, 5, 3},
                            .per_token = {3, 2, 1},
                            .constant = {false, true, order == 2},
                            .values = trl_rng_below(rng, 2)};
    const trl_design_options o = {.order = order, .all_pairs = trl_rng_below(rng, 2)};
    problem_make(rng, &h, &o, objective, 2, &p);
    const size_t n = (size_t)p.d.n_weights;
    double *w = problem_vector(&p), *g = problem_vector(&p), *sum = problem_vector(&p);
    double F = 0.0, loss, all = 0.0;
    p.c2 = 0.3;
    for (size_t k = 0; k < n; k++)
        w[k] = trl_rng_unit(rng) - 0.5;
    trl_clear_dead(&p.d, w);
    const trl_function f = problem_function(&p);
    assert_ok(f.eval(f.self, w, g, &F, &err));
    const trl_learner l = {.n_weights = n, .design = &p.d, .task = &p.task};
    trl_table_examples *x;
    assert_ok(trl_table_examples_new(&l, p.pool, &x, &err));
    const trl_sparse_task *t = trl_table_examples_task(x);
    assert_ok(t->prepare(t->self, w, &err));
    trl_sparse out = {0};
    for (size_t e = 0; e < t->n_examples; e++) {
        out.n = 0;
        assert_ok(t->evaluate(t->self, e, e % 2, &loss, &out, &err));
        all += loss;
        for (size_t k = 0; k < out.n; k++)
            sum[out.id[k]] += out.value[k];
    }
    for (size_t k = 0; k < n; k++) {
        all += p.c2 * w[k] * w[k];
        sum[k] += 2.0 * p.c2 * w[k];
    }
    assert_near(all, F, 1e-6);
    trl_clear_dead(&p.d, sum);
    for (size_t k = 0; k < n; k++)
        assert_near(sum[k], g[k], 1e-5);
    trl_sparse_fini(&out);
    trl_table_examples_free(x);
    trl_free(w);
    trl_free(g);
    trl_free(sum);
    problem_fini(&p);
}

static void test_sums(void **unused)
{
    (void)unused;
    trl_rng rng = trl_rng_seed(5);
    for (size_t k = 0; trl_objective_at(k); k++)
        if (trl_chain_objective(trl_objective_at(k)))
            for (int i = 0; i < 6; i++)
                check(&rng, trl_objective_at(k)->name, 1 + i % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
