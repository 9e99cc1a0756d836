/* test_gradient.c -- the gradient of the whole pipeline (weights, gather, inference,
 * objective, scatter, penalty) against central differences of F. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain_problem.h"
#include "feature/implied_rows.h"

static void random_weights(trl_rng *rng, const chain_problem *p, double scale, double *w)
{
    for (uint64_t i = 0; i < p->d.n_weights; i++)
        w[i] = scale * (2.0 * trl_rng_unit(rng) - 1.0);
    for (uint64_t f = 0; f < TRL_FAMILIES; f++) { /* what is between the parts stays 0 */
        const trl_family *a = &p->d.family[f];
        for (uint64_t i = a->constant_at + a->n_constant; i < a->hot_at; i++)
            w[i] = 0.0;
        for (size_t row = 0; row < a->n_hot; row++)
            for (size_t k = a->width; k < a->step; k++)
                w[trl_dense_at(a, row) + k] = 0.0;
    }
    trl_clear_dead(&p->d, w);
}

/* Central differences: an error of h^2 F''' / 6 and of 1e-16 F / h; cold weights add up
 * floats. */
static void check_differences(trl_rng *rng, chain_problem *p)
{
    trl_error err;
    const double h = 1e-5;
    double *w = problem_vector(p), *g = problem_vector(p), F, up, down;
    random_weights(rng, p, 1.0, w);
    assert_ok(problem_eval(p, w, g, &F, &err));
    double *zero = problem_vector(p);
    random_weights(rng, p, 1.0, zero); /* 0 exactly where there is no feature */
    for (uint64_t i = 0; i < p->d.n_weights; i++) {
        if (zero[i] == 0.0) {
            assert_true(g[i] == 0.0);
            continue;
        }
        const double at = w[i];
        w[i] = at + h;
        up = problem_value(p, w, NULL);
        w[i] = at - h;
        down = problem_value(p, w, NULL);
        w[i] = at;
        assert_near(g[i], (up - down) / (2.0 * h), 1e-6);
    }
    trl_free(w);
    trl_free(g);
    trl_free(zero);
}

static corpus_shape small_shape(trl_rng *rng, int order)
{
    return (corpus_shape){
        .sequences = 1 + trl_rng_below(rng, 6),
        .max_tokens = 5,
        .L = 1 + trl_rng_below(rng, order == 2 ? 3 : 5),
        .attrs = {12, trl_rng_below(rng, 2) * 3, trl_rng_below(rng, 2) * 2},
        .per_token = {3, 2, 1},
        .constant = {false, trl_rng_below(rng, 4) != 0, trl_rng_below(rng, 2) != 0},
        .implied = trl_rng_below(rng, 2),
        .values = trl_rng_below(rng, 2),
        .zeros = trl_rng_below(rng, 2),
        .weights = trl_rng_below(rng, 2)};
}

static void test_differences(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(21);
    for (size_t k = 0; trl_objective_at(k); k++) {
        if (!trl_chain_objective(trl_objective_at(k)))
            continue;
        const char *name = trl_objective_at(k)->name;
        if (strcmp(name, "perceptron") == 0) /* no gradient everywhere */
            continue;
        for (int i = 0; i < 24; i++) {
            const trl_design_options o = {.order = 1 + i % 2,
                                          .all_pairs = i % 3 == 0,
                                          .all_transitions = i % 4 < 2,
                                          .min_count = i % 5 == 0 ? 2 : 0};
            const corpus_shape h = small_shape(&rng, o.order);
            chain_problem p;
            problem_make(&rng, &h, &o, name, 1, &p);
            p.c2 = i % 3 ? 0.7 : 0.0;
            check_differences(&rng, &p);
            problem_fini(&p);
        }
    }
}

/* The perceptron's F is piecewise linear: away from the kinks its gradient is right, too. */
static void test_perceptron_differences(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(22);
    for (int i = 0; i < 12; i++) {
        const trl_design_options o = {.order = 1 + i % 2};
        const corpus_shape h = small_shape(&rng, o.order);
        chain_problem p;
        problem_make(&rng, &h, &o, "perceptron", 1, &p);
        check_differences(&rng, &p); /* random weights: no ties */
        problem_fini(&p);
    }
}

