/* test_tree_print.c -- trees as text of every form, and the widths of characters. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "text/utf8.h"
#include "trellis/trees.h"

static const char cat[] = "(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (DT "
                          "the) (NN mat)))) (. .)))";

/* The first tree of the text, printed. */
static void assert_prints_at(const char *text, trl_tree_format format, size_t width,
                             const char *want, int line)
{
    trl_treebank *bank = NULL;
    trl_error err;
    trl_tree t;
    trl_buf out = {0};
    bool more;
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text, strlen(text)}, NULL, false, &bank, &err));
    assert_ok(trl_treebank_next(bank, &t, &more, &err));
    assert_ok(trl_tree_print(&t, format, width, &out, &err));
    if (out.len != strlen(want) || memcmp(out.data, want, out.len) != 0)
        fail_msg("line %d:\n%.*sis not\n%s", line, (int)out.len, out.data, want);
    trl_buf_fini(&out);
    trl_treebank_free(bank);
}
#define assert_prints(text, format, width, want)                                                   \
    assert_prints_at((text), (format), (width), (want), __LINE__)

static void test_forms(void **state)
{
    (void)state;
    assert_prints(cat, TRL_TREE_WORDS, 0, "The cat sits on the mat .\n");
    assert_prints(cat, TRL_TREE_TAGGED, 0, "The_DT cat_NN sits_VBZ on_IN the_DT mat_NN ._.\n");
    assert_prints("(X (A a) (-NONE- *) (B b c))", TRL_TREE_COLUMNS, 0, "a A\nb_c B\n\n");
    assert_prints("(X (-NONE- *))", TRL_TREE_WORDS, 0, "\n");
    assert_prints("(X (A a\") (B \\\xff\x01))", TRL_TREE_JSON, 0,
                  "{\"label\":\"X\",\"children\":[{\"label\":\"A\",\"word\":\"a\\\"\"},"
                  "{\"label\":\"B\",\"word\":\"\\\\\\ufffd\\u0001\"}]}\n");
    assert_prints("(X (Y (A a)) (Z (B b)))", TRL_TREE_JSON, 0,
                  "{\"label\":\"X\",\"children\":[{\"label\":\"Y\",\"children\":[{\"label\":"
                  "\"A\",\"word\":\"a\"}]},{\"label\":\"Z\",\"children\":[{\"label\":\"B\","
                  "\"word\":\"b\"}]}]}\n");
}

static void test_pretty(void **state)
{
    (void)state;
    assert_prints(cat, TRL_TREE_PRETTY, 0,
                  "(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sits) (PP (IN on) (NP (DT the) (NN "
                  "mat)))) (. .)))\n");
    assert_prints(cat, TRL_TREE_PRETTY, 40,
                  "(TOP (S\n"
                  "  (NP (DT The) (NN cat))\n"
                  "  (VP\n"
                  "    (VBZ sits)\n"
                  "    (PP (IN on) (NP (DT the) (NN mat))))\n"
                  "  (. .)))\n");
    assert_prints(cat, TRL_TREE_PRETTY, 1,
                  "(TOP (S\n"
                  "  (NP\n    (DT The)\n    (NN cat))\n"
                  "  (VP\n    (VBZ sits)\n    (PP\n      (IN on)\n"
                  "      (NP\n        (DT the)\n        (NN mat))))\n"
                  "  (. .)))\n");
    assert_prints("(X a)", TRL_TREE_PRETTY, 1, "(X a)\n");
}

/* Both forms of brackets, however wide, are the same tree. */
static void test_pretty_reads_back(void **state)
{
    (void)state;
    trl_buf once = {0}, again = {0};
    trl_error err;
    for (size_t width = 1; width < 110; width++) {
        trl_treebank *bank = NULL;
        trl_tree t;
        bool more;
        once.len = again.len = 0;
        assert_ok(
            trl_treebank_memory(&(trl_text){"mem", cat, sizeof cat - 1}, NULL, false, &bank, &err));
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        assert_ok(trl_tree_print(&t, TRL_TREE_PRETTY, width, &once, &err));
        trl_treebank_free(bank);
        assert_ok(
            trl_treebank_memory(&(trl_text){"mem", once.data, once.len}, NULL, false, &bank, &err));
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        assert_ok(trl_tree_print(&t, TRL_TREE_LINE, 0, &again, &err));
        trl_treebank_free(bank);
        assert_int_equal(again.len, sizeof cat);
        assert_memory_equal(again.data, cat, sizeof cat - 1);
        for (size_t i = 0, from = 0; i < once.len; i++)
            if (once.data[i] == '\n') { /* no line is longer than it must be */
                assert_true(width < 40 || i - from <= width);
                from = i + 1;
            }
    }
    trl_buf_fini(&once);
    trl_buf_fini(&again);
}

