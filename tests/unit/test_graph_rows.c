/* test_graph_rows.c -- objectives of one factor at a time: rows of the design for examples. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "train/optimizers.h"
#include "graph_training.h"
#include "two_layers.h"

static void problem_open(problem *p, const char *objective, const char *optimizer)
{
    trl_error err;
    const trl_infer_options infer = trl_infer_options_default();
    p->o = trl_train_options_default();
    p->o.objective = objective, p->o.optimizer = optimizer, p->o.threads = 1, p->o.c2 = 0.3;
    make_corpus(&p->corpus, 7, true);
    assert_ok(trl_graph_training_init(&p->t, &p->corpus, &p->o, &infer, &err));
}

static const char *const apart[] = {"piecewise", "piecewise-pseudolikelihood"};

/* The sum over rows is the sum over graphs, and so is its gradient. */
static void test_same_objective(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        problem graphs, rows;
        trl_rng rng = trl_rng_seed(11 + k);
        problem_open(&graphs, apart[k], "lbfgs");
        problem_open(&rows, apart[k], "sdca");
        assert_int_equal(graphs.t.design.n_sequences, EXAMPLES);
        assert_int_equal(rows.t.design.n_sequences, rows.t.design.n_tokens);
        const size_t room = trl_design_alloc(&rows.t.design);
        assert_int_equal(room, trl_design_alloc(&graphs.t.design));
        double *w = calloc(room, sizeof *w), *g = calloc(room, sizeof *g),
               *h = calloc(room, sizeof *h);
        assert_true(w && g && h);
        for (size_t j = 0; j < rows.t.design.n_weights; j++)
            w[j] = 2.0 * trl_rng_unit(&rng) - 1.0;
        const double F = value_at(&graphs, w, g);
        assert_near(value_at(&rows, w, h), F, 1e-10 * F);
        for (size_t j = 0; j < rows.t.design.n_weights; j++)
            assert_near(g[j], h[j], 1e-9 * (1.0 + fabs(g[j])));
        free(w), free(g), free(h);
        problem_close(&graphs);
        problem_close(&rows);
    }
}

/* One family's part of an example, or all of it (part 0), at random scores. */
static double part_of(const problem *p, size_t row, size_t part, trl_tables *adjoint,
                      trl_arena *arena)
{
    const trl_design *d = &p->t.design;
    trl_error err;
    trl_tables scores;
    double value;
    trl_rng rng = trl_rng_seed(row);
    assert_true(trl_tables_get(d, 1, arena, &scores));
    assert_true(trl_tables_get(d, 1, arena, adjoint));
    for (size_t f = 0; f < d->n_families; f++) {
        scores.shared[f] = adjoint->shared[f] = NULL;
        for (size_t c = 0; scores.row[f] && c < d->family[f].step; c++)
            scores.row[f][c] = 2.0 * trl_rng_unit(&rng) - 1.0;
        if (part && part != f + 1)
            scores.row[f] = adjoint->row[f] = NULL;
    }
    const trl_example e = {row, 0, arena, part};
    assert_ok(p->t.view.evaluate(p->t.view.self, &e, &scores, adjoint, &value, &err));
    return value;
}

/* An example is the sum of its parts, and each has its family's adjoint. */
static void test_parts(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        problem p;
        trl_arena arena = {0};
        size_t rows = 0;
        problem_open(&p, apart[k], "sdca");
        const trl_design *d = &p.t.design;
        assert_true(p.t.view.parts && d->n_families > 1);
        for (size_t row = 0; row < d->n_sequences; row++) {
            trl_tables whole, part;
            double sum = 0.0;
            trl_arena_reset(&arena);
            const double value = part_of(&p, row, 0, &whole, &arena);
            for (size_t f = 0; f < d->n_families; f++) {
                sum += part_of(&p, row, f + 1, &part, &arena);
                for (size_t c = 0; whole.row[f] && c < d->family[f].width; c++)
                    assert_near(part.row[f][c], whole.row[f][c], 0.0);
                rows += whole.row[f] != NULL;
            }
            assert_near(sum, value, 1e-12 * (1.0 + fabs(value)));
        }
        assert_true(rows > d->n_sequences);
        trl_arena_fini(&arena);
        problem_close(&p);
    }
}

static double optimum(const char *objective, const char *optimizer, uint64_t *passes)
{
    problem p;
    trl_error err;
    trl_train_result r;
    problem_open(&p, objective, optimizer);
    assert_ok(trl_graph_training_run(&p.t, &r, &err));
    *passes = r.iterations;
    problem_close(&p);
    return r.objective;
}

/* They come to the same optimum by sdca and sag as by L-BFGS. */
static void test_same_optimum(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        uint64_t n;
        const double best = optimum(apart[k], "lbfgs", &n);
        const double dual = optimum(apart[k], "sdca", &n);
        assert_near(dual, best, 1e-4 * best);
        assert_in_range(n, 1, 60);
        assert_near(optimum(apart[k], "sag", &n), best, 1e-3 * best);
        assert_near(optimum(apart[k], "auto", &n), dual, 0.0);
    }
}

/* A factor without a template is in no row; other objectives need whole graphs. */
static void test_whole_graphs(void **state)
{
    (void)state;
    static const double table[] = {0.0, -1.0, 0.5};
    const trl_infer_options infer = trl_infer_options_default();
    trl_error err;
    trl_train_result r;
    problem p = {.o = trl_train_options_default()};
    p.o.objective = "piecewise", p.o.optimizer = "sdca", p.o.threads = 1, p.o.c2 = 0.3;
    make_corpus(&p.corpus, 7, false);
    trl_rng rng = trl_rng_seed(3);
    const sentence s = random_sentence(&rng);
    builder b;
    unroll(&s, &b);
    assert_ok(trl_graph_add_table(b.g, 3, table, &err));
    assert_ok(trl_graph_add_factor(b.g, 1, (uint32_t[]){0}, b.n, &err));
    b.family[b.n++] = TRL_NO_TEMPLATE;
    b.begin[b.n] = b.begin[b.n - 1];
    assert_ok(trl_graph_corpus_add(&p.corpus,
                                   &(trl_graph_case){.graph = b.g,
                                                     .family = b.family,
                                                     .begin = b.begin,
                                                     .attr = b.attr,
                                                     .y = s.y,
                                                     .weight = 1.0},
                                   &err));
    assert_ok(trl_graph_training_init(&p.t, &p.corpus, &p.o, &infer, &err));
    assert_int_equal(p.t.design.n_sequences, EXAMPLES + 1);
    assert_ok(trl_graph_training_run(&p.t, &r, &err));
    problem_close(&p);
    problem_open(&p, "pseudolikelihood", "sdca");
    assert_int_equal(p.t.design.n_sequences, EXAMPLES);
    problem_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_objective), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_same_optimum), cmocka_unit_test(test_whole_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