/* Weights far out: the log engine takes over and F stays finite, its slope right. */
static void test_large_weights(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(23);
    const corpus_shape h = {.sequences = 20,
                            .max_tokens = 8,
                            .L = 4,
                            .attrs = {20, 4},
                            .per_token = {3, 1},
                            .constant = {false, true}};
    const trl_design_options o = {.order = 1, .all_transitions = true};
    chain_problem p;
    trl_error err;
    problem_make(&rng, &h, &o, "likelihood", 1, &p);
    double *w = problem_vector(&p), *g = problem_vector(&p), *d = problem_vector(&p), F;
    for (double scale = 1.0; scale <= 1e5; scale *= 10.0) {
        random_weights(&rng, &p, scale, w);
        random_weights(&rng, &p, 1.0, d);
        assert_ok(problem_eval(&p, w, g, &F, &err));
        double slope = 0.0, step = 1e-5;
        for (uint64_t i = 0; i < p.d.n_weights; i++) {
            slope += g[i] * d[i];
            d[i] *= step;
        }
        for (uint64_t i = 0; i < p.d.n_weights; i++)
            w[i] += d[i];
        const double up = problem_value(&p, w, NULL);
        for (uint64_t i = 0; i < p.d.n_weights; i++)
            w[i] -= 2.0 * d[i];
        const double down = problem_value(&p, w, NULL);
        assert_near((up - down) / (2.0 * step), slope, 1e-6 + 1e-10 * fabs(F));
    }
    trl_free(w);
    trl_free(g);
    trl_free(d);
    problem_fini(&p);
}

/* Example by example: the same objective and the norm of the same gradient. */
static void check_once(const chain_problem *p, const double *w, double F, const double *g)
{
    trl_error err;
    double both[2], norm2 = 0.0;
    for (uint64_t i = 0; i < p->d.n_weights; i++)
        norm2 += g[i] * g[i];
    assert_ok(trl_gradient_norm(&p->d, &p->task, p->pool, &(trl_weights_at){w, 0.1}, both, &err));
    assert_near(both[0] / F, 1.0, 1e-12);
    double all = 2.0 * F, part = 0.3 * F;
    assert_ok(trl_objective_until(&p->d, &p->task, p->pool, &(trl_weights_at){w, 0.1}, &all, &err));
    assert_ok(
        trl_objective_until(&p->d, &p->task, p->pool, &(trl_weights_at){w, 0.1}, &part, &err));
    assert_near(all / F, 1.0, 1e-12);
    assert_true(part > 0.3 * F && part < 0.9 * F);
    assert_near(both[1] / sqrt(norm2), 1.0, 1e-7); /* of rare weights gradient.c adds floats */
}

/* The same bits with any number of threads, call after call. */
static void test_threads(void **state)
{
    (void)state;
    static const size_t threads[] = {1, 2, 3, 7};
    for (int order = 1; order <= 2; order++) {
        const corpus_shape h = {.sequences = 300,
                                .max_tokens = 20,
                                .L = order == 2 ? 4 : 11,
                                .attrs = {900, 12, 5},
                                .per_token = {9, 2, 1},
                                .constant = {false, true, true},
                                .implied = true,
                                .values = order == 2,
                                .weights = true};
        const trl_design_options o = {.order = order};
        double *first = NULL, F0 = 0.0;
        for (size_t k = 0; k < 4; k++) {
            trl_rng rng = trl_rng_seed(24);
            chain_problem p;
            trl_error err;
            problem_make(&rng, &h, &o, "likelihood", threads[k], &p);
            double *w = problem_vector(&p), *g = problem_vector(&p), F;
            const size_t bytes = (size_t)p.d.n_weights * sizeof *g;
            random_weights(&rng, &p, 0.5, w);
            for (int again = 0; again < 3; again++) {
                assert_ok(trl_gradient_eval(p.g, w, 0.1, g, &F, &err));
                if (!first) {
                    first = problem_vector(&p);
                    memcpy(first, g, bytes);
                    F0 = F;
                }
                assert_true(F == F0);
                assert_memory_equal(g, first, bytes);
            }
            check_once(&p, w, F, g);
            trl_free(w);
            trl_free(g);
            problem_fini(&p);
        }
        trl_free(first);
    }
}

