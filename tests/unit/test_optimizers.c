/* test_optimizers.c -- all optimisers reach the one optimum there is, in the same bits with
 * any number of threads and after any interruption. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "chain_problem.h"

#include "train/lbfgs.h"
#include "train/sag.h"
#include "train/sdca.h"

typedef enum method { LBFGS, OWLQN, SAG, SDCA, SGD, ASGD, PERCEPTRON, METHODS } method;

static const char *const method_name[] = {"lbfgs", "owlqn", "sag",       "sdca",
                                          "sgd",   "asgd",  "perceptron"};

typedef struct run_options {
    uint64_t max_iter;
    double epsilon, c1, eta;
    uint64_t batch;
} run_options;

/* Stops after iteration `stop_at` and keeps the state then. */
typedef struct observer {
    uint64_t stop_at, seen;
    trl_buf state;
    double objective; /* the last one reported */
    bool exact, falling;
} observer;

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    (void)err;
    observer *o = self;
    assert_int_equal(it->number, o->seen + 1);
    o->falling = o->seen == 0 || (o->falling && it->objective <= o->objective);
    o->seen = it->number;
    o->objective = it->objective;
    o->exact = it->exact;
    if (it->number == o->stop_at) {
        assert_true(save(optimizer, &o->state));
        *stop = true;
    }
    return TRL_OK;
}

static trl_status run(method which, chain_problem *p, const run_options *o, observer *eye,
                      const trl_buf *state, double *x, trl_ending *ending)
{
    trl_error err;
    const trl_watcher w = {eye, watch, NULL};
    const trl_function f = problem_function(p);
    const trl_descent how = {
        p->pool, eye ? &w : NULL, state ? state->data : NULL, state ? state->len : 0, x, ending};
    trl_status st;
    if (which == LBFGS || which == OWLQN) {
        const trl_lbfgs_options lo = {.memory = 6,
                                      .c1 = which == OWLQN ? o->c1 : 0.0,
                                      .max_iter = o->max_iter,
                                      .epsilon = o->epsilon};
        st = trl_lbfgs(&f, &lo, &how, &err);
    } else if (which == SAG) {
        const trl_sag_options so = {
            .c2 = p->c2, .max_iter = o->max_iter, .epsilon = o->epsilon, .seed = 5};
        st = trl_sag(&p->d, &p->task, &so, &how, &err);
    } else if (which == SDCA) {
        const trl_sdca_options so = {
            .c2 = p->c2, .max_iter = o->max_iter, .period = 3, .delta = o->epsilon, .seed = 5};
        st = trl_sdca(&p->d, &p->task, &so, &how, &err);
    } else {
        const trl_sgd_options so = {.c2 = p->c2,
                                    .eta = o->eta,
                                    .batch = o->batch,
                                    .perceptron = which == PERCEPTRON,
                                    .averaged = which != SGD,
                                    .max_iter = o->max_iter,
                                    .period = 3, /* with this delta: never */
                                    .delta = -1.0,
                                    .seed = 5};
        st = trl_sgd(&p->d, &p->task, &so, &how, &err);
    }
    if (st != TRL_OK && st != TRL_EMODEL && st != TRL_EINVAL)
        print_error("%s: %s\n", method_name[which], err.msg);
    return st;
}

static corpus_shape shape_of(int order)
{
    return (corpus_shape){.sequences = 60,
                          .max_tokens = 10,
                          .L = order == 2 ? 3 : 5,
                          .attrs = {150, 6, 3},
                          .per_token = {6, 2, 1},
                          .constant = {false, true, true},
                          .implied = true,
                          .values = order == 2,
                          .weights = true};
}

static void problem_of(int order, size_t threads, const char *objective, chain_problem *p)
{
    trl_rng rng = trl_rng_seed(31 + (uint64_t)order);
    const corpus_shape h = shape_of(order);
    const trl_design_options o = {.order = order};
    problem_make(&rng, &h, &o, objective, threads, p);
    p->c2 = 0.5;
}

/* ---- the optimum ----------------------------------------------------------------------- */

