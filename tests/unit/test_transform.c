/* test_transform.c -- cleaning trees, with what was read kept beside. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "treebank/label.h"
#include "treebank/transform.h"

static void print_all(trl_treebank *bank, trl_tree_format format, trl_buf *out)
{
    trl_error err;
    trl_tree t;
    for (bool more = true;;) {
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        if (!more)
            break;
        assert_ok(trl_tree_print(&t, format, 0, out, &err));
    }
}

static void assert_gives_at(const trl_transform *how, const char *text, trl_tree_format format,
                            const char *want, int line)
{
    trl_treebank *bank = NULL;
    trl_error err;
    trl_buf out = {0};
    assert_ok(trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, how, true, &bank, &err));
    print_all(bank, format, &out);
    if (out.len != strlen(want) || memcmp(out.data ? out.data : "", want, out.len) != 0)
        fail_msg("line %d: %.*s is not %s", line, (int)out.len, out.data, want);
    trl_buf_fini(&out);
    trl_treebank_free(bank);
}
#define assert_gives(how, text, want)                                                              \
    assert_gives_at((how), (text), TRL_TREE_LINE, (want), __LINE__)

static void test_clean(void **state)
{
    (void)state;
    const trl_transform clean = trl_transform_clean();
    assert_gives(&clean, "( (S-TPC-1 (NP-SBJ=2 (-NONE- *)) (VP (VB go) (PRT|ADVP (RP on)))))",
                 "( (S (VP (VB go) (PRT|ADVP (RP on)))))\n");
    assert_gives(&clean, "(S (-LRB- -LRB-) (NN-x y-z) (-RRB- -RRB-))",
                 "(S (-LRB- -LRB-) (NN y-z) (-RRB- -RRB-))\n");
    assert_gives(&clean, "(S (A (B (-NONE- 0)) (SU /) (CODE x)))(X y)", "(X y)\n");
    assert_gives(&clean, "(X (NP (NP (NN a)) (PP (-NONE- *))))", "(X (NP (NP (NN a))))\n");
    const trl_transform empty = {.drop_empty = true}, tags = {.drop_functions = true};
    assert_gives(&empty, "(S-1 (NP-2 (-NONE- *)) (X-3 y))", "(S-1 (X-3 y))\n");
    assert_gives(&tags, "(S-1 (NP-2 (-NONE- *-1)) (X=3-1 y))", "(S (NP (-NONE- *-1)) (X y))\n");
    assert_gives(NULL, "(S-1 (NP-2 (-NONE- *)))", "(S-1 (NP-2 (-NONE- *)))\n");
}

static void test_duplicates(void **state)
{
    (void)state;
    const trl_transform once = {.drop_duplicates = true};
    trl_transform clean = trl_transform_clean();
    clean.drop_duplicates = true;
    assert_gives(&once, "(S (NP (NP (NP (NN a)))) (NP (NP (X b)) (Y c)))",
                 "(S (NP (NN a)) (NP (NP (X b)) (Y c)))\n");
    assert_gives(&once, "(NN (NN (NN a)))", "(NN a)\n");
    assert_gives(&once, "(S (NP-1 (NP (NN a))))", "(S (NP-1 (NP (NN a))))\n");
    assert_gives(&clean, "(S (NP-1 (NP (NN a)) (-NONE- *)))", "(S (NP (NN a)))\n");
    assert_gives(&clean, "(S (VP (S (VP (VP (VB a))))))", "(S (VP (S (VP (VB a)))))\n");
}

static void test_roots(void **state)
{
    (void)state;
    static const char *const text[] = {"((X a) (Y b))",    "( (S (X a)))", "(ROOT (S (X a)))",
                                       "(S1 (X a))",       "(S (X a))",    "(X a)",
                                       "(TOP (TOP (X a)))"};
    static const char *const top[] = {
        "(TOP (X a) (Y b))\n", "(TOP (S (X a)))\n", "(TOP (S (X a)))\n",  "(TOP (X a))\n",
        "(TOP (S (X a)))\n",   "(TOP (X a))\n",     "(TOP (TOP (X a)))\n"};
    static const char *const none[] = {"( (X a) (Y b))\n", "(S (X a))\n", "(S (X a))\n",  "(X a)\n",
                                       "(S (X a))\n",      "(X a)\n",     "(TOP (X a))\n"};
    const trl_transform to_top = {.root = "TOP"}, to_none = {.root = ""};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        assert_gives(&to_top, text[i], top[i]);
        assert_gives(&to_none, text[i], none[i]);
    }
}

static void test_words(void **state)
{
    (void)state;
    const trl_transform plain = {.unescape = true};
    const char *text = "(X (A -LRB-) (B 1\\/2) (C \\*\\*) (D -RSB-) (E a\\b) (F -LRB-x) (G \\))";
    assert_gives_at(&plain, text, TRL_TREE_WORDS, "( 1/2 ** ] a\\b -LRB-x \\\n", __LINE__);
    assert_gives_at(&plain, text, TRL_TREE_SOURCE,
                    "(X (A -LRB-) (B 1\\/2) (C \\*\\*) (D -RSB-) (E a\\b) (F -LRB-x) (G \\))\n",
                    __LINE__);
}

static void test_source(void **state)
{
    (void)state;
    const trl_transform clean = trl_transform_clean();
    assert_gives_at(&clean, " \n", TRL_TREE_SOURCE, "", __LINE__);
    assert_gives_at(&clean, "\n ( (S-1\t(X a)\r\n\n  (Y  b) )) (Z c)\n(Q (-NONE- d))\n(Q-1 e)",
                    TRL_TREE_SOURCE, "( (S-1\t(X a)\n\n  (Y  b) ))\n(Z c)\n(Q-1 e)\n", __LINE__);
}

static void test_passed(void **state)
{
    (void)state;
    const trl_transform clean = trl_transform_clean();
    const char *text = "(X (-NONE- a))\n(Y b)\n(X (-NONE- a))";
    trl_treebank *bank = NULL;
    trl_error err;
    trl_buf out = {0};
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, &clean, false, &bank, &err));
    print_all(bank, TRL_TREE_LINE, &out);
    assert_int_equal(trl_treebank_passed(bank), 2);
    assert_int_equal(out.len, 6);
    trl_buf_fini(&out);
    trl_treebank_free(bank);
}

/* ---- on treebanks ---------------------------------------------------------------------------- */

