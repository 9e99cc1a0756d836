/* test_search_examples.c -- examples of a boosted parser: the same with any number of threads, in
 * memory and in files; rows, columns and names against plain ones. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdlib.h>

#include "base/mem.h"
#include "train_search/search_examples.h"

#define HELD_OUT 40 /* of the sample's trees, the last */

typedef struct bank {
    trl_tree_set trees;
    trl_search_model model;
    uint32_t *label, **tag;
    trl_tree_use *use;
} bank;

static void name_labels(bank *b, bool tags)
{
    for (size_t k = 0; k < b->trees.n; k++)
        for (uint32_t v = 0; v < b->trees.tree[k].n_nodes; v++) {
            const trl_node *node = &b->trees.tree[k].node[v];
            const trl_str name = trl_tree_label(&b->trees.tree[k], v);
            if ((node->child == TRL_NO_NODE) == tags && b->label[node->label] == TRL_NO_ID)
                b->label[node->label] = trl_search_label(&b->model.names, name);
        }
}

static void use_tree(bank *b, size_t k)
{
    const trl_tree *t = &b->trees.tree[k];
    b->use[k] = k + HELD_OUT >= b->trees.n ? TRL_TREE_CHOOSE
                : t->n_words > 10          ? TRL_TREE_TAGS
                                           : TRL_TREE_LEARN;
    b->tag[k] = trl_alloc(t->n_words, sizeof **b->tag);
    for (size_t v = 0; v < t->n_nodes; v++)
        if (t->node[v].child == TRL_NO_NODE)
            b->tag[k][t->node[v].from] = b->label[t->node[v].label];
    for (size_t i = 0; b->use[k] == TRL_TREE_LEARN && i < t->n_words; i++)
        assert_true(trl_strtab_add(&b->model.names.words, t->word[i].p, t->word[i].n) != TRL_NO_ID);
}

static int open_bank(void **state)
{
    trl_error err;
    bank *b = trl_zalloc(1, sizeof *b);
    const char *groups = trl_feature_groups_builtin();
    assert_ok(trl_tree_set_read(&b->trees, "corpus/sample.mrg", 12, &err));
    assert_ok(trl_feature_groups_parse("groups", (trl_str){groups, strlen(groups)},
                                       &b->model.groups, &err));
    assert_ok(trl_head_rules_read(NULL, &b->model.heads, &err));
    b->label = trl_alloc(b->trees.labels.n, sizeof *b->label);
    b->tag = trl_zalloc(b->trees.n, sizeof *b->tag);
    b->use = trl_alloc(b->trees.n, sizeof *b->use);
    for (size_t k = 0; k < b->trees.labels.n; k++)
        b->label[k] = TRL_NO_ID;
    name_labels(b, false);
    b->model.names.n_phrases = b->model.names.labels.n;
    name_labels(b, true);
    for (size_t k = 0; k < b->trees.n; k++)
        use_tree(b, k);
    *state = b;
    return 0;
}

static int close_bank(void **state)
{
    bank *b = *state;
    for (size_t k = 0; k < b->trees.n; k++)
        trl_free(b->tag[k]);
    trl_free(b->tag);
    trl_free(b->label);
    trl_free(b->use);
    trl_search_model_fini(&b->model);
    trl_tree_set_fini(&b->trees);
    trl_free(b);
    return 0;
}

static trl_search_source source_of(const bank *b)
{
    return (trl_search_source){.model = &b->model,
                               .trees = &b->trees,
                               .label = b->label,
                               .tag = (const uint32_t *const *)b->tag,
                               .use = b->use,
                               .want = TRL_TREE_LEARN,
                               .memory = (size_t)1 << 30};
}

static void check_same(const trl_search_examples *a, const trl_search_examples *b)
{
    const trl_boost_data *x = a->data, *y = b->data;
    const size_t active = trl_boost_active(x);
    assert_int_equal(a->n_states, b->n_states);
    assert_int_equal(a->n_examples, b->n_examples);
    assert_int_equal(x->n, y->n);
    assert_int_equal(x->n_features, y->n_features);
    assert_memory_equal(a->row, b->row, a->n_rows * sizeof *a->row);
    assert_memory_equal(x->row_end, y->row_end, x->n * sizeof *x->row_end);
    assert_memory_equal(x->id, y->id, active * sizeof *x->id);
    assert_memory_equal(x->column_end, y->column_end, x->n_features * sizeof *x->column_end);
    assert_memory_equal(x->example, y->example, active * sizeof *x->example);
    assert_int_equal(x->names.n, y->names.n);
    for (uint32_t f = 0; f < x->names.n; f++) {
        const trl_str p = trl_strtab_get(&x->names, f), q = trl_strtab_get(&y->names, f);
        assert_true(p.n == q.n && memcmp(p.p, q.p, p.n) == 0);
    }
}