static void test_deep(void **state)
{
    (void)state;
    const size_t depth = 50000;
    trl_buf text = {0}, out = {0};
    trl_treebank *bank = NULL;
    trl_error err;
    trl_tree t;
    bool more;
    for (size_t i = 0; i < depth; i++)
        assert_true(trl_buf_str(&text, "(X (Y a) "));
    trl_buf_str(&text, "(N w)");
    for (size_t i = 0; i < depth; i++)
        trl_buf_ch(&text, ')');
    assert_ok(
        trl_treebank_memory(&(trl_text){"mem", text.data, text.len}, NULL, false, &bank, &err));
    assert_ok(trl_treebank_next(bank, &t, &more, &err));
    assert_int_equal(trl_tree_depth(&t), depth + 1);
    assert_int_equal(trl_tree_length(&t), depth + 1);
    for (trl_tree_format f = TRL_TREE_LINE; f <= TRL_TREE_SOURCE; f++) {
        out.len = 0;
        assert_ok(trl_tree_print(&t, f, 0, &out, &err));
        assert_true(out.len > 2 * depth && out.len < 300 * depth);
    }
    trl_treebank_free(bank);
    trl_buf_fini(&text);
    trl_buf_fini(&out);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length, depth;
        bool utf8;
    } c[] = {
        {"(X a)", 1, 1, true},
        {"(S (NP (NN a)) (-NONE- *) (VP (V (X b))) (. .))", 3, 4, true},
        {"(X (A (B (C c))) (D d))", 2, 4, true},
        {"(X \xc3\xa4)", 1, 1, true},
        {"(X \xe4)", 1, 1, false},
        {"(\xe4 x)", 1, 1, false},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        trl_treebank *bank = NULL;
        trl_error err;
        trl_tree t;
        bool more;
        assert_ok(trl_treebank_memory(&(trl_text){"mem", c[i].text, strlen(c[i].text)}, NULL, false,
                                      &bank, &err));
        assert_ok(trl_treebank_next(bank, &t, &more, &err));
        assert_int_equal(trl_tree_length(&t), c[i].length);
        assert_int_equal(trl_tree_depth(&t), c[i].depth);
        assert_int_equal(trl_tree_is_utf8(&t), c[i].utf8);
        trl_treebank_free(bank);
    }
}

static void test_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        bool valid;
        size_t columns;
        const char *shown, *xml;
    } c[] = {
        {"", true, 0, "", ""},
        {"a<&>\"", true, 5, "a<&>\"", "a&lt;&amp;&gt;&quot;"},
        {"\xc3\xa4", true, 1, "\xc3\xa4", "\xc3\xa4"},
        {"e\xcc\x81", true, 1, "e\xcc\x81", "e\xcc\x81"},
        {"\xe6\xbc\xa2", true, 2, "\xe6\xbc\xa2", "\xe6\xbc\xa2"},
        {"\xf0\x9f\x98\x80", true, 2, "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\x1b[", true, 2, "\xef\xbf\xbd[", "\xef\xbf\xbd["},
        {"\xc0\x80", false, 2, "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe6\xbc", false, 2, "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80x", false, 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
        {"\xf4\x90\x80\x80", false, 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const trl_str s = {c[i].s, strlen(c[i].s)};
        trl_buf shown = {0}, xml = {0};
        assert_int_equal(trl_utf8_valid(s), c[i].valid);
        assert_int_equal(trl_utf8_columns(s), c[i].columns);
        assert_true(trl_buf_shown(&shown, s) && trl_buf_ch(&shown, '\0'));
        assert_string_equal(shown.data, c[i].shown);
        assert_true(trl_buf_xml(&xml, s) && trl_buf_ch(&xml, '\0'));
        assert_string_equal(xml.data, c[i].xml);
        trl_buf_fini(&shown);
        trl_buf_fini(&xml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_pretty),
        cmocka_unit_test(test_pretty_reads_back),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
