/* test_mest.c -- M-estimation: value and gradient against their definition, the optimum, limits,
 * overflow, threads, the cache of expectations. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "hmm_chain.h"
#include "mest_task.h"

static trl_error err;

static void test_at_zero(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    task k;
    make(&k, &rng, 2, false, 20);
    double F;
    assert_ok(trl_mest_eval(k.m, k.w, 0.7, k.g, &F, &err));
    assert_near(F, 1.0, 1e-15);
    drop(&k);
}

static void test_gradient(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    for (int order = 1; order <= 2; order++)
        for (int all = 0; all < 2; all++) {
            task k;
            double F, c2 = 0.3 * all;
            make(&k, &rng, order, all, 12);
            for (size_t s = 0; all && s < k.t.corpus.n_sequences; s++)
                k.t.corpus.weight[s] = (double)(s % 3); /* some of them 0 */
            trl_mest_free(k.m);
            assert_ok(trl_mest_new(&k.t.design, &k.t.corpus, k.E, k.pool, &k.m, &err));
            random_weights(&k, &rng, 0.5, k.w);
            assert_ok(trl_mest_eval(k.m, k.w, c2, k.g, &F, &err));
            assert_near(F, objective(&k, k.w, c2), 1e-13);
            size_t checked = 0;
            for (size_t i = 0; i < k.n; i += 1 + trl_rng_below(&rng, 5)) {
                const double old = k.w[i], h = 1e-5;
                if (old == 0.0) { /* no feature */
                    assert_true(k.g[i] == 0.0);
                    continue;
                }
                k.w[i] = old + h;
                const double up = objective(&k, k.w, c2);
                k.w[i] = old - h;
                const double down = objective(&k, k.w, c2);
                k.w[i] = old;
                assert_near(k.g[i], (up - down) / (2.0 * h), 1e-8);
                checked++;
            }
            assert_true(checked > 20);
            drop(&k);
        }
}

/* At the optimum (1/n) sum_i exp(-w.f_i) f_i = E_q0[f] + 2 c2 w: by definition, by differences of
 * the score; and no other point is lower. */
static void test_optimum(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    task k;
    make(&k, &rng, 2, false, 15);
    const double c2 = 0.05;
    minimise(&k, c2);
    assert_true(norm(k.n, k.w) > 0.1);
    const trl_corpus *c = &k.t.corpus;
    double *moment = calloc(k.n + 64, sizeof *moment), *unit = calloc(k.n + 64, sizeof *unit);
    assert_true(moment && unit);
    for (size_t i = 0; i < k.n; i++) {
        unit[i] = 1.0; /* w . f with this w is f_i */
        for (size_t s = 0; k.E[i] > 0.0 && s < c->n_sequences; s++) {
            const uint32_t *y = c->label + c->first[s];
            moment[i] += exp(-score(&k, k.w, s, y)) * score(&k, unit, s, y);
        }
        unit[i] = 0.0;
        if (k.E[i] > 0.0)
            assert_true(fabs(moment[i] / (double)c->n_sequences - k.E[i] - 2.0 * c2 * k.w[i]) <
                        1e-6);
    }
    const double best = objective(&k, k.w, c2);
    for (int r = 0; r < 20; r++) {
        random_weights(&k, &rng, 0.1, unit);
        for (size_t i = 0; i < k.n; i++)
            unit[i] += k.w[i];
        assert_true(objective(&k, unit, c2) > best);
    }
    free(moment);
    free(unit);
    drop(&k);
}

/* When E_q0[f] is what the data have, nothing is to be learned. */
static void test_perfect_q0(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    task k;
    make(&k, &rng, 1, false, 20);
    memset(k.E, 0, k.n * sizeof *k.E);
    double F, *mean = calloc(k.n + 64, sizeof *mean);
    assert_non_null(mean);
    assert_ok(trl_mest_eval(k.m, k.w, 0.0, mean, &F, &err)); /* minus the mean of f */
    for (size_t i = 0; i < k.n; i++)
        k.E[i] = -mean[i];
    assert_ok(trl_mest_eval(k.m, k.w, 1.0, k.g, &F, &err));
    assert_true(norm(k.n, k.g) < 1e-14);
    minimise(&k, 0.0);
    assert_true(norm(k.n, k.w) < 1e-8);
    free(mean);
    drop(&k);
}