/* Columns are rows turned over, features fall in count, equals stand as they first appear. */
static void check_columns(const trl_boost_data *d)
{
    uint64_t *at = trl_zalloc(d->n_features, sizeof *at);
    for (size_t i = 0; i < d->n; i++)
        for (uint64_t k = trl_boost_begin(d->row_end, i); k < d->row_end[i]; k++) {
            const uint32_t f = d->id[k];
            assert_true(k == trl_boost_begin(d->row_end, i) || d->id[k - 1] < f);
            assert_int_equal(d->example[trl_boost_begin(d->column_end, f) + at[f]++], i);
        }
    for (size_t f = 0; f < d->n_features; f++) {
        assert_int_equal(trl_boost_begin(d->column_end, f) + at[f], d->column_end[f]);
        assert_true(f == 0 || at[f] <= at[f - 1]);
        if (f && at[f] == at[f - 1])
            assert_true(d->example[d->column_end[f - 1]] >=
                        d->example[trl_boost_begin(d->column_end, f - 1)]);
    }
    trl_free(at);
}

static void test_threads(void **state)
{
    trl_error err;
    trl_search_source s = source_of(*state), held = s;
    trl_search_examples one = {0}, one_held = {0};
    assert_ok(trl_search_examples_make(&one, &s, &err));
    assert_true(one.n_rows > 5000);
    check_columns(one.data);
    held.want = TRL_TREE_CHOOSE;
    held.like = one.data;
    assert_ok(trl_search_examples_make(&one_held, &held, &err));
    for (s.threads = 2; s.threads <= 5; s.threads++) {
        trl_search_examples x = {0}, y = {0};
        s.memory = s.threads % 2 ? (size_t)300 << 20 : (size_t)1 << 30;
        assert_ok(trl_search_examples_make(&x, &s, &err));
        check_same(&one, &x);
        held.threads = s.threads;
        held.like = x.data;
        assert_ok(trl_search_examples_make(&y, &held, &err));
        check_same(&one_held, &y);
        trl_search_examples_fini(&y);
        trl_search_examples_fini(&x);
    }
    trl_search_examples_fini(&one_held);
    trl_search_examples_fini(&one);
}

/* Without room in memory, parts included. */
static void test_files(void **state)
{
    trl_error err;
    trl_search_source s = source_of(*state);
    trl_search_examples one = {0};
    assert_ok(trl_search_examples_make(&one, &s, &err));
    for (s.threads = 1; s.threads <= 2; s.threads++)
        for (size_t mb = 0; mb <= 300; mb += 300) {
            trl_search_examples x = {0};
            s.memory = mb << 20;
            assert_ok(trl_search_examples_make(&x, &s, &err));
            assert_int_equal(trl_boost_data_get_info(x.data).in_file > 0, mb == 0);
            check_same(&one, &x);
            trl_search_examples_fini(&x);
        }
    trl_search_examples_fini(&one);
}

/* More threads than trees; no tree at all. */
static void test_few(void **state)
{
    trl_error err;
    bank *b = *state;
    trl_search_source s = source_of(b);
    trl_tree_set few = b->trees;
    trl_search_examples one = {0}, x = {0}, none = {0};
    s.trees = &few;
    few.n = 2;
    assert_ok(trl_search_examples_make(&one, &s, &err));
    s.threads = 4;
    assert_ok(trl_search_examples_make(&x, &s, &err));
    check_same(&one, &x);
    few.n = 0;
    assert_ok(trl_search_examples_make(&none, &s, &err));
    assert_null(none.data);
    trl_search_examples_fini(&x);
    trl_search_examples_fini(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads, open_bank, close_bank),
        cmocka_unit_test_setup_teardown(test_files, open_bank, close_bank),
        cmocka_unit_test_setup_teardown(test_few, open_bank, close_bank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