static void test_same_optimum(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        chain_problem p;
        problem_of(order, 2, "likelihood", &p);
        double *best = problem_vector(&p), *x = problem_vector(&p), norm;
        trl_ending ending;
        observer eye = {0};
        const run_options precise = {.max_iter = 500, .epsilon = 1e-8};
        assert_int_equal(run(LBFGS, &p, &precise, &eye, NULL, best, &ending), TRL_OK);
        assert_true(ending == TRL_END_CONVERGED || ending == TRL_END_NO_STEP);
        assert_true(eye.exact && eye.falling);
        const double F = problem_value(&p, best, &norm);
        assert_true(eye.objective == F);
        assert_true(norm < 1e-5);

        const run_options so = {.max_iter = 500, .epsilon = 1e-6}; /* it keeps floats */
        assert_int_equal(run(SAG, &p, &so, NULL, NULL, x, &ending), TRL_OK);
        assert_int_equal(ending, TRL_END_CONVERGED);
        const double sag = problem_value(&p, x, &norm);
        assert_true(sag >= F * (1.0 - 1e-12) && sag <= F * (1.0 + 1e-6));
        for (uint64_t i = 0; i < p.d.n_weights; i++)
            assert_near(x[i], best[i], 1e-4);

        memset(x, 0, (size_t)p.d.n_weights * sizeof *x);
        assert_int_equal(run(SDCA, &p, &so, NULL, NULL, x, &ending), TRL_OK);
        assert_int_equal(ending, TRL_END_STALLED);
        const double sdca = problem_value(&p, x, &norm);
        assert_true(sdca >= F * (1.0 - 1e-12) && sdca <= F * (1.0 + 1e-6));

        trl_free(best);
        trl_free(x);
        problem_fini(&p);
    }
}

/* SAG's steps are bolder than theory allows, and SDCA's are guesses more often than not: both must
 * notice when they are too bold.  SDCA starts from nothing only. */
static void test_stochastic_converge(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 25; seed += 4) {
        trl_rng rng = trl_rng_seed(seed);
        corpus_shape h = shape_of(1);
        h.sequences = 20 + seed * 4;
        h.values = seed % 2;
        h.attrs[0] = 20 * seed;
        const trl_design_options o = {.order = 1};
        chain_problem p;
        problem_make(&rng, &h, &o, "likelihood", 1, &p);
        p.c2 = 0.2;
        double *x = problem_vector(&p);
        trl_ending ending;
        const run_options precise = {.max_iter = 500, .epsilon = 1e-6};
        assert_int_equal(run(LBFGS, &p, &precise, NULL, NULL, x, &ending), TRL_OK);
        const double F = problem_value(&p, x, NULL);
        for (int warm = 0; warm < 2; warm++) {
            const run_options so = {.max_iter = 1000, .epsilon = 1e-6};
            for (uint64_t i = 0; i < p.d.n_weights; i++)
                x[i] *= warm ? 0.5 : 0.0;
            assert_int_equal(run(SAG, &p, &so, NULL, NULL, x, &ending), TRL_OK);
            assert_int_equal(ending, TRL_END_CONVERGED);
            assert_near(problem_value(&p, x, NULL) / F, 1.0, 1e-7);
        }
        const run_options so = {.max_iter = 1000, .epsilon = 1e-8};
        assert_int_equal(run(SDCA, &p, &so, NULL, NULL, x, &ending), TRL_EINVAL);
        memset(x, 0, (size_t)p.d.n_weights * sizeof *x);
        assert_int_equal(run(SDCA, &p, &so, NULL, NULL, x, &ending), TRL_OK);
        assert_int_equal(ending, TRL_END_STALLED);
        assert_near(problem_value(&p, x, NULL) / F, 1.0, 1e-7);
        trl_free(x);
        problem_fini(&p);
    }
}

/* The stochastic methods come near like 1 / passes, when c2 is large enough for their gains.
 * A batch that does not divide the corpus must not change the optimum. */
