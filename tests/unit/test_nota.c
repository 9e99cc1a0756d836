/* test_nota.c -- sets of NOTA instances, and what runs on a whole corpus: selection by marginals,
 * calibration, the task of the trainers. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "base/mem.h"
#include "chain/calibrate.h"
#include "chain/chain_task.h"
#include "chain/sweep.h"
#include "objective_oracle.h"
#include "train/gradient.h"

/* ---- options --------------------------------------------------------------------------------- */

static void test_nota_options(void **state)
{
    (void)state;
    trl_error err;
    trl_nota_options o;
    assert_ok(trl_nota_parse("all", &o, &err));
    assert_int_equal(o.method, TRL_NOTA_ALL);
    assert_ok(trl_nota_parse("sample:0.25", &o, &err));
    assert_true(o.method == TRL_NOTA_SAMPLE && o.p == 0.25);
    assert_ok(trl_nota_parse("sample:1", &o, &err));
    assert_ok(trl_nota_parse("marginal", &o, &err));
    assert_true(o.method == TRL_NOTA_MARGINAL && o.theta == 0.2 && o.after == 20);
    assert_ok(trl_nota_parse("marginal:0.05", &o, &err));
    assert_true(o.theta == 0.05 && o.after == 20);
    assert_ok(trl_nota_parse("marginal:0@7", &o, &err));
    assert_true(o.theta == 0.0 && o.after == 7);

    static const char *const bad[][2] = {{"some", "'some'"},
                                         {"", "''"},
                                         {"allx", "'allx'"},
                                         {"all:1", "'all:1'"},
                                         {"sample", "needs"},
                                         {"sample:", "not a number"},
                                         {"sample:0", "above 0"},
                                         {"sample:1.5", "at most 1"},
                                         {"sample:0.1x", "'0.1x'"},
                                         {"sample:nan", "not a number"},
                                         {"marginal:", "not a number"},
                                         {"marginal:1", "below 1"},
                                         {"marginal:-0.1", "at least 0"},
                                         {"marginal:0.2@", "whole number"},
                                         {"marginal:0.2@3.5", "'3.5'"},
                                         {"marginal:0.2@99999999999999999999", "whole number"},
                                         {"marginals:0.2", "'marginals:0.2'"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(trl_nota_parse(bad[k][0], &o, &err), TRL_EINVAL);
        if (!strstr(err.msg, bad[k][1]) || !strstr(err.hint, "marginal:THETA[@K]"))
            fail_msg("'%s': %s (%s)", bad[k][0], err.msg, err.hint);
        assert_true(o.after == 7); /* untouched */
    }
}

/* ---- on a corpus ----------------------------------------------------------------------------- */

typedef struct data {
    trl_corpus c;
    trl_design d;
    trl_pool *pool;
    double *w;
} data;

/* 40 sequences of 1 to 6 tokens, 5 labels, one attribute per token that half knows the label. */
static void data_make(data *x, int order)
{
    static const char *const label[] = {"a", "b", "c", "d", "e"};
    static const char *const word[] = {"u", "v", "w", "x", "y", "z"};
    trl_error err;
    trl_rng rng = trl_rng_seed(45);
    assert_ok(trl_corpus_init(&x->c, &err));
    for (size_t f = 1; f <= (size_t)order; f++)
        assert_ok(trl_corpus_set_constant(&x->c, f, &err));
    for (int s = 0; s < 40; s++) {
        trl_str labels[6];
        trl_attr attr[6];
        size_t begin[7];
        const size_t n = 1 + trl_rng_below(&rng, 6);
        for (size_t t = 0; t < n; t++) {
            const size_t y = trl_rng_below(&rng, 5);
            labels[t] = (trl_str){label[y], 1};
            attr[t] =
                (trl_attr){{word[trl_rng_below(&rng, 2) ? y : trl_rng_below(&rng, 6)], 1}, 1.0};
            begin[t] = t;
        }
        begin[n] = n;
        const trl_items items = {.n_tokens = n,
                                 .label = labels,
                                 .begin = begin,
                                 .attr = attr,
                                 .weight = s % 3 ? 1.0 : 0.5};
        assert_ok(trl_corpus_add_items(&x->c, &items, &err));
    }
    const trl_design_options o = {.order = order, .all_pairs = true, .all_transitions = true};
    assert_ok(trl_design_build(&x->d, &x->c, &o, &err));
    x->pool = trl_pool_new(3);
    x->w = trl_alloc64(trl_design_alloc(&x->d), sizeof *x->w);
    assert_true(x->pool && x->w);
    for (size_t k = 0; k < trl_design_alloc(&x->d); k++)
        x->w[k] = k < x->d.n_weights ? 2.0 * trl_rng_unit(&rng) - 1.0 : 0.0;
}

static void data_fini(data *x)
{
    trl_free(x->w);
    trl_pool_free(x->pool);
    trl_design_fini(&x->d);
    trl_corpus_fini(&x->c);
}

/* F of the corpus for an objective; nota may be NULL. */
static double corpus_value(data *x, const char *name, const trl_nota *nota, double *grad)
{
    trl_error err;
    trl_chain_task task;
    trl_gradient *g;
    double F;
    assert_ok(trl_chain_task_init(&task, &x->c, x->d.order, trl_objective_find(name), TRL_LANES_MAX,
                                  &err));
    task.nota = nota;
    const trl_task view = trl_chain_task_view(&task);
    assert_ok(trl_gradient_new(&x->d, NULL, &view, x->pool, &g, &err));
    assert_ok(trl_gradient_eval(g, x->w, 0.0, grad, &F, &err));
    trl_gradient_free(g);
    trl_chain_task_fini(&task);
    return F;
}

static uint64_t count_bits(const trl_nota *n)
{
    uint64_t count = 0;
    for (size_t k = 0; k < n->n_tokens * n->words; k++)
        count += (uint64_t)__builtin_popcountll(n->bits[k]);
    return count;
}

static void test_sets(void **state)
{
    (void)state;
    trl_error err;
    for (int order = 1; order <= 2; order++) {
        data x;
        trl_nota all, some, none, again;
        data_make(&x, order);
        double *g = trl_alloc64(trl_design_alloc(&x.d), sizeof *g);
        trl_nota_init(&all, &x.c, order);
        trl_nota_init(&some, &x.c, order);
        trl_nota_init(&none, &x.c, order);
        trl_nota_init(&again, &x.c, order);

        /* All, and a sample of all: the same sums.  No instance: the MEMM. */
        trl_nota_take_all(&all, &x.c);
        assert_ok(trl_nota_take_sample(&some, &x.c, 1.0, 1, &err));
        assert_int_equal(all.n_instances, some.n_instances);
        assert_int_equal(some.n_instances, count_bits(&some));
        assert_near(corpus_value(&x, "nota", &all, g), corpus_value(&x, "nota", &some, g), 1e-12);
        assert_ok(trl_nota_take_sample(&none, &x.c, 0.0, 1, &err));
        assert_true(corpus_value(&x, "nota", &none, g) == corpus_value(&x, "memm", NULL, g));

        /* Samples: of about the right size, the same for the same seed, not for another. */
        assert_ok(trl_nota_take_sample(&some, &x.c, 0.3, 7, &err));
        assert_ok(trl_nota_take_sample(&again, &x.c, 0.3, 7, &err));
        const size_t bytes = some.n_tokens * some.words * sizeof *some.bits;
        assert_memory_equal(some.bits, again.bits, bytes);
        assert_near((double)some.n_instances / (double)all.n_instances, 0.3, 0.06);
        assert_ok(trl_nota_take_sample(&again, &x.c, 0.3, 8, &err));
        assert_true(memcmp(some.bits, again.bits, bytes) != 0);
        trl_nota_fini(&all);
        trl_nota_fini(&some);
        trl_nota_fini(&none);
        trl_nota_fini(&again);
        trl_free(g);
        data_fini(&x);
    }
}

/* The probabilities of all sources, from scratch: node marginals at t - 1, or pairs. */
typedef struct watch {
    const data *x;
    const trl_nota *n;
    bool local;
    size_t checked, kept;
} watch;

static trl_status look(void *ctx, const trl_sweep_visit *at, trl_error *err)
{
    watch *w = ctx;
    const trl_chain *chain = at->chain;
    const trl_tables *scores = at->scores;
    const size_t T = scores->n, L = chain->L, from = at->from;
    const random_chain r = {.shape = {.T = T, .L = L, .order = chain->order}, .s = *scores};
    const uint32_t *gold = w->x->c.label + from;
    long double p[ORACLE_T][25] = {{0}}, z = 0.0L;
    for (size_t k = 0; T <= ORACLE_T && k < labellings(&r.shape); k++) {
        uint32_t y[ORACLE_T];
        labelling(&r.shape, k, y);
        const trl_chain_example x = {
            .chain = chain, .scores = scores, .gold = y, .weight = 1.0, .arena = at->arena};
        const long double q =
            expl(w->local ? (long double)objective_value("memm", &x) : score_of(&r, y));
        z += q;
        for (size_t t = 1; t < T; t++)
            p[t][chain->order == 2 && t > 1 ? y[t - 2] * L + y[t - 1] : y[t - 1]] += q;
    }
    for (size_t t = 1; T <= ORACLE_T && t < T; t++) {
        const bool pair = chain->order == 2 && t > 1;
        const size_t right = pair ? gold[t - 2] * L + gold[t - 1] : gold[t - 1];
        const trl_nota_view v = trl_nota_at(w->n, from);
        for (size_t q = 0; q < (pair ? L * L : L); q++) {
            const bool in = v.bits[t * v.words + q / 64] >> q % 64 & 1;
            assert_int_equal(in, q != right && p[t][q] / z > 0.3L);
            w->checked++;
            w->kept += in;
        }
    }
    (void)err;
    return TRL_OK;
}

static void test_marginal_sets(void **state)
{
    (void)state;
    trl_error err;
    for (int k = 0; k < 4; k++) {
        data x;
        trl_nota n;
        data_make(&x, 1 + k % 2);
        trl_pool *one = trl_pool_new(1);
        trl_nota_init(&n, &x.c, 1 + k % 2);
        assert_ok(trl_nota_take_marginal(&n, &x.c, &(trl_nota_weights){&x.d, x.w},
                                         &(trl_nota_threshold){0.3, k >= 2}, x.pool, &err));
        assert_int_equal(n.n_instances, count_bits(&n));
        watch w = {.x = &x, .n = &n, .local = k >= 2};
        assert_ok(trl_chain_sweep(&x.d, x.w, one, look, &w, &err));
        if (w.kept < 20 || w.checked < 2 * w.kept)
            fail_msg("%zu of %zu sources kept", w.kept, w.checked);
        trl_pool_free(one);
        trl_nota_fini(&n);
        data_fini(&x);
    }
}

static void test_calibration_of_a_corpus(void **state)
{
    (void)state;
    trl_error err;
    for (int order = 1; order <= 2; order++) {
        data x;
        data_make(&x, order);
        double *no = trl_alloc64(trl_design_alloc(&x.d), sizeof *no);
        double a[5] = {1.0, 1.0, 1.0, 1.0, 1.0}, g[5], g1[5], F, F1;
        trl_calibration c = {&x.c, &x.d, x.w, x.pool};
        assert_ok(trl_calibration_eval(&c, a, g, &F, &err));
        assert_near(F, corpus_value(&x, "crf", NULL, no), 1e-12);
        a[2] = 0.7;
        assert_ok(trl_calibration_eval(&c, a, g, &F, &err));
        c.pool = trl_pool_new(1);
        assert_ok(trl_calibration_eval(&c, a, g1, &F1, &err));
        assert_true(F == F1);
        assert_memory_equal(g, g1, sizeof g);
        for (size_t i = 0; i < 5; i++) {
            const double at = a[i];
            double up, down;
            a[i] = at + 1e-5;
            assert_ok(trl_calibration_eval(&c, a, g1, &up, &err));
            a[i] = at - 1e-5;
            assert_ok(trl_calibration_eval(&c, a, g1, &down, &err));
            a[i] = at;
            assert_near(g[i], (up - down) / 2e-5, 1e-6);
        }
        trl_pool_free(c.pool);
        trl_free(no);
        data_fini(&x);
    }
}

/* What a pass added before it failed must not show in the next one. */
static void test_a_failed_pass_leaves_nothing(void **state)
{
    (void)state;
    trl_error err;
    data x;
    trl_chain_task task;
    trl_gradient *g;
    double F, want;
    data_make(&x, 1);
    double *grad = trl_alloc64(trl_design_alloc(&x.d), sizeof *grad);
    double *right = trl_alloc64(trl_design_alloc(&x.d), sizeof *right);
    double *bad = trl_alloc64(trl_design_alloc(&x.d), sizeof *bad);
    memcpy(bad, x.w, trl_design_alloc(&x.d) * sizeof *bad);
    want = corpus_value(&x, "crf", NULL, right);
    assert_ok(trl_chain_task_init(&task, &x.c, 1, trl_objective_find("crf"), TRL_LANES_MAX, &err));
    const trl_task view = trl_chain_task_view(&task);
    assert_ok(trl_gradient_new(&x.d, NULL, &view, x.pool, &g, &err));
    bad[x.d.n_weights - 1] = nan(""); /* some word's: other sequences come through */
    assert_int_equal(trl_gradient_eval(g, bad, 0.0, grad, &F, &err), TRL_ENUMERIC);
    assert_ok(trl_gradient_eval(g, x.w, 0.0, grad, &F, &err));
    assert_true(F == want);
    assert_memory_equal(grad, right, x.d.n_weights * sizeof *grad);
    trl_gradient_free(g);
    trl_chain_task_fini(&task);
    trl_free(grad);
    trl_free(right);
    trl_free(bad);
    data_fini(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nota_options),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_marginal_sets),
        cmocka_unit_test(test_calibration_of_a_corpus),
        cmocka_unit_test(test_a_failed_pass_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
