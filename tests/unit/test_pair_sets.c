/* test_pair_sets.c -- pairs that depend on the position, as sets, against rows of all L^2 cells. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain_problem.h"
#include "feature/pair_sets.h"
#include "train/aggressive.h"
#include "train/sdca.h"
#include "train/sgd.h"
#include "train/sparse.h"
#include "train/table_examples.h"

static void random_weights(trl_rng *rng, const trl_design *d, double scale, double *w)
{
    for (uint64_t i = 0; i < d->n_weights; i++)
        w[i] = scale * (2.0 * trl_rng_unit(rng) - 1.0);
    for (size_t f = 0; f < TRL_FAMILIES; f++) /* pads of rows stay 0 */
        for (size_t row = 0; row < d->family[f].n_hot; row++)
            for (size_t k = d->family[f].width; k < d->family[f].step; k++)
                w[trl_dense_at(&d->family[f], row) + k] = 0.0;
    trl_clear_dead(d, w);
}

/* Few attributes and many tokens: sets with tables.  Many attributes: sets of cells. */
static corpus_shape random_pairs(trl_rng *rng, int round)
{
    const bool few = round % 2;
    return (corpus_shape){.sequences = few ? 60 + trl_rng_below(rng, 60) : 10,
                          .max_tokens = 1 + trl_rng_below(rng, 25),
                          .L = 1 + trl_rng_below(rng, few ? 6 : 12),
                          .attrs = {20, few ? 3 : 40},
                          .per_token = {3, 1 + trl_rng_below(rng, 3)},
                          .constant = {false, trl_rng_below(rng, 3) != 0},
                          .values = round % 5 == 2,
                          .weights = round % 3 == 0};
}

/* The scores of every token's set are what gather puts into its row. */
static void test_scores(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(71);
    size_t tables = 0, others = 0, empty = 0;
    for (int round = 0; round < 80; round++) {
        const corpus_shape h = random_pairs(&rng, round);
        const trl_design_options o = {.order = 1, .all_pairs = round % 4 == 3};
        chain_problem p;
        trl_pair_sets s;
        trl_error err;
        bool worth;
        problem_make(&rng, &h, &o, "likelihood", 2, &p);
        const size_t width = p.d.family[TRL_EDGE].width, step = p.d.family[TRL_EDGE].step;
        double *w = problem_vector(&p), *row = malloc((width + 8) * sizeof *row);
        double *want = trl_alloc64(step, sizeof *want), *node = trl_alloc64(64, sizeof *node);
        random_weights(&rng, &p.d, 2.0, w);
        assert_ok(trl_pair_sets_build(&s, &p.d, TRL_PAIR_TABLES, &worth, &err));
        assert_true(worth);
        assert_ok(trl_pair_sets_gather(&s, &p.d, w, p.pool, &err));
        for (size_t t = 0; t < p.d.n_tokens; t++) {
            const trl_tables one = {.n = 1,
                                    .step = {p.d.family[TRL_NODE].step, step},
                                    .row = {node, p.d.family[TRL_EDGE].has_rows ? want : NULL}};
            memset(want, 0, step * sizeof *want);
            trl_gather(&p.d, w, t, &one);
            trl_pair_set_row(&s, s.of[t], row);
            for (size_t c = 0; c < width; c++) {
                const uint32_t i = (uint32_t)(c / h.L), j = (uint32_t)(c % h.L);
                const size_t at = trl_pair_set_find(&s, s.of[t], i, j);
                assert_near(row[c], want[c], 1e-12);
                assert_near(at == SIZE_MAX ? 0.0 : s.score[s.begin[s.of[t]] + at], want[c], 1e-12);
                if (at != SIZE_MAX)
                    assert_near(s.factor[s.begin[s.of[t]] + at], exp(want[c]), 1e-12);
            }
            empty += s.of[t] == 0;
            tables += s.of[t] > 0 && s.of[t] < s.n_tables;
            others += s.of[t] >= s.n_tables;
        }
        trl_pair_sets_fini(&s);
        trl_free(w);
        trl_free(want);
        trl_free(node);
        free(row);
        problem_fini(&p);
    }
    assert_true(tables > 1000 && others > 1000 && empty > 1000);
}

