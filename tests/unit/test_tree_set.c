/* Treebanks read whole: which trees above a length stay. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "grammar/tree_set.h"

#define SHORT "(TOP (S (NP-SBJ (N a)) (V b)))\n"
#define LONG(w) "(TOP (S (NP-TMP (N " w ") (N d)) (VP (V e) (N f))))\n"

static void read_text(trl_tree_set *s, const char *text, size_t max_length, bool keep_long)
{
    trl_error err;
    *s = (trl_tree_set){.keep_long = keep_long, .keep_functions = true};
    assert_ok(trl_tree_set_memory(s, "text", (trl_str){text, strlen(text)}, max_length, &err));
}

static const char uneven[] =
    SHORT LONG("c1") LONG("c2") SHORT LONG("c3") LONG("c4") SHORT LONG("c5") LONG("c6");

static void test_left_out(void **state)
{
    (void)state;
    trl_tree_set s;
    read_text(&s, uneven, 2, false);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.n_words, 6);
    assert_int_equal(s.too_long, 6);
    trl_tree_set_fini(&s);
}

/* Six words in short trees, 24 in long ones: of these 4, the first when a quarter of the words
 * seen allows it. */
static void test_balance(void **state)
{
    (void)state;
    trl_tree_set s;
    read_text(&s, uneven, 2, true);
    assert_int_equal(s.n, 9);
    assert_int_equal(s.n_words, 30);
    trl_tree_set_balance(&s, 2);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.n_words, 10);
    const size_t lengths[] = {2, 2, 4, 2};
    for (size_t k = 0; k < 4; k++) {
        const bool is_long = lengths[k] == 4;
        assert_int_equal(s.tree[k].n_words, lengths[k]);
        assert_memory_equal(s.tree[k].word[0].p, is_long ? "c4" : "a", is_long ? 2 : 1);
        const trl_str f = trl_strtab_get(&s.functions, s.function[k][2]); /* of the noun phrase */
        assert_memory_equal(f.p, is_long ? "TMP" : "SBJ", 3);
    }
    trl_tree_set_fini(&s);
}

static void test_nothing_to_balance(void **state)
{
    (void)state;
    trl_tree_set s;
    read_text(&s, SHORT SHORT LONG("c"), 2, true);
    trl_tree_set_balance(&s, 2);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.n_words, 8);
    trl_tree_set_balance(&s, 4); /* none is above it */
    assert_int_equal(s.n, 3);
    trl_tree_set_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_balance),
        cmocka_unit_test(test_nothing_to_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
