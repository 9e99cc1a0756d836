/* test_cold_tokens.c -- a table of the tokens with cold attributes gives the gradient that one of
 * all tokens gives. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "random_corpus.h"

#include "base/mem.h"
#include "feature/cold_tokens.h"

/* The gradient of cold attributes, singletons left out, as the optimisers take it. */
static void scatter(const trl_design *lists, const float *table, double *g)
{
    const trl_family *f = &lists->family[0];
    const size_t dense = f->n_dense - f->n_hot;
    trl_scatter_cold(lists, table, 0, f->singleton_row - f->n_hot, g);
    trl_scatter_cold(lists, table, dense, dense + f->singleton_attr - f->n_warm, g);
}

/* Rows of all tokens go to their places, sequence by sequence; other places do not exist. */
static void put_all(const trl_cold_tokens *c, const trl_design *d, const float *node, float *table)
{
    for (size_t s = 0; s < d->n_sequences; s++) {
        const size_t from = (size_t)d->first[s], n = (size_t)d->first[s + 1] - from;
        trl_cold_tokens_put(c, from, n, node + from * d->family[0].step, table);
    }
}

static bool check(trl_rng *rng, const corpus_shape *h, const trl_design_options *o)
{
    trl_error err = {0};
    trl_corpus corpus;
    trl_design d;
    trl_cold_tokens c = {0};
    random_corpus(rng, h, &corpus);
    assert_ok(trl_design_build(&d, &corpus, o, &err));
    assert_ok(trl_cold_tokens_build(&c, &d, &err));
    const size_t step = d.family[0].step, n = trl_design_alloc(&d);
    const bool shorter = !c.all && d.family[0].n_cold > 0;
    if (shorter) {
        float *node = trl_alloc64(d.n_tokens, step * sizeof *node);
        float *table = trl_alloc64(c.n + 1, step * sizeof *table);
        double *want = trl_alloc64(n, sizeof *want), *got = trl_alloc64(n, sizeof *got);
        assert_true(node && table && want && got && c.n <= d.n_tokens);
        for (size_t i = 0; i < d.n_tokens * step; i++)
            node[i] = (float)trl_rng_unit(rng) - 0.5F;
        for (size_t i = 0; i < (c.n + 1) * step; i++)
            table[i] = 1e30F; /* whoever reads what was not written will be seen */
        memset(want, 0, n * sizeof *want);
        memset(got, 0, n * sizeof *got);
        put_all(&c, &d, node, table);
        scatter(&d, node, want);
        scatter(c.lists, table, got);
        assert_memory_equal(got, want, n * sizeof *want);
        trl_free(node);
        trl_free(table);
        trl_free(want);
        trl_free(got);
    } else {
        assert_ptr_equal(c.lists, &d);
        assert_true(c.all && c.n == (d.family[0].n_cold ? d.n_tokens : 0));
    }
    trl_cold_tokens_fini(&c);
    trl_design_fini(&d);
    trl_corpus_fini(&corpus);
    return shorter;
}

static void test_places(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    int shorter = 0, whole = 0;
    for (int trial = 0; trial < 300; trial++) {
        const corpus_shape h = {.sequences = 1 + trl_rng_below(&rng, 100),
                                .max_tokens = 12,
                                .L = 1 + trl_rng_below(&rng, 40),
                                .attrs = {20 + trl_rng_below(&rng, 600), 0, 0},
                                .per_token = {1 + trl_rng_below(&rng, 12), 0, 0},
                                .constant = {false, true, false},
                                .values = trl_rng_below(&rng, 2)};
        const trl_design_options o = {.order = 1,
                                      .all_pairs = trl_rng_below(&rng, 2),
                                      .long_tokens = trl_rng_below(&rng, 8) == 0};
        *(check(&rng, &h, &o) ? &shorter : &whole) += 1;
    }
    assert_true(shorter > 50 && whole > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