/* F and gradient, as sets and as rows.  Both are right: test_gradient has the differences of F. */
static void compare(trl_rng *rng, const corpus_shape *h, const trl_design_options *o, double scale,
                    double tolerance)
{
    chain_problem p;
    trl_error err;
    double F[2];
    problem_make(rng, h, o, "likelihood", 1, &p);
    assert_true(p.task.chain.pair_sets);
    double *w = problem_vector(&p), *g[2] = {problem_vector(&p), problem_vector(&p)};
    random_weights(rng, &p.d, scale, w);
    p.c2 = 0.1;
    assert_ok(problem_eval(&p, w, g[0], &F[0], &err));
    trl_gradient_free(p.g);
    p.task.chain.pair_sets = false;
    assert_ok(trl_gradient_new(&p.d, &p.c.family[TRL_NODE].names, &p.task, p.pool, &p.g, &err));
    assert_ok(problem_eval(&p, w, g[1], &F[1], &err));
    assert_near(F[0] / F[1], 1.0, tolerance);
    double norm = 1.0;
    for (uint64_t i = 0; i < p.d.n_weights; i++)
        norm = fmax(norm, fabs(g[1][i]));
    for (uint64_t i = 0; i < p.d.n_weights; i++)
        assert_near(g[0][i] / norm, g[1][i] / norm, tolerance);
    trl_free(w);
    trl_free(g[0]);
    trl_free(g[1]);
    problem_fini(&p);
}

static void test_against_rows(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(72);
    for (int round = 0; round < 160; round++) {
        const corpus_shape h = random_pairs(&rng, round);
        const trl_design_options o = {.order = 1,
                                      .all_pairs = round % 4 == 3,
                                      .all_transitions = round % 7 == 0,
                                      .min_count = round % 6 == 5 ? 2 : 0};
        /* 40: some sequences do not fit the scaled engine; 400: none, and rows do the work */
        const double scale = (const double[]){0.1, 1.0, 5.0, 40.0, 400.0}[round % 5];
        compare(&rng, &h, &o, scale, 1e-11);
    }
}

/* Any number of threads, the same bits. */
static void test_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        double F[2], *g[2];
        for (int k = 0; k < 2; k++) {
            trl_rng rng = trl_rng_seed(73 + (uint64_t)round);
            const corpus_shape h = random_pairs(&rng, round);
            const trl_design_options o = {.order = 1};
            chain_problem p;
            trl_error err;
            problem_make(&rng, &h, &o, "likelihood", k ? 3 : 1, &p);
            double *w = problem_vector(&p);
            g[k] = problem_vector(&p);
            random_weights(&rng, &p.d, 1.0, w);
            assert_ok(problem_eval(&p, w, g[k], &F[k], &err));
            if (k == 1)
                assert_memory_equal(g[0], g[1], p.d.n_weights * sizeof **g);
            trl_free(w);
            problem_fini(&p);
        }
        assert_true(F[0] == F[1]);
        trl_free(g[0]);
        trl_free(g[1]);
    }
}

/* Sets that would be much larger than the model are not made. */
static void test_not_worth_it(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(74);
    const corpus_shape h = {.sequences = 200,
                            .max_tokens = 60,
                            .L = 40,
                            .attrs = {10, 50},
                            .per_token = {2, 3},
                            .constant = {false, true}};
    const trl_design_options o = {.order = 1, .all_pairs = true};
    chain_problem p;
    trl_pair_sets s;
    trl_error err;
    bool worth = true;
    problem_make(&rng, &h, &o, "likelihood", 1, &p);
    assert_ok(trl_pair_sets_build(&s, &p.d, TRL_PAIR_TABLES, &worth, &err));
    assert_false(worth);
    assert_null(s.of);
    problem_fini(&p);
}

/* A score that is not a number is found, and its token named, as with rows. */
static void test_not_a_number(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(75);
    const corpus_shape h = random_pairs(&rng, 2);
    const trl_design_options o = {.order = 1};
    chain_problem p;
    trl_error err;
    double F;
    problem_make(&rng, &h, &o, "likelihood", 1, &p);
    double *w = problem_vector(&p), *g = problem_vector(&p);
    const trl_family *f = &p.d.family[TRL_EDGE];
    assert_true(f->entry_begin[p.d.n_tokens] > 0);
    w[f->entry[0].weight] = nan("");
    assert_int_equal(problem_eval(&p, w, g, &F, &err), TRL_ENUMERIC);
    assert_non_null(strstr(err.msg, "a label pair score at token"));
    trl_free(w);
    trl_free(g);
    problem_fini(&p);
}