/* Whether implied rows make extra rows, and only where it may. */
static bool has_extra_rows(const chain_problem *p)
{
    trl_error err;
    trl_implied_rows with, without;
    const size_t hot = p->d.family[TRL_NODE].n_hot;
    assert_ok(trl_implied_build(&with, &p->d, &p->c.family[TRL_NODE].names, true, &err));
    assert_ok(trl_implied_build(&without, &p->d, &p->c.family[TRL_NODE].names, false, &err));
    assert_true(without.n_rows == hot && without.n_entries == 0);
    const bool extra = with.n_rows > hot;
    trl_implied_fini(&with);
    trl_implied_fini(&without);
    return extra;
}

/* Single precision (floats in rows, lattices and sums of implied rows, extra rows) against double;
 * the same bits with any number of threads. */
static void test_single(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const corpus_shape h = {.sequences = 300,
                                .max_tokens = 20,
                                .L = k % 3 == 0   ? 3
                                     : k % 3 == 1 ? 22
                                                  : 70,
                                .attrs = {900},
                                .per_token = {9},
                                .constant = {false, true},
                                .implied = k % 2 || k > 5,
                                .few = k > 4,
                                .values = k == 3};
        const trl_design_options o = {.order = 1, .all_pairs = k == 4};
        double *exact = NULL, *first = NULL, F0 = 0.0, F1 = 0.0;
        for (size_t threads = 1; threads <= 3; threads++) {
            trl_rng rng = trl_rng_seed(25 + (uint64_t)k);
            chain_problem p;
            trl_error err;
            problem_make(&rng, &h, &o, "likelihood", threads, &p);
            double *w = problem_vector(&p), *g = problem_vector(&p), F;
            const size_t bytes = (size_t)p.d.n_weights * sizeof *g;
            random_weights(&rng, &p, 0.5, w);
            if (!exact) {
                exact = problem_vector(&p);
                first = problem_vector(&p);
                assert_ok(trl_gradient_eval(p.g, w, 0.1, exact, &F0, &err));
            }
            trl_gradient_free(p.g);
            assert_ok(trl_chain_use_single(&p.chain.chain, &err));
            p.task = trl_chain_task_view(&p.chain);
            assert_true(p.task.single);
            assert_true(has_extra_rows(&p) == (k > 5));
            assert_ok(
                trl_gradient_new(&p.d, &p.c.family[TRL_NODE].names, &p.task, p.pool, &p.g, &err));
            for (int again = 0; again < 2; again++)
                assert_ok(trl_gradient_eval(p.g, w, 0.1, g, &F, &err));
            for (uint64_t i = 0; i < p.d.n_weights; i++)
                assert_near(g[i], exact[i], 1e-4);
            assert_near(F / F0, 1.0, 1e-7);
            if (threads == 1) {
                memcpy(first, g, bytes);
                F1 = F;
            }
            assert_true(F == F1);
            assert_memory_equal(g, first, bytes);
            trl_free(w);
            trl_free(g);
            problem_fini(&p);
        }
        trl_free(exact);
        trl_free(first);
    }
}

/* NaN among the weights is refused, and the next call is not hurt by it. */
static void test_not_finite(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(25);
    const corpus_shape h = {.sequences = 9,
                            .max_tokens = 6,
                            .L = 3,
                            .attrs = {20},
                            .per_token = {3},
                            .constant = {false, true}};
    const trl_design_options o = {.order = 1};
    for (size_t k = 0; trl_objective_at(k); k++) {
        if (!trl_chain_objective(trl_objective_at(k)))
            continue;
        chain_problem p;
        trl_error err;
        problem_make(&rng, &h, &o, trl_objective_at(k)->name, 2, &p);
        double *w = problem_vector(&p), *g = problem_vector(&p), F, before;
        random_weights(&rng, &p, 1.0, w);
        assert_ok(problem_eval(&p, w, g, &before, &err));
        const uint64_t at = p.d.family[TRL_EDGE].constant_at;
        const double good = w[at];
        w[at] = nan("");
        assert_int_equal(problem_eval(&p, w, g, &F, &err), TRL_ENUMERIC);
        assert_true(err.msg[0]);
        w[at] = good;
        assert_ok(problem_eval(&p, w, g, &F, &err));
        assert_true(F == before);
        trl_free(w);
        trl_free(g);
        problem_fini(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),   cmocka_unit_test(test_perceptron_differences),
        cmocka_unit_test(test_large_weights), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_single),        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
