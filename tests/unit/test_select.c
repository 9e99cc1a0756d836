/* test_select.c -- gather and scatter of the cells that memm and piecewise-nota look at: the same
 * gradient as from whole tables; blocks and entries as asked for. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "train_chain/source_selection.h"
#include "chain_problem.h"

static void random_weights(trl_rng *rng, const trl_design *d, double *w)
{
    for (uint64_t i = 0; i < d->n_weights; i++)
        w[i] = 2.0 * trl_rng_unit(rng) - 1.0;
    trl_clear_dead(d, w);
}

/* Value and gradient with and without; how many of the live gradients are not 0. */
static size_t compare(trl_rng *rng, chain_problem *p, const trl_nota *nota)
{
    trl_error err;
    trl_selection only;
    double *w = problem_vector(p), *a = problem_vector(p), *b = problem_vector(p), Fa, Fb, Fc;
    size_t n = 0;
    assert_ok(trl_select_sources(&only, &p->d, &p->c, nota, &err));
    p->chain.nota = nota;
    for (int round = 0; round < 2; round++) {
        random_weights(rng, &p->d, w);
        p->task.chain.only = NULL;
        assert_ok(problem_eval(p, w, a, &Fa, &err));
        p->task.chain.only = &only;
        assert_ok(problem_eval(p, w, b, &Fb, &err));
        assert_ok(
            trl_objective_value(&p->d, &p->task, p->pool, &(trl_weights_at){w, p->c2}, &Fc, &err));
        assert_near(Fa, Fb, 1e-12 * fabs(Fa));
        assert_near(Fa, Fc, 1e-12 * fabs(Fa));
        for (uint64_t i = 0; i < p->d.n_weights; i++) {
            assert_near(a[i], b[i], 1e-10);
            n += a[i] != 0.0;
        }
    }
    trl_selection_fini(&only);
    trl_free(w);
    trl_free(a);
    trl_free(b);
    return n;
}

static void test_gradients(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    size_t n = 0;
    for (int i = 0; i < 60; i++) {
        const int order = 1 + i % 2;
        const trl_design_options o = {
            .order = order, .all_pairs = i % 3 == 0, .all_transitions = i % 4 < 2};
        const corpus_shape h = {
            .sequences = 1 + trl_rng_below(&rng, 20),
            .max_tokens = 9,
            .L = 1 + trl_rng_below(&rng, order == 2 ? 6 : 20),
            .attrs = {12, trl_rng_below(&rng, 3) * 4, trl_rng_below(&rng, 2) * 3},
            .per_token = {3, 2, 1},
            .constant = {false, i % 3 != 0, i % 5 != 0},
            .values = trl_rng_below(&rng, 2),
            .weights = trl_rng_below(&rng, 2)};
        const bool memm = i / 2 % 3 == 0, sampled = i / 2 % 3 == 2;
        chain_problem p;
        problem_make(&rng, &h, &o, memm ? "memm" : "piecewise-nota", 1 + (size_t)i % 2, &p);
        p.c2 = 0.5;
        trl_nota nota;
        trl_error err;
        trl_nota_init(&nota, &p.c, order);
        if (sampled)
            assert_ok(trl_nota_take_sample(&nota, &p.c, 0.3, (uint64_t)i, &err));
        n += compare(&rng, &p, memm ? NULL : &nota);
        trl_nota_fini(&nota);
        problem_fini(&p);
    }
    assert_true(n > 10000);
}

/* Two blocks at position 1, one at position 2, none elsewhere. */
static size_t few(const void *ctx, size_t f, size_t from, size_t t, uint32_t *block)
{
    (void)ctx;
    (void)f;
    (void)from;
    block[0] = 2;
    block[1] = 0;
    return t == 1 ? 2 : t == 2 ? 1 : 0;
}

/* What is gathered is what whole tables have there, and nothing else is touched; scatter is its
 * transpose. */
