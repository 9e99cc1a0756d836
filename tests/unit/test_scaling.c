/* test_scaling.c -- optimisers on attributes whose values are far from 1. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain_problem.h"

#include "train/optimizers.h"
#include "train/scaled_values.h"
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

/* ---- example by example ---------------------------------------------------------------------- */

static const struct method {
    const char *name;
    double above; /* the optimum, relative: how far its default run may end */
} methods[] = {{"sdca", 1e-4},
               {"sag", 1e-3},
               {"asgd", 0.01},
               {"sgd", 0.05},
               {"adagrad", 0.2}}; /* 12 passes of 6 batches */

/* A run from 0, or on from a state, ended by the eye. */
static void run_by(const char *name, chain_problem *p, eye *e, trl_buf *state, double *x)
{
    trl_error err = {0};
    trl_ending ending;
    trl_train_options o = trl_train_options_default();
    o.c2 = p->c2;
    const trl_learner learner = {
        .n_weights = (size_t)p->d.n_weights, .smooth = true, .design = &p->d, .task = &p->task};
    const trl_watcher w = {e, watch, NULL};
    const trl_fit fit = {.o = &o,
                         .learner = &learner,
                         .pool = p->pool,
                         .watcher = &w,
                         .state = state ? state->data : NULL,
                         .state_size = state ? state->len : 0};
    assert_ok(trl_optimizer_find(name)->run(&fit, x, &ending, &err));
}

/* Values of 1e6 and 1e-6, all of them: close to the optimum of L-BFGS. */
static void test_every_optimizer(void **state)
{
    (void)state;
    const double units[] = {1e6, 1e-6};
    for (size_t u = 0; u < 2; u++) {
        chain_problem p;
        make(units[u], &p);
        eye e = {.x = problem_vector(&p), .n = (size_t)p.d.n_weights};
        double *x = problem_vector(&p);
        run_by("lbfgs", &p, &e, NULL, x);
        const double best = problem_value(&p, x, NULL);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            memset(x, 0, e.n * sizeof *x);
            run_by(methods[k].name, &p, &e, NULL, x);
            const double F = problem_value(&p, x, NULL);
            if (!(F <= (1.0 + methods[k].above) * best))
                fail_msg("%s, values of %g: %g instead of %g", methods[k].name, units[u], F, best);
            assert_memory_equal(e.x, x, e.n * sizeof *x);
        }
        trl_free(e.x);
        trl_free(x);
        problem_fini(&p);
    }
}

/* A run that goes on from pass 3 ends with the bits of one that was never interrupted. */
static void test_resumed(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        chain_problem p;
        make(1e6, &p);
        eye e = {.x = problem_vector(&p), .n = (size_t)p.d.n_weights, .stop_at = 7};
        double *x = problem_vector(&p), *y = problem_vector(&p);
        run_by(methods[k].name, &p, &e, NULL, x);
        trl_buf_fini(&e.state);
        e.stop_at = 3;
        run_by(methods[k].name, &p, &e, NULL, y);
        trl_buf saved = e.state;
        e.state = (trl_buf){0};
        e.stop_at = 7;
        run_by(methods[k].name, &p, &e, &saved, y);
        assert_int_equal(e.seen, 7);
        assert_memory_equal(x, y, e.n * sizeof *x);
        trl_buf_fini(&saved);
        trl_buf_fini(&e.state);
        trl_free(e.x);
        trl_free(x);
        trl_free(y);
        problem_fini(&p);
    }
}

/* Values near 1 are not copied; with a penalty no scale is below 1, without one small values are
 * scaled as well; and scores are the same. */
static void test_values(void **state)
{
    (void)state;
    trl_error err;
    trl_scaled_values s;
    chain_problem p;
    make(1.0, &p);
    double *x = problem_vector(&p), *w = problem_vector(&p);
    assert_ok(trl_scaled_values_open(&s, &p.d, p.c2, &(trl_descent){.x = x}, &err));
    assert_ptr_equal(s.d, &p.d);
    assert_null(s.far);
    trl_scaled_values_close(&s);
    problem_fini(&p);

    make(1e-6, &p);
    assert_ok(trl_scaled_values_open(&s, &p.d, p.c2, &(trl_descent){.x = x}, &err));
    assert_null(s.far);
    trl_scaled_values_close(&s);
    trl_rng rng = trl_rng_seed(3);
    for (uint64_t j = 0; j < p.d.n_weights; j++)
        x[j] = w[j] = trl_rng_unit(&rng) - 0.5;
    assert_ok(trl_scaled_values_open(&s, &p.d, 0.0, &(trl_descent){.x = x}, &err));
    assert_non_null(s.far);
    trl_arena arena = {0};
    trl_tables plain, scaled;
    assert_true(trl_tables_get(&p.d, p.d.n_tokens, &arena, &plain));
    assert_true(trl_tables_get(&p.d, p.d.n_tokens, &arena, &scaled));
    trl_gather(&p.d, w, 0, &plain);
    trl_gather(s.d, x, 0, &scaled);
    const trl_family *f = &p.d.family[TRL_NODE];
    for (size_t t = 0; t < p.d.n_tokens; t++)
        for (size_t c = 0; c < f->width; c++)
            assert_true(plain.row[TRL_NODE][t * f->step + c] ==
                        scaled.row[TRL_NODE][t * f->step + c]);
    assert_near(trl_far_norm2(s.far, (size_t)p.d.n_weights, x),
                trl_far_norm2(NULL, (size_t)p.d.n_weights, w), 1e-12);
    trl_scaled_values_close(&s);
    assert_memory_equal(x, w, (size_t)p.d.n_weights * sizeof *x);
    trl_arena_fini(&arena);
    trl_free(x);
    trl_free(w);
    problem_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scales),          cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_every_optimizer), cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