/* The labelling of sequence seq that log q0 + w . f makes best. */
static void decode(const task *k, const double *w, size_t seq, uint32_t *y)
{
    const trl_design *d = &k->t.design;
    const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
    trl_arena arena = {0};
    trl_chain chain;
    trl_tables s;
    uint32_t *x = NULL;
    double best,
        *shared[TRL_FAMILIES_MAX] = {NULL, calloc(16, sizeof(double)), calloc(32, sizeof(double))};
    assert_true(shared[1] && shared[2]);
    assert_ok(trl_hmm_number(&k->h, &k->t.columns, &x, &err));
    assert_ok(trl_chain_init(&chain, d->L, d->order, &err));
    assert_true(trl_tables_get(d, n, &arena, &s));
    trl_gather(d, w, from, &s);
    assert_true(trl_hmm_need_rows(&k->h, &arena, &s));
    trl_hmm_add_rows(&k->h, TRL_HMM_FLOOR, x + from * k->h.n_columns, &s);
    trl_gather_shared(d, w, shared);
    trl_hmm_add_shared(&k->h, TRL_HMM_FLOOR, shared);
    memcpy(s.shared, shared, sizeof shared);
    assert_ok(trl_chain_prepare(&chain, &s, &err));
    assert_ok(trl_chain_viterbi(&chain, &s, &arena, y, &best, &err));
    /* the best score is log q0 + w . f */
    assert_near(best, trl_hmm_log_p(&k->h, n, y, x + from * k->h.n_columns) + score(k, w, seq, y),
                1e-12);
    trl_chain_fini(&chain);
    trl_arena_fini(&arena);
    trl_free(x);
    free(shared[1]);
    free(shared[2]);
}

/* c -> 0: w -> 0 and the decoder is q0's own. */
static void test_strong_prior(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    for (int order = 1; order <= 2; order++) {
        task k;
        trl_chain chain;
        trl_arena arena = {0};
        uint32_t *x = NULL, y[8], z[8];
        double before = HUGE_VAL, best;
        make(&k, &rng, order, false, 30);
        double *zero = calloc(k.n + 64, sizeof *zero);
        assert_non_null(zero);
        for (double c2 = 1.0; c2 < 1e9; c2 *= 100.0) {
            minimise(&k, c2);
            assert_true(norm(k.n, k.w) < before);
            before = norm(k.n, k.w);
        }
        assert_true(before < 1e-7);
        assert_ok(hmm_chain(&k.h, TRL_HMM_FLOOR, &chain, &err));
        assert_ok(trl_hmm_number(&k.h, &k.t.columns, &x, &err));
        for (size_t s = 0; s < k.t.corpus.n_sequences; s++) {
            const size_t from = (size_t)k.t.corpus.first[s];
            trl_tables t = {.n = (size_t)k.t.corpus.first[s + 1] - from};
            assert_true(trl_hmm_need_rows(&k.h, &arena, &t));
            trl_hmm_add_rows(&k.h, TRL_HMM_FLOOR, x + from * 2, &t);
            assert_ok(trl_chain_viterbi(&chain, &t, &arena, z, &best, &err));
            decode(&k, zero, s, y);
            assert_memory_equal(y, z, t.n * sizeof *y);
            decode(&k, k.w, s, y);
            assert_memory_equal(y, z, t.n * sizeof *y);
            trl_arena_reset(&arena);
        }
        trl_chain_fini(&chain);
        trl_arena_fini(&arena);
        trl_free(x);
        free(zero);
        drop(&k);
    }
}

static void test_overflow(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(6);
    task k;
    double F;
    make(&k, &rng, 1, false, 10);
    for (size_t i = 0; i < k.n; i++)
        k.w[i] = -500.0;
    assert_int_equal(trl_mest_eval(k.m, k.w, 0.0, k.g, &F, &err), TRL_ENUMERIC);
    for (size_t i = 0; i < k.n; i++) /* exp underflows: no harm */
        k.w[i] = 500.0;
    assert_ok(trl_mest_eval(k.m, k.w, 0.0, k.g, &F, &err));
    /* a first step of length 1 in a far too steep direction: the line search must get back */
    memset(k.w, 0, k.n * sizeof *k.w);
    for (size_t i = 0; i < k.n; i++)
        k.E[i] *= 1e6;
    minimise(&k, 1000.0);
    assert_ok(trl_mest_eval(k.m, k.w, 1000.0, k.g, &F, &err));
    assert_true(F < 1.0);
    drop(&k);
}

static void test_threads(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    task k;
    double F, G;
    make(&k, &rng, 2, true, 400);
    random_weights(&k, &rng, 0.3, k.w);
    assert_ok(trl_mest_eval(k.m, k.w, 0.1, k.g, &F, &err));
    trl_pool *pool = trl_pool_new(3);
    trl_mest *m = NULL;
    double *g = calloc(k.n + 64, sizeof *g);
    assert_true(pool && g);
    assert_ok(trl_mest_new(&k.t.design, &k.t.corpus, k.E, pool, &m, &err));
    assert_ok(trl_mest_eval(m, k.w, 0.1, g, &G, &err));
    assert_true(F == G);
    assert_memory_equal(g, k.g, k.n * sizeof *g);
    trl_mest_free(m);
    trl_pool_free(pool);
    free(g);
    drop(&k);
}