static void test_cells(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    trl_error err;
    for (int i = 0; i < 20; i++) {
        const int order = 1 + i % 2;
        const corpus_shape h = {.sequences = 5,
                                .max_tokens = 6,
                                .L = 3 + trl_rng_below(&rng, 9),
                                .attrs = {5, 6, order == 2 ? 4 : 0},
                                .per_token = {2, 2, 2},
                                .values = i % 3 == 0};
        const trl_design_options o = {.order = order, .all_pairs = i % 4 == 0};
        chain_problem p;
        problem_make(&rng, &h, &o, "memm", 1, &p);
        const trl_design *d = &p.d;
        trl_selection s;
        assert_ok(trl_selection_init(&s, d, few, NULL, &err));
        double *w = problem_vector(&p), *g = problem_vector(&p);
        random_weights(&rng, d, w);
        trl_arena arena = {0};
        double forward = 0.0, back = 0.0; /* <A w, adjoint>, <w, A^T adjoint> */
        for (size_t seq = 0; seq < d->n_sequences; seq++) {
            const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
            trl_tables whole, part, adjoint;
            assert_true(trl_tables_get(d, n, &arena, &whole));
            assert_true(trl_tables_get(d, n, &arena, &part));
            assert_true(trl_tables_get(d, n, &arena, &adjoint));
            trl_gather(d, w, from, &whole);
            for (size_t f = 1; f <= (size_t)order; f++)
                for (size_t c = 0; part.row[f] && c < n * part.step[f]; c++)
                    part.row[f][c] = adjoint.row[f][c] = 77.0;
            trl_clear_selected(d->L, &s, from, &adjoint);
            trl_gather_selected(d, &s, w, from, &part);
            for (size_t f = 1; f <= (size_t)order; f++)
                for (size_t t = 0; part.row[f] && t < n; t++)
                    for (size_t c = 0; c < d->family[f].width; c++) {
                        const size_t at = t * part.step[f] + c, block = c / d->L;
                        const bool in = t >= f && ((t == 1 && (block == 0 || block == 2)) ||
                                                   (t == 2 && block == 2));
                        if (!in) {
                            assert_true(part.row[f][at] == 77.0 && adjoint.row[f][at] == 77.0);
                            continue;
                        }
                        assert_near(part.row[f][at], whole.row[f][at], 1e-12);
                        assert_true(adjoint.row[f][at] == 0.0);
                        adjoint.row[f][at] = trl_rng_unit(&rng);
                        forward += part.row[f][at] * adjoint.row[f][at];
                    }
            trl_scatter_selected(d, &s, from, &adjoint, g);
            trl_arena_reset(&arena);
        }
        for (uint64_t k = 0; k < d->n_weights; k++)
            back += w[k] * g[k];
        assert_near(forward, back, 1e-9);
        trl_arena_fini(&arena);
        trl_selection_fini(&s);
        trl_free(w);
        trl_free(g);
        problem_fini(&p);
    }
}

/* A weight that is not a number is found in whole and in partial tables. */
static void test_not_finite(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    trl_error err;
    const corpus_shape h = {
        .sequences = 5, .max_tokens = 6, .L = 4, .attrs = {5, 6}, .per_token = {2, 2}};
    const trl_design_options o = {.order = 1, .all_pairs = true};
    chain_problem p;
    trl_selection only;
    problem_make(&rng, &h, &o, "memm", 1, &p);
    assert_ok(trl_select_sources(&only, &p.d, &p.c, NULL, &err));
    double *w = problem_vector(&p), *g = problem_vector(&p), F;
    p.task.chain.only = &only;
    for (uint64_t k = 0; k < p.d.n_weights; k++)
        w[k] = NAN;
    assert_int_equal(problem_eval(&p, w, g, &F, &err), TRL_ENUMERIC);
    trl_selection_fini(&only);
    trl_free(w);
    trl_free(g);
    problem_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