/* Every node of the result stands for one of the input: same category, the same words but for
 * those dropped, and the order is kept. */
static void check_maps(const trl_transformer *x, const trl_tree *t)
{
    const trl_tree *raw = t->raw;
    const uint32_t *node = trl_transformer_nodes(x), *word = trl_transformer_words(x);
    for (uint32_t i = 0; i < t->n_words; i++) {
        assert_true(i == 0 || word[i] > word[i - 1]);
        assert_true(t->word[i].p == raw->word[word[i]].p);
    }
    for (uint32_t i = 0; i < t->n_nodes; i++) {
        if (node[i] == TRL_NO_NODE) {
            assert_int_equal(i, 0);
            continue;
        }
        const trl_node *was = &raw->node[node[i]], *is = &t->node[i];
        assert_true(i == 0 || node[i - 1] == TRL_NO_NODE || node[i] > node[i - 1]);
        assert_true(word[is->from] >= was->from && word[is->to - 1] < was->to);
        assert_true(is->from == 0 || word[is->from - 1] < was->from);
        assert_true(is->to == t->n_words || word[is->to] >= was->to);
        const trl_str category = trl_label_category(trl_tree_label(raw, node[i]));
        const trl_str label = trl_tree_label(t, i);
        assert_true(i == 0 || (label.n == category.n && !memcmp(label.p, category.p, label.n)));
        assert_true((is->child == TRL_NO_NODE) == (was->child == TRL_NO_NODE));
        if (is->next != TRL_NO_NODE)
            assert_true(t->node[is->next].parent == is->parent && t->node[is->next].from == is->to);
    }
}

/* The raw trees cleaned are the lines of `clean_path`; taken back they are those of raw_path. */
static void clean_file(const char *raw_path, const char *clean_path, size_t *n_trees)
{
    trl_transform how = trl_transform_clean();
    trl_input *in = NULL, *raw = NULL, *clean = NULL;
    trl_strtab labels = {0};
    trl_bracket_reader *r = NULL;
    trl_transformer *x = NULL;
    trl_error err;
    trl_buf out = {0};
    how.root = "TOP";
    assert_ok(trl_input_open(raw_path, &in, &err));
    assert_ok(trl_input_open(raw_path, &raw, &err));
    assert_ok(trl_input_open(clean_path, &clean, &err));
    assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
    assert_ok(trl_transformer_new(&how, &labels, &x, &err));
    for (;;) {
        trl_tree t, u;
        trl_str line;
        bool more, any;
        assert_ok(trl_bracket_reader_next(r, &t, &more, &err));
        if (!more)
            break;
        assert_ok(trl_transformer_run(x, &t, &u, &any, &err));
        assert_true(any);
        for (int side = 0; side < 2; side++) {
            out.len = 0;
            assert_ok(trl_input_line(side ? raw : clean, &line, &more, &err));
            assert_true(more && trl_tree_write(side ? u.raw : &u, &labels, &out));
            if (out.len != line.n || memcmp(out.data, line.p, line.n) != 0)
                fail_msg("%s:%d: %.*s", side ? raw_path : clean_path, (int)trl_input_row(raw),
                         (int)out.len, out.data);
        }
        check_maps(x, &u);
        ++*n_trees;
    }
    trl_buf_fini(&out);
    trl_transformer_free(x);
    trl_bracket_reader_free(r);
    trl_input_free(in);
    trl_input_free(raw);
    trl_input_free(clean);
    trl_strtab_fini(&labels);
}

static void test_treebanks(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"masc-dev.raw", "masc-dev"},
                                           {"wsj-sample-dev.raw", "wsj-sample-dev"},
                                           {"masc-dev", "masc-dev"},
                                           {"craft-dev", "craft-dev"}};
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char raw[1024], clean[1024];
        snprintf(raw, sizeof raw, "%s/treebanks/%s.mrg", dir, names[i][0]);
        snprintf(clean, sizeof clean, "%s/treebanks/%s.mrg", dir, names[i][1]);
        clean_file(raw, clean, &n);
    }
    assert_true(n > 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),     cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_roots),     cmocka_unit_test(test_words),
        cmocka_unit_test(test_source),    cmocka_unit_test(test_passed),
        cmocka_unit_test(test_treebanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
