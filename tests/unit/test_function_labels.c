/* Function labels: reading them off trees, their gradient, choosing, training, files. */
/* SPDX-License-Identifier: MIT */
#include "tampered.h"

#include "train_tree/function_training.h"
#include "treebank/label.h"

static const char text[] =
    "(TOP (S (NP-SBJ-1 (NNP Kim)) (VP (VBZ sleeps) (NP (-NONE- *-1)) (NP-TMP (NN today)))))\n"
    "(TOP (S (PP-TMP (IN on) (NP (NNP Monday))) (NP-SBJ (NNP Lee)) (VP (VBZ sleeps))))\n"
    "(TOP (S (NP-SBJ=2 (DT The) (NN cat)) (VP (VBZ is) (PP-LOC-PRD (IN in) (NP (NN town))))))\n"
    "(TOP (S (NP-SBJ (DT The) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat)) (NP-TMP (NN "
    "today)))))\n"
    "(TOP (FRAG (NP (NN No) (NN function)) (. .)))\n"
    "(TOP (S (NP-SBJ (NNP Lee)) (VP (VBZ sees) (NP (NNP Kim)) (PP-LOC (IN in) (NP (NN "
    "town))))))\n"
    "(TOP (S (NP-SBJ (NNP Kim)) (VP (VBZ is) (PP-LOC-PRD (IN on) (NP (NN top))))))\n"
    "(TOP (S (NP-TMP (NN today)) (NP-SBJ (NNP Kim)) (VP (VBZ sees) (NP (DT the) (NN dog)))))\n";

static void read_text(trl_tree_set *s, bool keep)
{
    trl_error err;
    *s = (trl_tree_set){.keep_functions = keep};
    assert_ok(trl_tree_set_memory(s, "text", (trl_str){text, sizeof text - 1}, 0, &err));
}

