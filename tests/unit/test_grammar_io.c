/* test_grammar_io.c -- grammars in files: the same again, or refused. */
/* SPDX-License-Identifier: MIT */
#include "read_grammar.h"
#include "tampered.h"

static void assert_same_strings(const trl_strtab *a, const trl_strtab *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->pool_len, b->pool_len);
    assert_memory_equal(a->pool, b->pool, a->pool_len);
    assert_memory_equal(a->end, b->end, a->n * sizeof *a->end);
}

static void assert_same(const trl_grammar *a, const trl_grammar *b)
{
    assert_memory_equal(&a->annotation.markov, &b->annotation.markov, sizeof(int));
    assert_true(a->annotation.parents == b->annotation.parents &&
                a->annotation.tag_parents == b->annotation.tag_parents &&
                a->annotation.head_tags == b->annotation.head_tags);
    assert_same_strings(&a->labels, &b->labels);
    assert_same_strings(&a->names, &b->names);
    assert_same_strings(&a->keys, &b->keys);
    assert_int_equal(a->n_states, b->n_states);
    assert_int_equal(a->n_plain, b->n_plain);
    assert_int_equal(a->root, b->root);
    assert_memory_equal(a->state, b->state, a->n_states * sizeof *a->state);
    assert_int_equal(a->n_binary, b->n_binary);
    assert_int_equal(a->n_plain_binary, b->n_plain_binary);
    assert_memory_equal(a->binary, b->binary, a->n_binary * sizeof *a->binary);
    assert_memory_equal(a->binary_count, b->binary_count, a->n_binary * sizeof(double));
    assert_memory_equal(a->by_left, b->by_left, (a->n_states + 1) * sizeof(uint32_t));
    assert_int_equal(a->n_unary, b->n_unary);
    assert_int_equal(a->n_plain_unary, b->n_plain_unary);
    assert_memory_equal(a->unary, b->unary, a->n_unary * sizeof *a->unary);
    assert_memory_equal(a->unary_count, b->unary_count, a->n_unary * sizeof(double));
    assert_memory_equal(a->by_child, b->by_child, (a->n_states + 1) * sizeof(uint32_t));
    assert_int_equal(a->n_chain_pool, b->n_chain_pool);
    assert_memory_equal(a->chain_pool, b->chain_pool, a->n_chain_pool * sizeof(uint32_t));
    assert_memory_equal(a->parent_count, b->parent_count, a->n_states * sizeof(double));
}

static void make_list(tree_list *l, uint64_t seed, size_t n)
{
    trl_rng r = trl_rng_seed(seed);
    trl_buf text = {0};
    random_trees(&r, n, &text);
    read_text(l, text.data, text.len);
    trl_buf_fini(&text);
}

static void test_same_again(void **state)
{
    (void)state;
    tree_list l = {0};
    make_list(&l, 5, 40);
    for (unsigned k = 0; k < N_SWITCHES; k++) {
        trl_error err;
        trl_grammar g, back;
        trl_container_builder b = {0}, again = {0};
        trl_container *c = NULL;
        unsigned char *bytes = NULL, *twice = NULL;
        size_t size, size_twice;
        const trl_annotation a = switches(k);
        build(&g, &a, &l, k % 2);
        assert_ok(trl_grammar_save(&g, "g0", &b, &err));
        assert_ok(trl_container_to_buffer(&b, "test", &bytes, &size, &err));
        assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
        assert_ok(trl_grammar_load(&back, "g0", c, &err));
        assert_same(&g, &back);
        assert_ok(trl_grammar_save(&back, "g0", &again, &err));
        assert_ok(trl_container_to_buffer(&again, "test", &twice, &size_twice, &err));
        assert_int_equal(size, size_twice);
        assert_memory_equal(bytes, twice, size);
        trl_btree t = {0};
        for (size_t i = 0; i < l.n; i++) {
            bool known;
            assert_ok(trl_grammar_encode(&back, &(trl_encoded){heads, &l.tree[i], &l.labels}, &t,
                                         &known, NULL, &err));
            assert_true(known);
        }
        trl_btree_fini(&t);
        trl_container_free(c);
        trl_free(bytes);
        trl_free(twice);
        trl_container_builder_fini(&b);
        trl_container_builder_fini(&again);
        trl_grammar_fini(&g);
        trl_grammar_fini(&back);
    }
    free_trees(&l);
}

/* Any bit flipped, with a checksum that fits: refused, or a grammar that can be used. */
static void test_tampered(void **state)
{
    (void)state;
    trl_error err;
    trl_rng r = trl_rng_seed(6);
    tree_list l = {0};
    trl_grammar g;
    trl_container_builder b = {0};
    int refused = 0;
    make_list(&l, 7, 12);
    build(&g, &(trl_annotation){true, true, true, 1}, &l, true);
    assert_ok(trl_grammar_save(&g, "g0", &b, &err));
    for (int turn = 0; turn < 3000; turn++) {
        trl_grammar back;
        unsigned char *bytes = NULL;
        trl_container *c = tamper(&b, &r, &bytes);
        const trl_status st = trl_grammar_load(&back, "g0", c, &err);
        if (st == TRL_OK) {
            trl_btree t = {0};
            trl_node *node = NULL;
            size_t n, cap = 0;
            for (size_t i = 0; i < l.n; i++) {
                bool known;
                assert_ok(trl_grammar_encode(&back, &(trl_encoded){heads, &l.tree[i], &l.labels},
                                             &t, &known, NULL, &err));
                if (known)
                    assert_ok(trl_grammar_decode(&back, &t, &node, &n, &cap, &err));
            }
            trl_btree_fini(&t);
            trl_free(node);
            trl_grammar_fini(&back);
        } else {
            assert_int_equal(st, TRL_EMODEL);
            refused++;
        }
        trl_container_free(c);
        trl_free(bytes);
    }
    assert_true(refused > 1000);
    trl_container_builder_fini(&b);
    trl_grammar_fini(&g);
    free_trees(&l);
}

static void test_bad_prefix(void **state)
{
    (void)state;
    trl_error err;
    tree_list l = {0};
    trl_grammar g, back;
    trl_container_builder b = {0};
    trl_container *c = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    make_list(&l, 8, 2);
    build(&g, &(trl_annotation){0}, &l, false);
    assert_int_equal(trl_grammar_save(&g, "g", &b, &err), TRL_EINVAL);
    assert_ok(trl_grammar_save(&g, "g0", &b, &err));
    assert_ok(trl_container_to_buffer(&b, "test", &bytes, &size, &err));
    assert_ok(trl_container_from_memory(bytes, size, "test", &c, &err));
    assert_int_equal(trl_grammar_load(&back, "g1", c, &err), TRL_EMODEL);
    assert_int_equal(trl_grammar_load(&back, "g00", c, &err), TRL_EINVAL);
    trl_container_free(c);
    trl_free(bytes);
    trl_container_builder_fini(&b);
    trl_grammar_fini(&g);
    free_trees(&l);
}

int main(void)
{
    trl_error err;
    if (trl_head_rules_read(NULL, &heads, &err) != TRL_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_tampered),
        cmocka_unit_test(test_bad_prefix),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trl_head_rules_free(heads);
    return failed;
}
