/* Stochastic training from sparse gradients: steps by hand, optima, resumed runs, threads. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "train/lbfgs.h"
#include "train/sparse.h"

/* ---- a task: logistic regression on a few features an example ----------------------------------
 */

#define M 40
#define N 60
#define PER 5

typedef struct logistic {
    uint32_t id[N][PER];
    double x[N][PER], y[N];
    const double *w;
    size_t n;
    double seen[4000]; /* w[0] at every prepare */
    size_t n_seen;
} logistic;

static trl_status prepare(void *self, const double *w, trl_error *err)
{
    (void)err;
    logistic *l = self;
    l->w = w;
    if (l->n_seen < 4000)
        l->seen[l->n_seen++] = w[0];
    return TRL_OK;
}

static trl_status evaluate(void *self, size_t e, size_t worker, double *loss, trl_sparse *out,
                           trl_error *err)
{
    (void)worker;
    (void)err;
    const logistic *l = self;
    double s = 0.0;
    for (size_t k = 0; k < PER; k++)
        s += l->x[e][k] * l->w[l->id[e][k]];
    *loss = log1p(exp(-l->y[e] * s));
    if (!out)
        return TRL_OK;
    assert_true(trl_sparse_room(out, PER));
    for (size_t k = 0; k < PER; k++) {
        out->id[out->n] = l->id[e][k];
        out->value[out->n++] = -l->y[e] * l->x[e][k] / (1.0 + exp(l->y[e] * s));
    }
    return TRL_OK;
}

/* Any order of evaluation gives the same. */
static size_t size(const void *self, size_t example)
{
    (void)self;
    return example * 7 % 5;
}

static void make(logistic *l, trl_sparse_task *t, uint64_t seed)
{
    trl_rng r = trl_rng_seed(seed);
    memset(l, 0, sizeof *l);
    for (size_t e = 0; e < N; e++) {
        l->y[e] = trl_rng_unit(&r) < 0.5 ? -1.0 : 1.0;
        for (size_t k = 0; k < PER; k++) { /* ids repeat; weight 0 is in every example */
            l->id[e][k] = k ? (uint32_t)trl_rng_below(&r, M) : 0;
            l->x[e][k] = 2.0 * trl_rng_unit(&r) - 1.0 + 0.5 * l->y[e];
        }
    }
    *t = (trl_sparse_task){l, N, M, prepare, evaluate, size};
}

static const trl_sparse_options adagrad = {
    .adaptive = true, .c2 = 0.05, .eta = 0.5, .batch = 7, .max_iter = 40, .seed = 3};
static const trl_sparse_options sgd = {
    .c2 = 0.05, .eta = 0.1, .batch = 7, .max_iter = 40, .seed = 3};

/* ---- the corpus as one function -------------------------------------------------------------- */

static void test_batch_gradient(void **state)
{
    (void)state;
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_function f;
    trl_sparse_batch *b;
    trl_pool *pool = trl_pool_new(1);
    double w[M + 64], g[M + 64], none[M + 64], F, up, down;
    make(&l, &t, 1);
    trl_rng r = trl_rng_seed(9);
    for (size_t k = 0; k < M; k++)
        w[k] = 2.0 * trl_rng_unit(&r) - 1.0;
    assert_ok(trl_sparse_batch_new(&t, 0.3, pool, &b, &f, &err));
    assert_int_equal(f.n, M);
    assert_ok(f.eval(f.self, w, g, &F, &err));
    double want = 0.0, loss;
    assert_ok(t.prepare(&l, w, &err));
    for (size_t e = 0; e < N; e++) {
        assert_ok(t.evaluate(&l, e, 0, &loss, NULL, &err));
        want += loss;
    }
    for (size_t k = 0; k < M; k++)
        want += 0.3 * w[k] * w[k];
    assert_near(F, want, 1e-13);
    for (size_t k = 0; k < M; k++) {
        const double old = w[k], h = 1e-5;
        w[k] = old + h;
        assert_ok(f.eval(f.self, w, none, &up, &err));
        w[k] = old - h;
        assert_ok(f.eval(f.self, w, none, &down, &err));
        w[k] = old;
        assert_near(g[k], (up - down) / (2 * h), 1e-8);
    }
    for (size_t threads = 2; threads <= 3; threads++) { /* the same bits */
        trl_pool *more = trl_pool_new(threads);
        trl_sparse_batch *b2;
        trl_function f2;
        assert_ok(trl_sparse_batch_new(&t, 0.3, more, &b2, &f2, &err));
        assert_ok(f2.eval(f2.self, w, none, &up, &err));
        assert_true(up == F && memcmp(none, g, M * sizeof *g) == 0);
        trl_sparse_batch_free(b2);
        trl_pool_free(more);
    }
    trl_sparse_batch_free(b);
    trl_pool_free(pool);
}

