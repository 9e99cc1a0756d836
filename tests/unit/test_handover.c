/* test_handover.c -- sdca that hands over to L-BFGS where it gets no further, and asgd to OWL-QN.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>

#include "chain_problem.h"

#include "train/optimizers.h"
#include "train/sdca.h"

typedef struct eye {
    uint64_t stop_at, seen, handed_over;
    trl_ending ending;
    trl_buf state;
} eye;

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    (void)err;
    eye *e = self;
    assert_true(it->number == e->seen + 1);
    e->seen = it->number;
    e->handed_over = it->handed_over;
    *stop = it->number == e->stop_at;
    if (*stop)
        assert_true(save(optimizer, &e->state));
    return TRL_OK;
}

static void make(double c2, chain_problem *p)
{
    trl_rng rng = trl_rng_seed(12);
    const corpus_shape h = {.sequences = 80,
                            .max_tokens = 10,
                            .L = 4,
                            .attrs = {30, 4, 0},
                            .per_token = {5, 1, 0},
                            .constant = {false, true, false}};
    const trl_design_options o = {.order = 1};
    problem_make(&rng, &h, &o, "likelihood", 1, p);
    p->c2 = c2;
}

#define C1 0.2 /* where an optimiser is for L1 */

static void run_by(const char *name, chain_problem *p, uint64_t max_iter, eye *e,
                   const trl_buf *state, double *x)
{
    trl_error err = {0};
    trl_train_options o = trl_train_options_default();
    o.c2 = p->c2;
    o.c1 = strstr(name, "owlqn") ? C1 : 0.0;
    o.max_iter = max_iter;
    const trl_learner learner = {
        .n_weights = (size_t)p->d.n_weights, .smooth = true, .design = &p->d, .task = &p->task};
    const trl_watcher w = {e, watch, NULL};
    const trl_fit fit = {.o = &o,
                         .learner = &learner,
                         .pool = p->pool,
                         .watcher = &w,
                         .state = state ? state->data : NULL,
                         .state_size = state ? state->len : 0};
    assert_ok(trl_optimizer_find(name)->run(&fit, x, &e->ending, &err));
}

/* With a weak penalty sdca alone stays far above the optimum; handed over, it gets there, within
 * max_iter iterations of both. */
static void test_weak_penalty(void **state)
{
    (void)state;
    trl_error err;
    trl_ending ending;
    chain_problem p;
    make(0.003, &p);
    double *x = problem_vector(&p), *y = problem_vector(&p), *z = problem_vector(&p);
    eye e = {0}, other = {0};
    run_by("lbfgs", &p, 0, &other, NULL, x);
    run_by("sdca", &p, 0, &e, NULL, y);
    assert_true(e.handed_over > 0);
    const double best = problem_value(&p, x, NULL), F = problem_value(&p, y, NULL);
    assert_true(F <= 1.001 * best);
    const trl_sdca_options alone = {.c2 = p.c2, .max_iter = e.seen, .period = 3, .delta = 1e-5};
    assert_ok(trl_sdca(&p.d, &p.task, &alone, &(trl_descent){.x = z, .ending = &ending}, &err));
    assert_true(problem_value(&p, z, NULL) > 1.01 * best);
    for (uint64_t most = 1; most <= 9; most += 4) {
        e = (eye){0};
        memset(y, 0, (size_t)p.d.n_weights * sizeof *y);
        run_by("sdca", &p, most, &e, NULL, y);
        assert_int_equal(e.seen, most);
        assert_int_equal(e.ending, TRL_END_MAX_ITER);
    }
    trl_free(x);
    trl_free(y);
    trl_free(z);
    problem_fini(&p);
}

