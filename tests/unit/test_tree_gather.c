/* Weights to scores and back: scores against features one by one, gradients against differences. */
/* SPDX-License-Identifier: MIT */
#include "tree_bank.h"

/* Every kind of family and place. */
static const char everything[] = "tag here-2.word here+2.lower\n"
                                 "tag-parent here.suffix2\n"
                                 "parent first.form after.form\n"
                                 "parent length\n"
                                 "base-parent first+1.tag first.tag\n"
                                 "base-parent last-1.tag last.tag after+1.tag\n"
                                 "base-parent inside.tag\n"
                                 "base-parent inside.tag inside+2.tag\n"
                                 "base-parent heavy first.class\n"
                                 "base-parent left.cluster4 split.cluster6\n"
                                 "rule split.tag\n"
                                 "rule first.class\n"
                                 "rule last.class\n"
                                 "unary after.tag\n"
                                 "unary-parent length\n"
                                 "base-unary-parent shape\n";

static const struct {
    const char *name;
    trl_annotation a;
    bool relaxed;
} models[] = {{"paper", {true, true, false, 1}, false},
              {"features", {true, false, true, 1}, true},
              {NULL, {false, false, false, 2}, false}};

static const char *text_of(size_t k)
{
    return models[k].name ? trl_tree_template_text(models[k].name) : everything;
}

/* ---- scores -------------------------------------------------------------------------------------
 */

static void check_scores(bank *b, const trl_tree_task *t, const trl_tree_example *e)
{
    trl_error err;
    trl_arena arena = {0};
    trl_chart c;
    trl_tree_gather ga = {0};
    trl_btree best = {0};
    assert_ok(trl_chart_init(&c, &b->m.fine, &e->s, &arena, &err));
    assert_ok(trl_tree_gather_scores(
        &ga, &(trl_gather_source){&b->m.features, &e->seen, &c, t->binary_exp, t->unary, false},
        &arena, &err));
    assert_near(trl_tree_gather_tree(&ga, &e->gold, 1.0), naive_score(b, &e->gold, &e->seen),
                1e-11);
    assert_ok(trl_chart_best(&c, &ga.t, &arena, &err));
    assert_false(ga.failed);
    assert_ok(trl_chart_tree(&c, &best, &err));
    const double score = naive_score(b, &best, &e->seen);
    assert_near(trl_tree_gather_tree(&ga, &best, 1.0), score, 1e-11);
    assert_near(c.log_z, score, 1e-11);
    trl_btree_fini(&best);
    trl_tree_gather_fini(&ga);
    trl_arena_fini(&arena);
}

static void test_scores(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        trl_error err;
        bank b;
        trl_tree_task t;
        bank_open(&b, text_of(k), models[k].a, models[k].relaxed, 15, 12, 7);
        random_weights(&b, k, 1.0);
        assert_ok(trl_tree_task_init(&t, objective_of(TRL_OBJ_LIKELIHOOD), &b.m.features,
                                     &(trl_task_examples){b.example, b.n}, 1, &err));
        assert_ok(t.sparse.prepare(&t, b.w, &err));
        for (size_t e = 0; e < b.n; e++)
            check_scores(&b, &t, &b.example[e]);
        assert_true(b.m.features.index.n > 500);
        trl_tree_task_fini(&t);
        bank_close(&b);
    }
}

/* A tree that the chart does not hold has no score. */
static void test_not_there(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_tree_task t;
    bank_open(&b, "tag here.word\n", models[0].a, false, 10, 2, 3);
    assert_ok(trl_tree_task_init(&t, objective_of(TRL_OBJ_LIKELIHOOD), &b.m.features,
                                 &(trl_task_examples){b.example, b.n}, 1, &err));
    assert_ok(t.sparse.prepare(&t, b.w, &err));
    b.example[0].gold.node[1].state = b.m.fine.root; /* no such item over this span */
    double loss;
    assert_int_equal(t.sparse.evaluate(&t, 0, 0, &loss, NULL, &err), TRL_ENUMERIC);
    trl_tree_task_fini(&t);
    bank_close(&b);
}

/* ---- gradients ----------------------------------------------------------------------------------
 */

static double loss_at(trl_tree_task *t, double *w, size_t k, double value, size_t example)
{
    trl_error err;
    double loss, old = w[k];
    w[k] = value;
    assert_ok(t->sparse.prepare(t, w, &err));
    assert_ok(t->sparse.evaluate(t, example, 0, &loss, NULL, &err));
    w[k] = old;
    return loss;
}