/* ---- steps by hand --------------------------------------------------------------------------- */

/* One example, one step a pass. */
static void test_steps(void **state)
{
    (void)state;
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_ending ending;
    trl_pool *pool = trl_pool_new(1);
    make(&l, &t, 2);
    t.n_examples = 1;
    for (size_t k = 0; k < PER; k++)
        l.id[0][k] = (uint32_t)k;
    double want[M] = {0}, w[M + 64] = {0};
    const double c2 = 0.01, eta = 0.3;
    double squares[PER] = {0};
    for (int kind = 0; kind < 2; kind++) {
        trl_sparse_options o = {
            .adaptive = kind == 0, .c2 = c2, .eta = eta, .batch = 1, .max_iter = 3};
        memset(want, 0, sizeof want);
        memset(squares, 0, sizeof squares);
        memset(w, 0, sizeof w);
        for (int step = 0; step < 3; step++) {
            double loss, keep[PER];
            trl_sparse g = {0};
            assert_ok(t.prepare(&l, want, &err));
            assert_ok(t.evaluate(&l, 0, 0, &loss, &g, &err));
            for (size_t k = 0; k < PER; k++) {
                /* the gain of a step, then the penalty at the end of the pass */
                const double now = eta * 5.0 / (5.0 + step), next = eta * 5.0 / (6.0 + step);
                squares[k] += g.value[k] * g.value[k];
                const double rate = kind == 0 ? eta / sqrt(squares[k]) : now;
                keep[k] = fmax(1.0 - 2.0 * c2 * (kind == 0 ? eta / sqrt(squares[k]) : next), 0.0);
                want[k] = (want[k] - rate * g.value[k]) * keep[k];
            }
            trl_sparse_fini(&g);
        }
        assert_ok(trl_sparse_train(&t, &o, &(trl_descent){.pool = pool, .x = w, .ending = &ending},
                                   &err));
        assert_int_equal(ending, TRL_END_MAX_ITER);
        for (size_t k = 0; k < M; k++)
            assert_near(w[k], want[k], 1e-7);
    }
    trl_pool_free(pool);
}

/* ---- optima ---------------------------------------------------------------------------------- */

static double objective(const trl_sparse_task *t, logistic *l, const double *w, double c2)
{
    trl_error err;
    double sum = 0.0, loss;
    l->w = w;
    for (size_t e = 0; e < N; e++) {
        assert_ok(t->evaluate(l, e, 0, &loss, NULL, &err));
        sum += loss;
    }
    for (size_t k = 0; k < M; k++)
        sum += c2 * w[k] * w[k];
    return sum;
}

static void test_optimum(void **state)
{
    (void)state;
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_function f;
    trl_sparse_batch *b;
    trl_ending ending;
    trl_pool *pool = trl_pool_new(2);
    double best[M + 64] = {0}, w[M + 64];
    make(&l, &t, 3);
    assert_ok(trl_sparse_batch_new(&t, 0.05, pool, &b, &f, &err));
    const trl_lbfgs_options lo = {.memory = 6, .epsilon = 1e-8, .period = 10, .delta = 1e-12};
    assert_ok(trl_lbfgs(&f, &lo, &(trl_descent){.pool = pool, .x = best, .ending = &ending}, &err));
    trl_sparse_batch_free(b);
    const double least = objective(&t, &l, best, 0.05);
    const trl_sparse_options *all[] = {&adagrad, &sgd};
    for (int k = 0; k < 2; k++)
        for (int averaged = 0; averaged < 2; averaged++) {
            trl_sparse_options o = *all[k];
            o.averaged = averaged;
            o.max_iter = 300;
            memset(w, 0, sizeof w);
            const double start = objective(&t, &l, w, 0.05);
            assert_ok(trl_sparse_train(
                &t, &o, &(trl_descent){.pool = pool, .x = w, .ending = &ending}, &err));
            const double got = objective(&t, &l, w, 0.05);
            assert_true(got >= least - 1e-6);
            assert_true(got - least < (k ? 0.05 : 0.002) * (start - least));
        }
    trl_pool_free(pool);
}

