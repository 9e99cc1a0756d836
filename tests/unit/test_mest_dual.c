/* test_mest_dual.c -- dual coordinate ascent against L-BFGS. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "mest/mest_dual.h"
#include "mest_task.h"

static trl_error err;

typedef struct tape { /* a watcher that keeps the state and the weights after pass 2 */
    trl_buf state;
    double *x;
    size_t n;
    double last;
} tape;

static trl_status record(void *self, const trl_iteration *it, trl_state_fn save,
                         const void *optimizer, bool *stop, trl_error *e)
{
    tape *t = self;
    (void)stop;
    (void)e;
    t->last = it->objective;
    if (it->number == 2) {
        memcpy(t->x, it->x, t->n * sizeof *t->x);
        assert_true(save(optimizer, &t->state));
    }
    return TRL_OK;
}

/* The dual finds the same optimum, from anywhere, and continues to the same bits. */
static void test_dual(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(10);
    for (int order = 1; order <= 2; order++)
        for (double c2 = 50.0; c2 > 0.01; c2 /= 30.0) {
            task k;
            trl_ending ending;
            double F, G;
            make(&k, &rng, order, order == 1, 25);
            k.t.corpus.weight[3] = 0.0;
            trl_mest_free(k.m);
            assert_ok(trl_mest_new(&k.t.design, &k.t.corpus, k.E, k.pool, &k.m, &err));
            tape t = {.n = k.n, .x = calloc(k.n + 64, sizeof(double))};
            double *w = calloc(k.n + 64, sizeof *w);
            assert_true(t.x && w);
            const trl_watcher watcher = {&t, record, NULL};
            trl_mest_dual_options o = {.c2 = c2, .delta = 1e-13, .max_iter = 5000, .seed = 3};
            minimise(&k, c2);
            assert_ok(trl_mest_eval(k.m, k.w, c2, k.g, &F, &err));
            assert_ok(
                trl_mest_dual(k.m, &o, &(trl_descent){NULL, &watcher, NULL, 0, w, &ending}, &err));
            assert_int_equal(ending, TRL_END_CONVERGED);
            assert_ok(trl_mest_eval(k.m, w, c2, k.g, &G, &err));
            assert_near(G, F, 1e-10);
            assert_near(t.last, G, 1e-11);
            for (size_t i = 0; i < k.n; i++)
                assert_near(w[i], k.w[i], 1e-5);
            assert_ok(trl_mest_dual(
                k.m, &o, &(trl_descent){NULL, NULL, t.state.data, t.state.len, t.x, &ending},
                &err));
            assert_memory_equal(t.x, w, k.n * sizeof *w);
            /* exp(-w . f) is infinite there */
            for (size_t i = 0; i < k.n; i++)
                t.x[i] = w[i] != 0.0 ? -500.0 : 0.0;
            assert_ok(
                trl_mest_dual(k.m, &o, &(trl_descent){NULL, NULL, NULL, 0, t.x, &ending}, &err));
            assert_ok(trl_mest_eval(k.m, t.x, c2, k.g, &G, &err));
            assert_near(G, F, 1e-10);
            assert_int_equal(trl_mest_dual(k.m, &o,
                                           &(trl_descent){NULL, NULL, t.state.data, t.state.len - 1,
                                                          t.x, &ending},
                                           &err),
                             TRL_EMODEL);
            o.c2 = 0.0;
            assert_int_equal(
                trl_mest_dual(k.m, &o, &(trl_descent){NULL, NULL, NULL, 0, w, &ending}, &err),
                TRL_EINVAL);
            trl_buf_fini(&t.state);
            free(t.x);
            free(w);
            drop(&k);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
