/* test_scaling.c -- L-BFGS on attributes whose values are far from 1. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain_problem.h"

#include "train/scaling.h"

static void make(double times, chain_problem *p)
{
    trl_rng rng = trl_rng_seed(12);
    const corpus_shape h = {.sequences = 80,
                            .max_tokens = 10,
                            .L = 4,
                            .attrs = {30, 4, 0},
                            .per_token = {5, 1, 0},
                            .constant = {false, true, false},
                            .values = true};
    const trl_design_options o = {.order = 1};
    problem_make(&rng, &h, &o, "likelihood", 1, p);
    p->c2 = 0.5;
    for (size_t k = 0; k <= 1; k++) {
        const trl_family *f = &p->d.family[k];
        for (uint64_t i = 0; f->dense_value && i < f->dense_begin[p->d.n_tokens]; i++)
            f->dense_value[i] *= times;
        for (uint64_t i = 0; f->entry_value && i < f->entry_begin[p->d.n_tokens]; i++)
            f->entry_value[i] *= times;
        for (uint64_t i = 0; f->token_value && i < f->token_begin[f->n_cold]; i++)
            f->token_value[i] *= times;
    }
}

/* Values within a factor of 16 of 1 are let alone; others get powers of two, constants 1. */
static void test_scales(void **state)
{
    (void)state;
    trl_error err;
    chain_problem p;
    double *scale, largest = 0.0;
    make(1.0, &p);
    assert_ok(trl_scaling_of(&p.d, p.c2, &scale, &err));
    assert_null(scale);
    problem_fini(&p);
    make(1e6, &p);
    assert_ok(trl_scaling_of(&p.d, p.c2, &scale, &err));
    assert_non_null(scale);
    for (uint64_t j = 0; j < p.d.n_weights; j++) {
        int exponent;
        assert_true(frexp(scale[j], &exponent) == 0.5);
        largest = fmax(largest, scale[j]);
    }
    assert_true(largest > 1e4 && largest < 1e7);
    const trl_family *edges = &p.d.family[TRL_EDGE];
    for (size_t c = 0; c < edges->n_constant; c++)
        assert_true(scale[edges->constant_at + c] == 1.0);
    trl_free(scale);
    problem_fini(&p);
}

typedef struct eye {
    uint64_t stop_at, seen;
    trl_buf state;
    double *x; /* weights of the last iteration */
    size_t n;
} eye;

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    (void)err;
    eye *e = self;
    e->seen = it->number;
    memcpy(e->x, it->x, e->n * sizeof *e->x);
    *stop = it->number == e->stop_at;
    if (*stop)
        assert_true(save(optimizer, &e->state));
    return TRL_OK;
}

/* The optimum whatever the unit of the values: the gradient along scaled weights vanishes, where
 * the plain method stops above it.  A resumed run has the same bits, L1 its optimality conditions.
 */
static void test_optimum(void **state)
{
    (void)state;
    trl_error err;
    chain_problem p;
    trl_ending ending;
    make(1e6, &p);
    const trl_function f = problem_function(&p);
    double *scale, *x = problem_vector(&p), *y = problem_vector(&p), *g = problem_vector(&p), F, G;
    assert_ok(trl_scaling_of(&p.d, p.c2, &scale, &err));
    const trl_lbfgs_options o = {.memory = 6, .max_iter = 5000, .epsilon = 1e-5};
    eye e = {.x = problem_vector(&p), .n = f.n};
    const trl_watcher w = {&e, watch, NULL};
    assert_ok(trl_lbfgs_scaled(
        &f, &o, scale, &(trl_descent){.pool = p.pool, .watcher = &w, .x = x, .ending = &ending},
        &err));
    assert_int_equal(ending, TRL_END_CONVERGED);
    assert_memory_equal(e.x, x, f.n * sizeof *x);
    assert_ok(f.eval(f.self, x, g, &F, &err));
    for (size_t j = 0; j < f.n; j++)
        assert_true(fabs(g[j] / scale[j]) < 1e-2);
    trl_lbfgs_options plain = o;
    plain.max_iter = e.seen;
    assert_ok(
        trl_lbfgs(&f, &plain, &(trl_descent){.pool = p.pool, .x = y, .ending = &ending}, &err));
    assert_ok(f.eval(f.self, y, g, &G, &err));
    assert_true(F < G);

    memset(y, 0, f.n * sizeof *y);
    e.stop_at = 9;
    assert_ok(trl_lbfgs_scaled(
        &f, &o, scale, &(trl_descent){.pool = p.pool, .watcher = &w, .x = y, .ending = &ending},
        &err));
    e.stop_at = 0;
    assert_ok(trl_lbfgs_scaled(&f, &o, scale,
                               &(trl_descent){.pool = p.pool,
                                              .watcher = &w,
                                              .state = e.state.data,
                                              .state_size = e.state.len,
                                              .x = y,
                                              .ending = &ending},
                               &err));
    assert_memory_equal(x, y, f.n * sizeof *x);

    trl_lbfgs_options l1 = o;
    l1.c1 = 2.0;
    l1.max_iter = 1000;
    memset(y, 0, f.n * sizeof *y);
    assert_ok(trl_lbfgs_scaled(&f, &l1, scale,
                               &(trl_descent){.pool = p.pool, .x = y, .ending = &ending}, &err));
    assert_ok(f.eval(f.self, y, g, &G, &err));
    for (size_t j = 0; j < f.n; j++) { /* in units of scaled weights */
        const double slack = 1e-3, c1 = l1.c1 / scale[j], v = g[j] / scale[j];
        if (y[j] == 0.0)
            assert_true(fabs(v) <= c1 + slack);
        else
            assert_true(fabs(v + (y[j] > 0.0 ? c1 : -c1)) <= slack);
    }
    trl_free(e.x);
    trl_buf_fini(&e.state);
    trl_free(scale);
    trl_free(x);
    trl_free(y);
    trl_free(g);
    problem_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