/* ---- one example after the other --------------------------------------------------------------
 */

typedef enum method { DUAL, SGD, ADAGRAD, PERCEPTRON, AGGRESSIVE, METHODS } method;

typedef struct step_run {
    method by;
    bool as_sets; /* pairs */
} step_run;

static trl_status run_examples(chain_problem *p, method by, const trl_descent *how, trl_error *err)
{
    const trl_learner l = {.n_weights = (size_t)p->d.n_weights, .design = &p->d, .task = &p->task};
    trl_table_examples *made;
    trl_status st = trl_table_examples_new(&l, p->pool, &made, err);
    if (st != TRL_OK)
        return st;
    if (by == ADAGRAD)
        st = trl_sparse_train(trl_table_examples_task(made),
                              &(trl_sparse_options){.adaptive = true,
                                                    .averaged = true,
                                                    .c2 = 1.0,
                                                    .eta = 0.1,
                                                    .batch = 4,
                                                    .max_iter = 5,
                                                    .seed = 3},
                              how, err);
    else
        st = trl_aggressive(
            made, &(trl_aggressive_options){.type = 1, .c = 1.0, .max_iter = 5, .seed = 3}, how,
            err);
    trl_table_examples_free(made);
    return st;
}

static trl_status run_method(chain_problem *p, method by, bool averaged, const trl_descent *how,
                             trl_error *err)
{
    if (by == DUAL)
        return trl_sdca(&p->d, &p->task, &(trl_sdca_options){.c2 = 1.0, .max_iter = 200, .seed = 3},
                        how, err);
    if (by == SGD || by == PERCEPTRON)
        return trl_sgd(&p->d, &p->task,
                       &(trl_sgd_options){.c2 = 1.0,
                                          .eta = 0.1,
                                          .batch = 4,
                                          .averaged = averaged,
                                          .perceptron = by == PERCEPTRON,
                                          .max_iter = 5,
                                          .seed = 3},
                       how, err);
    return run_examples(p, by, how, err);
}

/* The weights after some passes, those of the dual at the optimum; the problem is the same for the
 * same seed. */
static double *run_steps(uint64_t seed, int round, step_run how, size_t *n)
{
    trl_rng rng = trl_rng_seed(seed);
    const corpus_shape h = random_pairs(&rng, round);
    const trl_design_options o = {.order = 1, .all_pairs = round % 4 == 3};
    chain_problem p;
    trl_error err;
    trl_ending ending;
    problem_make(&rng, &h, &o, how.by >= PERCEPTRON ? "perceptron" : "likelihood", 1, &p);
    assert_true(p.task.chain.pair_sets);
    p.task.chain.pair_sets = how.as_sets;
    double *w = problem_vector(&p);
    memset(w, 0, trl_design_alloc(&p.d) * sizeof *w);
    const trl_descent descent = {.pool = p.pool, .x = w, .ending = &ending};
    assert_ok(run_method(&p, how.by, round % 2, &descent, &err));
    *n = (size_t)p.d.n_weights;
    problem_fini(&p);
    return w;
}

/* Weights are the same with pairs as the sets of each example as with whole rows, those of
 * perceptrons to the bit. */
static void test_steps(void **state)
{
    (void)state;
    double largest[METHODS] = {0.0};
    for (int round = 0; round < 60; round++) {
        const method by = (method)(round % METHODS);
        size_t n;
        const uint64_t seed = 90 + (uint64_t)round;
        double *sets = run_steps(seed, round, (step_run){by, true}, &n);
        double *rows = run_steps(seed, round, (step_run){by, false}, &n);
        for (size_t k = 0; k < n; k++) {
            if (by >= PERCEPTRON)
                assert_true(sets[k] == rows[k]);
            assert_near(sets[k], rows[k], by == DUAL ? 1e-3 : 1e-9);
            largest[by] = fmax(largest[by], fabs(sets[k]));
        }
        trl_free(sets);
        trl_free(rows);
    }
    for (size_t k = 0; k < METHODS; k++)
        assert_true(largest[k] > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_against_rows), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_not_worth_it), cmocka_unit_test(test_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