static void test_stochastic_optimum(void **state)
{
    (void)state;
    static const struct {
        method which;
        uint64_t batch, passes;
        double close;
    } runs[] = {{SGD, 1, 400, 2e-3},
                {SGD, 1, 1600, 6e-4},
                {SGD, 15, 1600, 1.5e-3},
                {ASGD, 1, 512, 8e-4},
                {ASGD, 7, 2048, 1.7e-4}};
    for (int order = 1; order <= 2; order++) {
        chain_problem p;
        problem_of(order, 1, "likelihood", &p);
        p.c2 = 5.0;
        double *x = problem_vector(&p);
        trl_ending ending;
        const run_options precise = {.max_iter = 500, .epsilon = 1e-8};
        assert_int_equal(run(LBFGS, &p, &precise, NULL, NULL, x, &ending), TRL_OK);
        const double F = problem_value(&p, x, NULL);
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
            const run_options o = {.max_iter = runs[k].passes, .batch = runs[k].batch};
            memset(x, 0, (size_t)p.d.n_weights * sizeof *x);
            assert_int_equal(run(runs[k].which, &p, &o, NULL, NULL, x, &ending), TRL_OK);
            assert_int_equal(ending, TRL_END_MAX_ITER);
            assert_near(problem_value(&p, x, NULL), F, runs[k].close);
        }
        trl_free(x);
        problem_fini(&p);
    }
}

/* Of F + c1 ||w||_1: |g_i| <= c1 where w_i = 0, g_i = -+ c1 where it is not. */
static void test_owlqn(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++)
        for (int k = 0; k < 3; k++) {
            chain_problem p;
            problem_of(order, 1, "likelihood", &p);
            p.c2 = k == 1 ? 0.5 : 0.0;
            trl_error err;
            trl_ending ending;
            observer eye = {0};
            double *x = problem_vector(&p), *g = problem_vector(&p), F, l1 = 0.0;
            const run_options o = {.max_iter = 3000, .epsilon = 1e-5, .c1 = k == 2 ? 5.0 : 0.7};
            assert_int_equal(run(OWLQN, &p, &o, &eye, NULL, x, &ending), TRL_OK);
            assert_true(ending == TRL_END_CONVERGED || ending == TRL_END_NO_STEP);
            assert_true(eye.falling);
            assert_ok(problem_eval(&p, x, g, &F, &err));
            size_t zeros = 0;
            for (uint64_t i = 0; i < p.d.n_weights; i++) {
                l1 += fabs(x[i]);
                zeros += x[i] == 0.0;
                if (x[i] == 0.0)
                    assert_true(fabs(g[i]) <= o.c1 + 1e-4);
                else
                    assert_near(g[i], x[i] > 0.0 ? -o.c1 : o.c1, 1e-4);
            }
            assert_near(eye.objective, F + o.c1 * l1, 1e-12);
            assert_true(zeros > 0 && zeros < p.d.n_weights);
            trl_free(x);
            trl_free(g);
            problem_fini(&p);
        }
}

/* ---- the perceptron -------------------------------------------------------------------- */

/* Labels that an attribute gives away: sets every token's first attribute from its label. */
static void make_separable(trl_corpus *c)
{
    trl_occurrences *o = &c->family[TRL_NODE];
    uint32_t names[8];
    for (size_t y = 0; y < c->labels.n; y++) {
        const char name[2] = {'k', (char)('0' + y)};
        names[y] = trl_strtab_add(&o->names, name, 2);
    }
    for (size_t t = 0; t < c->n_tokens; t++)
        if (o->begin[t] < o->begin[t + 1])
            o->id[o->begin[t]] = names[c->label[t]];
        else
            c->label[t] = 0;
}

static void test_perceptron_separates(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(40);
    trl_error err;
    const corpus_shape h = {.sequences = 80,
                            .max_tokens = 8,
                            .L = 4,
                            .attrs = {300, 0},
                            .per_token = {5, 0},
                            .constant = {false, true}};
    const trl_design_options o = {.order = 1};
    chain_problem p = {0};
    random_corpus(&rng, &h, &p.c);
    make_separable(&p.c);
    assert_ok(trl_design_build(&p.d, &p.c, &o, &err));
    assert_ok(trl_chain_task_init(&p.chain, &p.c, 1, trl_objective_find("perceptron"),
                                  TRL_SGD_BATCH_MAX, &err));
    p.task = trl_chain_task_view(&p.chain);
    p.pool = trl_pool_new(1);
    assert_ok(trl_gradient_new(&p.d, &p.c.family[TRL_NODE].names, &p.task, p.pool, &p.g, &err));
    double *x = problem_vector(&p), norm;
    trl_ending ending;
    const run_options po = {.max_iter = 60};
    assert_true(problem_value(&p, x, &norm) == 0.0 && norm > 0.0);
    assert_int_equal(run(PERCEPTRON, &p, &po, NULL, NULL, x, &ending), TRL_OK);
    (void)problem_value(&p, x, &norm);
    assert_true(norm == 0.0); /* the best labelling is the gold one, everywhere */
    trl_free(x);
    problem_fini(&p);
}