static void heads_of(trl_function_labels *f)
{
    trl_error err;
    const char *rules = trl_head_rules_builtin();
    *f = (trl_function_labels){0};
    assert_ok(trl_head_rules_parse("rules", rules, strlen(rules), &f->heads, &err));
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void test_parts_of_labels(void **state)
{
    (void)state;
    static const struct {
        const char *label, *functions;
    } cases[] = {{"NP", ""},     {"NP-SBJ", "SBJ,"},     {"NP-SBJ-1", "SBJ,"},
                 {"NP=2", ""},   {"NP-1", ""},           {"-LRB-", ""},
                 {"-NONE-", ""}, {"NP-SBJ=3-1", "SBJ,"}, {"PP-LOC-PRD-12", "LOC,PRD,"},
                 {"S-", ""},     {"S--TPC", "TPC,"},     {"=", ""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const trl_str s = {cases[k].label, strlen(cases[k].label)};
        const size_t n = trl_label_category(s).n;
        trl_str rest = {s.p + n, s.n - n};
        char got[64] = "";
        for (trl_str f = trl_label_function(&rest); f.n; f = trl_label_function(&rest))
            snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s,", (int)f.n, f.p);
        assert_string_equal(got, cases[k].functions);
    }
}

/* Kept apart, they leave the same trees. */
static void test_reading(void **state)
{
    (void)state;
    trl_tree_set with, without;
    read_text(&with, true);
    read_text(&without, false);
    assert_int_equal(with.n, without.n);
    assert_int_equal(with.n_functions, 14);
    assert_int_equal(without.n_functions, 14);
    assert_null(without.function);
    for (size_t k = 0; k < with.n; k++) {
        const trl_tree *a = &with.tree[k], *b = &without.tree[k];
        assert_int_equal(a->n_nodes, b->n_nodes);
        assert_memory_equal(a->node, b->node, a->n_nodes * sizeof *a->node);
        size_t some = 0;
        for (size_t v = 0; v < a->n_nodes; v++)
            some += with.function[k][v] != 0;
        assert_int_equal(some > 0, k != 4);
    }
    assert_int_equal(with.functions.n, 5);
    const trl_str both = trl_strtab_get(&with.functions, with.function[2][7]);
    assert_int_equal(both.n, 7);
    assert_memory_equal(both.p, "LOC-PRD", 7);
    trl_tree_set_fini(&with);
    trl_tree_set_fini(&without);
}

/* ---- learning -------------------------------------------------------------------------------- */

static double loss_at(trl_function_task *t, const double *w, trl_sparse *g)
{
    trl_error err;
    double sum = 0.0, loss;
    assert_ok(t->sparse.prepare(t, w, &err));
    for (size_t k = 0; k < t->sparse.n_examples; k++) {
        assert_ok(t->sparse.evaluate(t, k, 0, &loss, g, &err));
        sum += loss;
    }
    return sum;
}

static double *some_weights(size_t n)
{
    trl_rng r = trl_rng_seed(3);
    double *w = trl_alloc(n, sizeof *w);
    for (size_t k = 0; k < n; k++)
        w[k] = 2.0 * trl_rng_unit(&r) - 1.0;
    return w;
}

static void test_gradient(void **state)
{
    (void)state;
    trl_error err;
    trl_tree_set trees;
    trl_function_labels f;
    trl_function_task t;
    read_text(&trees, true);
    heads_of(&f);
    assert_ok(trl_function_task_init(&t, &trees, &f, 1, &err));
    assert_int_equal(t.sparse.n_examples, trees.n - 1); /* one tree has no function label */
    double *w = some_weights(t.sparse.n_weights);
    double *dense = trl_zalloc(t.sparse.n_weights, sizeof *dense);
    trl_sparse g = {0};
    size_t large = 0;
    loss_at(&t, w, &g);
    for (size_t k = 0; k < g.n; k++)
        dense[g.id[k]] += g.value[k];
    for (size_t k = 0; k < t.sparse.n_weights; k++) {
        const double h = 1e-5, old = w[k];
        w[k] = old + h;
        const double up = loss_at(&t, w, NULL);
        w[k] = old - h;
        const double down = loss_at(&t, w, NULL);
        w[k] = old;
        assert_near((up - down) / (2.0 * h), dense[k], 1e-6);
        large += fabs(dense[k]) > 0.1;
    }
    assert_true(large > 20);
    trl_sparse_fini(&g);
    trl_free(w);
    trl_free(dense);
    trl_function_task_fini(&t);
    trl_function_labels_fini(&f);
    trl_tree_set_fini(&trees);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* The plain twin: for every class that the category has, the weights one by one. */
static uint32_t plain_best(const trl_function_labels *f, const trl_function_reader *r)
{
    uint32_t best = 0;
    double most = -HUGE_VAL;
    const trl_str category = trl_function_feature(r, 0);
    const uint32_t row =
        trl_strview_find(&f->feature, category.p, category.n, trl_str_hash(category.p, category.n));
    for (uint32_t c = 0; row != TRL_NO_ID && c < f->class.n; c++) {
        double sum = 0.0;
        bool may = false;
        for (size_t k = 0; k < r->n; k++) {
            const trl_str s = trl_function_feature(r, k);
            const uint32_t id = trl_strview_find(&f->feature, s.p, s.n, trl_str_hash(s.p, s.n));
            for (uint32_t x = id == TRL_NO_ID ? 0 : f->first[id];
                 id != TRL_NO_ID && x < f->first[id + 1]; x++)
                if (f->of[x] == c) {
                    sum += (double)f->weight[x];
                    may |= k == 0;
                }
        }
        if (may && sum > most) {
            most = sum;
            best = c;
        }
    }
    return best;
}

static void train(trl_function_labels *f, const trl_tree_set *trees, size_t threads)
{
    trl_error err;
    trl_pool *pool = trl_pool_new(threads);
    heads_of(f);
    assert_ok(trl_function_train(f, trees, pool, 1, &err));
    trl_pool_free(pool);
}

static void test_choosing(void **state)
{
    (void)state;
    trl_error err;
    trl_tree_set trees;
    trl_function_labels f;
    trl_function_chooser c = {0};
    size_t right = 0, all = 0;
    read_text(&trees, true);
    train(&f, &trees, 1);
    for (size_t k = 0; k < trees.n; k++) {
        const trl_tree *t = &trees.tree[k];
        assert_ok(trl_function_choose(&f, t, &c, &err));
        assert_int_equal(c.class[0], 0);
        for (uint32_t v = 1; v < t->n_nodes; v++) {
            if (t->node[v].child == TRL_NO_NODE) {
                assert_int_equal(c.class[v], 0);
                continue;
            }
            assert_ok(trl_function_read(&c.reader, v, &err));
            assert_true(c.reader.n <= TRL_FUNCTION_FEATURES);
            assert_int_equal(c.class[v], plain_best(&f, &c.reader));
            right += c.class[v] == trees.function[k][v];
            all++;
        }
    }
    assert_int_equal(right, all);
    trl_function_chooser_fini(&c);
    trl_function_labels_fini(&f);
    trl_tree_set_fini(&trees);
}

static void test_threads(void **state)
{
    (void)state;
    trl_tree_set trees;
    trl_function_labels one, three;
    read_text(&trees, true);
    train(&one, &trees, 1);
    train(&three, &trees, 3);
    const size_t n = one.first[one.feature.n];
    assert_int_equal(n, three.first[three.feature.n]);
    assert_memory_equal(one.weight, three.weight, n * sizeof *one.weight);
    trl_function_labels_fini(&one);
    trl_function_labels_fini(&three);
    trl_tree_set_fini(&trees);
}

static void test_nothing_to_learn(void **state)
{
    (void)state;
    static const char bare[] = "(TOP (S (NP (NNP Kim)) (VP (VBZ sleeps))))";
    trl_error err;
    trl_tree_set s = {.keep_functions = true};
    trl_function_labels f;
    trl_function_task t;
    assert_ok(trl_tree_set_memory(&s, "bare", (trl_str){bare, sizeof bare - 1}, 0, &err));
    heads_of(&f);
    assert_int_equal(trl_function_task_init(&t, &s, &f, 1, &err), TRL_EINVAL);
    trl_function_labels_fini(&f);
    trl_tree_set_fini(&s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void test_files(void **state)
{
    (void)state;
    trl_error err;
    trl_tree_set trees;
    trl_function_labels f, again = {0};
    trl_function_chooser a = {0}, b = {0};
    trl_container_builder out = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    read_text(&trees, true);
    train(&f, &trees, 1);
    assert_ok(trl_function_labels_save(&f, &out, &err));
    assert_ok(trl_container_to_buffer(&out, "test", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
    assert_ok(trl_function_labels_load(&again, c, &err));
    for (size_t k = 0; k < trees.n; k++) {
        assert_ok(trl_function_choose(&f, &trees.tree[k], &a, &err));
        assert_ok(trl_function_choose(&again, &trees.tree[k], &b, &err));
        assert_memory_equal(a.class, b.class, trees.tree[k].n_nodes * sizeof *a.class);
    }
    trl_function_labels_fini(&again);
    trl_container_free(c);
    trl_free(bytes);
    trl_rng r = trl_rng_seed(11);
    size_t refused = 0;
    for (int k = 0; k < 400; k++) { /* refused, or of use all the same */
        c = tamper(&out, &r, &bytes);
        const trl_status st = trl_function_labels_load(&again, c, &err);
        assert_true(st == TRL_OK || st == TRL_EMODEL);
        refused += st == TRL_EMODEL;
        for (size_t i = 0; st == TRL_OK && trl_has_functions(&again) && i < trees.n; i++)
            assert_ok(trl_function_choose(&again, &trees.tree[i], &b, &err));
        trl_function_labels_fini(&again);
        trl_container_free(c);
        trl_free(bytes);
    }
    assert_true(refused > 20);
    trl_container_builder_fini(&out);
    trl_function_chooser_fini(&a);
    trl_function_chooser_fini(&b);
    trl_function_labels_fini(&f);
    trl_tree_set_fini(&trees);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_labels), cmocka_unit_test(test_reading),
        cmocka_unit_test(test_gradient),        cmocka_unit_test(test_choosing),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