/* The averaged weights are the mean over the steps after the first pass. */
static void test_average(void **state)
{
    (void)state;
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_ending ending;
    trl_pool *pool = trl_pool_new(1);
    const size_t steps = (N + 6) / 7;
    for (int kind = 0; kind < 2; kind++) {
        trl_sparse_options o = kind ? sgd : adagrad;
        o.c2 = 0.0;
        o.max_iter = 4;
        double last[M + 64] = {0}, mean[M + 64] = {0}, want = 0.0;
        make(&l, &t, 4);
        assert_ok(trl_sparse_train(
            &t, &o, &(trl_descent){.pool = pool, .x = last, .ending = &ending}, &err));
        assert_int_equal(l.n_seen, 4 * steps);
        for (size_t s = steps + 1; s < 4 * steps; s++)
            want += l.seen[s];
        want = (want + last[0]) / (double)(3 * steps);
        o.averaged = true;
        l.n_seen = 0;
        assert_ok(trl_sparse_train(
            &t, &o, &(trl_descent){.pool = pool, .x = mean, .ending = &ending}, &err));
        assert_near(mean[0], want, 1e-9);
        assert_true(fabs(mean[0] - last[0]) > 1e-6);
    }
    trl_pool_free(pool);
}

/* ---- the same bits --------------------------------------------------------------------------- */

typedef struct keeper {
    uint64_t at; /* pass whose state is kept */
    trl_buf state;
    uint64_t stop; /* 0: never */
    uint64_t passes;
    double objective[64];
} keeper;

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    (void)err;
    keeper *k = self;
    k->passes++;
    if (it->number < 64)
        k->objective[it->number] = it->objective;
    if (it->number == k->at)
        assert_true(save(optimizer, &k->state));
    *stop = k->stop == it->number;
    return TRL_OK;
}

static void check_same_bits(trl_sparse_options o)
{
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_ending ending;
    double want[M + 64] = {0}, w[M + 64];
    keeper k = {.at = 3};
    const trl_watcher watcher = {&k, watch, NULL};
    o.max_iter = 8;
    make(&l, &t, 5);
    trl_pool *pool = trl_pool_new(1);
    assert_ok(trl_sparse_train(
        &t, &o, &(trl_descent){.pool = pool, .watcher = &watcher, .x = want, .ending = &ending},
        &err));
    assert_int_equal(k.passes, 8);
    trl_pool_free(pool);
    for (size_t threads = 1; threads <= 3; threads++) {
        pool = trl_pool_new(threads);
        memset(w, 0, sizeof w);
        assert_ok(trl_sparse_train(&t, &o, &(trl_descent){.pool = pool, .x = w, .ending = &ending},
                                   &err));
        assert_memory_equal(w, want, M * sizeof *w);
        memset(w, 0, sizeof w); /* the state knows the weights */
        keeper more = {0};
        const trl_watcher again = {&more, watch, NULL};
        assert_ok(trl_sparse_train(&t, &o,
                                   &(trl_descent){.pool = pool,
                                                  .watcher = &again,
                                                  .state = k.state.data,
                                                  .state_size = k.state.len,
                                                  .x = w,
                                                  .ending = &ending},
                                   &err));
        assert_int_equal(more.passes, 5);
        assert_memory_equal(w, want, M * sizeof *w);
        for (int p = 4; p <= 8; p++)
            assert_true(more.objective[p] == k.objective[p]);
        trl_pool_free(pool);
    }
    pool = trl_pool_new(1);
    trl_sparse_options done = o; /* a finished run has its weights */
    done.max_iter = 3;
    double third[M + 64] = {0};
    assert_ok(trl_sparse_train(&t, &done,
                               &(trl_descent){.pool = pool, .x = third, .ending = &ending}, &err));
    memset(w, 0, sizeof w);
    assert_ok(trl_sparse_train(&t, &done,
                               &(trl_descent){.pool = pool,
                                              .state = k.state.data,
                                              .state_size = k.state.len,
                                              .x = w,
                                              .ending = &ending},
                               &err));
    assert_memory_equal(w, third, M * sizeof *w);
    /* states of other runs */
    for (size_t cut = 0; cut < k.state.len; cut += 97)
        if (cut)
            assert_int_equal(trl_sparse_train(&t, &o,
                                              &(trl_descent){.pool = pool,
                                                             .state = k.state.data,
                                                             .state_size = cut,
                                                             .x = w,
                                                             .ending = &ending},
                                              &err),
                             TRL_EMODEL);
    t.n_weights--;
    assert_int_equal(trl_sparse_train(&t, &o,
                                      &(trl_descent){.pool = pool,
                                                     .state = k.state.data,
                                                     .state_size = k.state.len,
                                                     .x = w,
                                                     .ending = &ending},
                                      &err),
                     TRL_EMODEL);
    trl_pool_free(pool);
    trl_buf_fini(&k.state);
}