/* ---- the same bits --------------------------------------------------------------------- */

static const char *objective_of(method m)
{
    return m == PERCEPTRON ? "perceptron" : "likelihood";
}

static run_options options_of(method m)
{
    return (run_options){.max_iter = 12, .c1 = 0.4, .batch = m == SGD ? 15 : 3};
}

static void test_resume(void **state)
{
    (void)state;
    for (method m = 0; m < METHODS; m++)
        for (uint64_t k = 1; k <= 11; k += m == LBFGS ? 1 : 5) {
            chain_problem p;
            problem_of(1 + (int)(k % 2), 1, objective_of(m), &p);
            const run_options o = options_of(m);
            double *whole = problem_vector(&p), *x = problem_vector(&p);
            trl_ending ending;
            observer first = {.stop_at = k}, second = {.seen = k};
            observer all = {0};
            assert_int_equal(run(m, &p, &o, &all, NULL, whole, &ending), TRL_OK);
            assert_int_equal(ending, TRL_END_MAX_ITER);
            assert_int_equal(run(m, &p, &o, &first, NULL, x, &ending), TRL_OK);
            assert_int_equal(ending, TRL_END_STOPPED);
            /* as after a crash: only the saved things live on */
            assert_int_equal(run(m, &p, &o, &second, &first.state, x, &ending), TRL_OK);
            assert_int_equal(second.seen, all.seen);
            assert_true(second.objective == all.objective);
            assert_memory_equal(x, whole, (size_t)p.d.n_weights * sizeof *x);
            trl_buf_fini(&first.state);
            trl_free(whole);
            trl_free(x);
            problem_fini(&p);
        }
}

/* A state that was cut, or comes from something else. */
static void test_wrong_state(void **state)
{
    (void)state;
    for (method m = 0; m < METHODS; m++) {
        chain_problem p;
        problem_of(1, 1, objective_of(m), &p);
        const run_options o = options_of(m);
        double *x = problem_vector(&p);
        trl_ending ending;
        observer eye = {.stop_at = 2}, none = {0};
        trl_buf junk = {0};
        assert_int_equal(run(m, &p, &o, &eye, NULL, x, &ending), TRL_OK);
        for (size_t n = 0; n < eye.state.len; n += 1 + eye.state.len / 50) {
            trl_buf cut = eye.state;
            cut.len = n;
            assert_int_equal(run(m, &p, &o, &none, &cut, x, &ending), TRL_EMODEL);
        }
        for (size_t n = 0; n < eye.state.len; n++)
            trl_buf_ch(&junk, (char)0xa5);
        assert_int_equal(run(m, &p, &o, &none, &junk, x, &ending), TRL_EMODEL);
        trl_buf_fini(&junk);
        trl_buf_fini(&eye.state);
        trl_free(x);
        problem_fini(&p);
    }
}

static void test_threads(void **state)
{
    (void)state;
    for (method m = 0; m < METHODS; m++)
        for (int order = 1; order <= 2; order++) {
            chain_problem p1, p4;
            problem_of(order, 1, objective_of(m), &p1);
            problem_of(order, 4, objective_of(m), &p4);
            const run_options o = options_of(m);
            double *x1 = problem_vector(&p1), *x4 = problem_vector(&p4);
            trl_ending ending;
            assert_int_equal(run(m, &p1, &o, NULL, NULL, x1, &ending), TRL_OK);
            assert_int_equal(run(m, &p4, &o, NULL, NULL, x4, &ending), TRL_OK);
            assert_memory_equal(x1, x4, (size_t)p1.d.n_weights * sizeof *x1);
            trl_free(x1);
            trl_free(x4);
            problem_fini(&p1);
            problem_fini(&p4);
        }
}