static size_t check_gradient(bank *b, trl_tree_task *t, size_t example, trl_rng *r)
{
    trl_error err;
    const size_t m = t->sparse.n_weights;
    double *g = trl_zalloc(m, sizeof *g), loss;
    trl_sparse s = {0};
    const double h = 1e-5;
    size_t checked = 0;
    assert_ok(t->sparse.prepare(t, b->w, &err));
    assert_ok(t->sparse.evaluate(t, example, 0, &loss, &s, &err));
    for (size_t k = 0; k < s.n; k++)
        g[s.id[k]] += s.value[k];
    for (size_t n = 0; n < 60; n++) { /* mostly weights that matter, also others */
        const size_t k = n % 6 ? s.id[trl_rng_below(r, s.n)] : trl_rng_below(r, m);
        const double up = loss_at(t, b->w, k, b->w[k] + h, example);
        const double down = loss_at(t, b->w, k, b->w[k] - h, example);
        assert_near(g[k], (up - down) / (2 * h), 1e-6);
        checked += fabs(g[k]) > 1e-3;
    }
    trl_sparse_fini(&s);
    trl_free(g);
    return checked;
}

static void check_objective(const trl_objective *o, double width)
{
    trl_rng r = trl_rng_seed(41);
    for (size_t k = 0; k < 3; k++) {
        trl_error err;
        bank b;
        trl_tree_task t;
        size_t checked = 0;
        bank_open(&b, text_of(k), models[k].a, models[k].relaxed, 12, 5, 11);
        random_weights(&b, k + 10, width);
        assert_ok(trl_tree_task_init(&t, o, &b.m.features, &(trl_task_examples){b.example, b.n}, 1,
                                     &err));
        for (size_t e = 0; e < b.n; e++)
            checked += check_gradient(&b, &t, e, &r);
        assert_true(checked > 50);
        trl_tree_task_fini(&t);
        bank_close(&b);
    }
}

static void test_likelihood(void **state)
{
    (void)state;
    check_objective(objective_of(TRL_OBJ_LIKELIHOOD), 0.5);
}

static void test_perceptron(void **state)
{
    (void)state;
    check_objective(objective_of(TRL_OBJ_PERCEPTRON), 1.0);
}

/* Gold is among the trees: no loss is negative. */
static void test_values(void **state)
{
    (void)state;
    trl_error err;
    bank b;
    trl_tree_task t;
    bank_open(&b, text_of(1), models[1].a, false, 12, 8, 5);
    for (int o = 0; o < 2; o++) {
        const trl_objective *objective =
            o ? objective_of(TRL_OBJ_PERCEPTRON) : objective_of(TRL_OBJ_LIKELIHOOD);
        assert_ok(trl_tree_task_init(&t, objective, &b.m.features,
                                     &(trl_task_examples){b.example, b.n}, 1, &err));
        for (size_t e = 0; e < b.n; e++) {
            random_weights(&b, e, 0.3);
            double loss;
            assert_ok(t.sparse.prepare(&t, b.w, &err));
            assert_ok(t.sparse.evaluate(&t, e, 0, &loss, NULL, &err));
            assert_true(loss >= 0.0 && isfinite(loss));
        }
        trl_tree_task_fini(&t);
    }
    bank_close(&b);
}

/* ---- the index ------------------------------------------------------------------------------ */

static void test_index(void **state)
{
    (void)state;
    trl_tree_index x = {0};
    trl_rng r = trl_rng_seed(42);
    uint64_t key[5000];
    assert_int_equal(trl_tree_index_find(&x, 7), TRL_NO_ID);
    for (uint32_t k = 0; k < 5000; k++) {
        key[k] = (uint64_t)(k + 1) << 40 | (trl_rng_u64(&r) >> 45); /* all different */
        assert_int_equal(trl_tree_index_add(&x, key[k]), k);
    }
    for (uint32_t k = 0; k < 5000; k++) {
        assert_int_equal(trl_tree_index_find(&x, key[k]), k);
        assert_int_equal(trl_tree_index_add(&x, key[k]), k);
        assert_int_equal(trl_tree_index_find(&x, key[k] ^ 1u << 30), TRL_NO_ID);
    }
    assert_int_equal(x.n, 5000);
    trl_tree_index_fini(&x);
}

/* Keys tell families, classes and what is seen apart, in any of the three widths. */
static void test_keys(void **state)
{
    (void)state;
    const uint32_t a[3] = {5, 6, 7}, b[3] = {6, 5, 7};
    for (size_t n = 0; n <= 3; n++) {
        const uint64_t key = trl_tree_key(3, 9, a, n);
        assert_true(key != 0 && key == trl_tree_key(3, 9, a, n));
        assert_true(key != trl_tree_key(4, 9, a, n) && key != trl_tree_key(3, 8, a, n));
        assert_true(n == 0 || key != trl_tree_key(3, 9, b, n));
    }
    const uint32_t wide[3] = {1u << 31 | 5, 1u << 20 | 6, 1u << 13 | 7};
    for (size_t n = 1; n <= 3; n++)
        assert_int_equal(trl_tree_key(3, 9, wide, n) >> 36, trl_tree_key(3, 9, a, n) >> 36);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),     cmocka_unit_test(test_not_there),
        cmocka_unit_test(test_likelihood), cmocka_unit_test(test_perceptron),
        cmocka_unit_test(test_values),     cmocka_unit_test(test_index),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