static void test_same_bits(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int averaged = 0; averaged < 2; averaged++) {
            trl_sparse_options o = kind ? sgd : adagrad;
            o.averaged = averaged;
            check_same_bits(o);
        }
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void test_endings(void **state)
{
    (void)state;
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_ending ending;
    trl_pool *pool = trl_pool_new(1);
    double w[M + 64] = {0};
    keeper k = {.stop = 4};
    const trl_watcher watcher = {&k, watch, NULL};
    make(&l, &t, 6);
    assert_ok(trl_sparse_train(
        &t, &adagrad, &(trl_descent){.pool = pool, .watcher = &watcher, .x = w, .ending = &ending},
        &err));
    assert_int_equal(ending, TRL_END_STOPPED);
    assert_int_equal(k.passes, 4);
    trl_sparse_options o = adagrad;
    o.period = 5;
    o.delta = 0.01;
    o.max_iter = 500;
    k = (keeper){0};
    assert_ok(trl_sparse_train(
        &t, &o, &(trl_descent){.pool = pool, .watcher = &watcher, .x = w, .ending = &ending},
        &err));
    assert_int_equal(ending, TRL_END_STALLED);
    assert_true(k.passes > 5 && k.passes < 60);
    const double now = k.objective[k.passes], then = k.objective[k.passes - 5];
    assert_true(fabs(then - now) < 0.01 * fabs(now));
    trl_pool_free(pool);
}

/* The value alone is that of the batch; what is more than enough is cut short, above enough. */
static void test_value(void **state)
{
    (void)state;
    trl_error err;
    static logistic l;
    trl_sparse_task t;
    trl_pool *pool = trl_pool_new(2);
    trl_sparse_batch *batch = NULL;
    trl_function f;
    double w[M + 64] = {0}, g[M + 64], F, alone, cut;
    make(&l, &t, 6);
    for (size_t k = 0; k < M; k++)
        w[k] = 0.1 * (double)k - 0.3;
    assert_ok(trl_sparse_batch_new(&t, 0.5, pool, &batch, &f, &err));
    assert_ok(f.eval(f.self, w, g, &F, &err));
    assert_ok(trl_sparse_value(&t, &(trl_sparse_point){w, 0.5, HUGE_VAL}, pool, &alone, &err));
    assert_near(alone / F, 1.0, 1e-12);
    assert_ok(trl_sparse_value(&t, &(trl_sparse_point){w, 0.5, 0.1 * F}, pool, &cut, &err));
    assert_true(cut > 0.1 * F && cut <= alone);
    trl_sparse_batch_free(batch);
    trl_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_gradient), cmocka_unit_test(test_steps),
        cmocka_unit_test(test_optimum),        cmocka_unit_test(test_average),
        cmocka_unit_test(test_same_bits),      cmocka_unit_test(test_endings),
        cmocka_unit_test(test_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