/* ---- steps that fail ------------------------------------------------------------------- */

/* F(x) = sum_i -log(1 - x_i) - 3 x_i on x < 1, minimum at 2/3; not finite from 1 on. */
typedef struct barrier {
    size_t calls, overflows, fail_at;
} barrier;

static trl_status barrier_eval(void *self, const double *x, double *g, double *F, trl_error *err)
{
    barrier *b = self;
    *F = 0.0;
    if (++b->calls == b->fail_at) {
        err->code = TRL_EIO;
        return TRL_EIO;
    }
    for (int i = 0; i < 3; i++) {
        if (x[i] >= 1.0) {
            b->overflows++;
            return TRL_ENUMERIC;
        }
        *F += -log(1.0 - x[i]) - 3.0 * x[i];
        g[i] = 1.0 / (1.0 - x[i]) - 3.0;
    }
    return TRL_OK;
}

static void test_overflow(void **state)
{
    (void)state;
    trl_pool *pool = trl_pool_new(1);
    trl_error err;
    trl_ending ending;
    for (int l1 = 0; l1 < 2; l1++) {
        barrier b = {0};
        const trl_function f = {.self = &b, .n = 3, .eval = barrier_eval};
        const trl_lbfgs_options o = {.memory = 3, .c1 = l1 ? 1.0 : 0.0, .epsilon = 1e-9};
        double x[3 + 64] = {0.0, -40.0, 0.999};
        assert_ok(trl_lbfgs(&f, &o, &(trl_descent){.pool = pool, .x = x, .ending = &ending}, &err));
        assert_true(b.overflows > 0);
        for (int i = 0; i < 3; i++)
            assert_near(x[i], l1 ? 0.5 : 2.0 / 3.0, 1e-7);
    }
    /* any other failure ends the run, with the last accepted weights */
    for (size_t k = 1; k < 8; k++) {
        barrier b = {.fail_at = k};
        const trl_function f = {.self = &b, .n = 3, .eval = barrier_eval};
        const trl_lbfgs_options o = {.memory = 3, .epsilon = 1e-9};
        double x[3 + 64] = {0.0, -40.0, 0.5}, g[3], F;
        assert_int_equal(
            trl_lbfgs(&f, &o, &(trl_descent){.pool = pool, .x = x, .ending = &ending}, &err),
            TRL_EIO);
        b.fail_at = 0;
        assert_int_equal(barrier_eval(&b, x, g, &F, &err), TRL_OK);
        assert_true(F <= 116.0);
    }
    trl_pool_free(pool);
}

/* Nothing to do: every optimiser ends at once or stays where it is. */
static void test_start_at_optimum(void **state)
{
    (void)state;
    chain_problem p;
    problem_of(1, 1, "likelihood", &p);
    double *best = problem_vector(&p), *x = problem_vector(&p);
    trl_ending ending;
    const run_options precise = {.max_iter = 500, .epsilon = 1e-7};
    assert_int_equal(run(LBFGS, &p, &precise, NULL, NULL, best, &ending), TRL_OK);
    const size_t bytes = (size_t)p.d.n_weights * sizeof *x;
    const double F = problem_value(&p, best, NULL);
    for (method m = LBFGS; m <= SAG; m += SAG) {
        const run_options o = {.max_iter = 500, .epsilon = m == SAG ? 1e-6 : 1e-7};
        memcpy(x, best, bytes);
        assert_int_equal(run(m, &p, &o, NULL, NULL, x, &ending), TRL_OK);
        assert_true(ending != TRL_END_MAX_ITER);
        assert_near(problem_value(&p, x, NULL), F, 1e-9);
    }
    trl_free(best);
    trl_free(x);
    problem_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_optimum),
        cmocka_unit_test(test_stochastic_converge),
        cmocka_unit_test(test_stochastic_optimum),
        cmocka_unit_test(test_owlqn),
        cmocka_unit_test(test_perceptron_separates),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_wrong_state),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_start_at_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