/* Stopped before, at and after the handover and resumed: the same bits. */
static void check_resumed(const char *name)
{
    chain_problem p;
    make(0.3, &p);
    double *x = problem_vector(&p), *y = problem_vector(&p);
    eye whole = {0};
    run_by(name, &p, 0, &whole, NULL, x);
    const uint64_t over = whole.handed_over, stops[] = {1, over - 1, over, over + 1, over + 5};
    assert_true(over > 2 && whole.seen > over + 5);
    for (size_t k = 0; k < sizeof stops / sizeof *stops; k++) {
        eye e = {.stop_at = stops[k]};
        memset(y, 0, (size_t)p.d.n_weights * sizeof *y);
        run_by(name, &p, 0, &e, NULL, y);
        assert_int_equal(e.seen, stops[k]);
        assert_int_equal(e.ending, TRL_END_STOPPED);
        trl_buf saved = e.state;
        e = (eye){.seen = e.seen};
        run_by(name, &p, 0, &e, &saved, y);
        assert_int_equal(e.seen, whole.seen);
        assert_int_equal(e.handed_over, over);
        assert_memory_equal(x, y, (size_t)p.d.n_weights * sizeof *x);
        trl_buf_fini(&saved);
    }
    trl_free(x);
    trl_free(y);
    problem_fini(&p);
}

static void test_resumed(void **state)
{
    (void)state;
    check_resumed("sdca");
    check_resumed("asgd-owlqn");
}

static double with_l1(chain_problem *p, const double *x)
{
    double sum = 0.0;
    for (uint64_t k = 0; k < p->d.n_weights; k++)
        sum += fabs(x[k]);
    return problem_value(p, x, NULL) + C1 * sum;
}

/* OWL-QN gets to the same optimum from the weights of asgd, in fewer iterations, and makes the same
 * share of them 0. */
static void test_l1(void **state)
{
    (void)state;
    chain_problem p;
    make(0.1, &p);
    double *x = problem_vector(&p), *y = problem_vector(&p);
    eye alone = {0}, both = {0};
    run_by("owlqn", &p, 0, &alone, NULL, x);
    run_by("asgd-owlqn", &p, 0, &both, NULL, y);
    assert_int_equal(both.handed_over, 3);
    assert_near(with_l1(&p, y), with_l1(&p, x), 1e-4);
    size_t zeros[2] = {0};
    for (uint64_t k = 0; k < p.d.n_weights; k++) {
        zeros[0] += x[k] == 0.0;
        zeros[1] += y[k] == 0.0;
    }
    assert_true(zeros[1] * 10 > zeros[0] * 9 && zeros[0] > 0);
    trl_free(x);
    trl_free(y);
    problem_fini(&p);
}

/* Where sdca comes to the optimum by itself nothing changes. */
static void test_strong_penalty(void **state)
{
    (void)state;
    trl_error err;
    trl_ending ending;
    chain_problem p;
    make(10.0, &p);
    double *x = problem_vector(&p), *y = problem_vector(&p);
    eye e = {0};
    const trl_train_options o = trl_train_options_default();
    run_by("sdca", &p, 0, &e, NULL, x);
    assert_int_equal(e.handed_over, 0);
    const trl_sdca_options alone = {
        .c2 = p.c2, .epsilon = o.epsilon, .period = 3, .delta = o.delta, .seed = o.seed};
    assert_ok(trl_sdca(&p.d, &p.task, &alone, &(trl_descent){.x = y, .ending = &ending}, &err));
    assert_memory_equal(x, y, (size_t)p.d.n_weights * sizeof *x);
    trl_free(x);
    trl_free(y);
    problem_fini(&p);
}

/* Close to the optimum, where passes gain little, L-BFGS ends the run in a few iterations, and
 * proves where it is. */
static void test_end(void **state)
{
    (void)state;
    chain_problem p;
    make(1.0, &p);
    double *x = problem_vector(&p), *best = problem_vector(&p), norm;
    eye e = {0}, other = {0};
    run_by("sdca", &p, 0, &e, NULL, x);
    run_by("lbfgs", &p, 0, &other, NULL, best);
    assert_int_equal(e.handed_over, 16);
    assert_true(e.seen < e.handed_over + 10);
    assert_int_equal(e.ending, TRL_END_STALLED);
    const double F = problem_value(&p, x, &norm);
    assert_true(norm * norm / (4.0 * p.c2) <= 1e-4 * F);
    assert_true(F <= problem_value(&p, best, NULL) * (1.0 + 1e-4));
    trl_free(x);
    trl_free(best);
    problem_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weak_penalty), cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_l1),           cmocka_unit_test(test_strong_penalty),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