/* Items: values other than 1. */
static void test_values(void **state)
{
    (void)state;
    const trl_str label[3] = {{"A", 1}, {"B", 1}, {"A", 1}};
    const size_t begin[4] = {0, 2, 3, 4};
    const trl_attr attr[4] = {{{"x", 1}, 2.5}, {{"y", 1}, -1.0}, {{"x", 1}, 0.5}, {{"z", 1}, 3.0}};
    const trl_items seq = {
        .n_tokens = 3, .label = label, .begin = begin, .attr = attr, .weight = 2.0};
    task k = {0};
    assert_ok(trl_corpus_init(&k.t.corpus, &err));
    assert_ok(trl_corpus_add_items(&k.t.corpus, &seq, &err));
    assert_ok(trl_corpus_set_constant(&k.t.corpus, TRL_EDGE, &err));
    const trl_design_options o = {.order = 1};
    assert_ok(trl_design_build(&k.t.design, &k.t.corpus, &o, &err));
    k.n = (size_t)k.t.design.n_weights;
    k.E = calloc(k.n + 64, sizeof(double));
    k.w = calloc(k.n + 64, sizeof(double));
    k.g = calloc(k.n + 64, sizeof(double));
    k.pool = trl_pool_new(1);
    assert_true(k.E && k.w && k.g && k.pool);
    trl_rng rng = trl_rng_seed(8);
    random_weights(&k, &rng, 1.0, k.w);
    for (size_t i = 0; i < k.n; i++)
        k.E[i] = k.w[i] != 0.0 ? trl_rng_unit(&rng) : 0.0;
    assert_ok(trl_mest_new(&k.t.design, &k.t.corpus, k.E, k.pool, &k.m, &err));
    double F;
    assert_ok(trl_mest_eval(k.m, k.w, 0.2, k.g, &F, &err));
    assert_near(F, objective(&k, k.w, 0.2), 1e-14);
    for (size_t i = 0; i < k.n; i++) {
        const double old = k.w[i], h = 1e-5;
        if (old == 0.0)
            continue;
        k.w[i] = old + h;
        const double up = objective(&k, k.w, 0.2);
        k.w[i] = old - h;
        assert_near(k.g[i], (up - objective(&k, k.w, 0.2)) / (2.0 * h), 1e-8);
        k.w[i] = old;
    }
    k.t.corpus.weight[0] = 0.0;
    trl_mest *none = NULL;
    assert_int_equal(trl_mest_new(&k.t.design, &k.t.corpus, k.E, k.pool, &none, &err), TRL_EINVAL);
    trl_mest_free(k.m);
    trl_pool_free(k.pool);
    trl_design_fini(&k.t.design);
    trl_corpus_fini(&k.t.corpus);
    free(k.E);
    free(k.w);
    free(k.g);
}

static void test_cache(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(9);
    task k;
    make(&k, &rng, 1, false, 20);
    char path[] = "/tmp/trellis-eq0-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    trl_expect_data x = tiny_data(&k.t);
    trl_sample_options sample = trl_sample_options_default();
    const uint64_t key = trl_q0_fingerprint(TRL_Q0_HMM, &k.h, &x, &sample);
    assert_true(key == trl_q0_fingerprint(TRL_Q0_HMM, &k.h, &x, &sample));
    bool found = true;
    assert_ok(trl_expect_read(path, key, k.g, k.n, &found, &err));
    assert_false(found);
    assert_ok(trl_expect_write(path, key, k.E, k.n, &err));
    assert_ok(trl_expect_read(path, key, k.g, k.n, &found, &err));
    assert_true(found);
    assert_memory_equal(k.g, k.E, k.n * sizeof *k.g);
    assert_ok(trl_expect_read(path, key ^ 1, k.g, k.n, &found, &err));
    assert_false(found);
    assert_ok(trl_expect_read(path, key, k.g, k.n - 1, &found, &err));
    assert_false(found);

    /* everything that matters changes the key */
    assert_true(key != trl_q0_fingerprint(TRL_Q0_EMP, &k.h, &x, &sample));
    sample.seed++;
    assert_true(key != trl_q0_fingerprint(TRL_Q0_HMM, &k.h, &x, &sample));
    sample.seed--;
    k.t.columns.id[0] ^= 1;
    assert_true(key != trl_q0_fingerprint(TRL_Q0_HMM, &k.h, &x, &sample));
    k.t.columns.id[0] ^= 1;
    k.h.owned[0] *= 0.5;
    assert_true(key != trl_q0_fingerprint(TRL_Q0_HMM, &k.h, &x, &sample));
    k.h.owned[0] *= 2.0;
    trl_template *other = NULL;
    assert_ok(trl_template_parse("tpl", "uw=%x[0,0]", 10, &other, &err));
    x.tpl = other;
    assert_true(key != trl_q0_fingerprint(TRL_Q0_HMM, &k.h, &x, &sample));
    trl_template_free(other);

    /* somebody's model is not taken for a cache */
    trl_container_builder b = {0};
    trl_container_builder_add(&b, "key", k.E, 16);
    assert_ok(trl_container_write(&b, "chain", path, &err));
    trl_container_builder_fini(&b);
    assert_int_equal(trl_expect_read(path, key, k.g, k.n, &found, &err), TRL_EMODEL);
    assert_false(found);
    unlink(path);
    drop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_zero),      cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_optimum),      cmocka_unit_test(test_perfect_q0),
        cmocka_unit_test(test_strong_prior), cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_values),
        cmocka_unit_test(test_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
