/* test_brackets.c -- Penn brackets: shapes, errors with their places, round trips. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "treebank/brackets.h"

typedef struct fixture {
    trl_input *in;
    trl_strtab labels;
    trl_bracket_reader *r;
} fixture;

static void start(fixture *f, const char *text, size_t n)
{
    trl_error err;
    *f = (fixture){0};
    assert_ok(trl_input_memory("mem", text, n, &f->in, &err));
    assert_ok(trl_bracket_reader_new(f->in, &f->labels, &f->r, &err));
}

static void finish(fixture *f)
{
    trl_bracket_reader_free(f->r);
    trl_input_free(f->in);
    trl_strtab_fini(&f->labels);
}

/* All trees of the text, one a line. */
static void assert_reads(const char *text, const char *want)
{
    fixture f;
    trl_error err;
    trl_tree t;
    trl_buf out = {0};
    bool more = true;
    start(&f, text, strlen(text));
    for (;;) {
        assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
        if (!more)
            break;
        assert_true(trl_tree_write(&t, &f.labels, &out));
        trl_buf_ch(&out, '\n');
    }
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
    finish(&f);
}

static void test_spellings(void **state)
{
    (void)state;
    assert_reads("", "");
    assert_reads(" \n\t\n", "");
    assert_reads("(NN cat)", "(NN cat)\n");
    assert_reads("(TOP (S (A b) (C d)))\n", "(TOP (S (A b) (C d)))\n");
    assert_reads("( (S (A b)))", "( (S (A b)))\n");
    assert_reads("((S (A b)) (. .))", "( (S (A b)) (. .))\n");
    assert_reads("(S(A b)(C d))(T e)\n(U f)", "(S (A b) (C d))\n(T e)\n(U f)\n");
    assert_reads("\xef\xbb\xbf( S\r\n  ( A\tb )\r\n\r\n(C\nd)\n)\n", "(S (A b) (C d))\n");
    assert_reads("(N\xc3\x84-1=2|x \xff\x01\xfe)", "(N\xc3\x84-1=2|x \xff\x01\xfe)\n");
    assert_reads("(NN New York\n City)", "(NN New York City)\n");
}

static void test_shape(void **state)
{
    (void)state;
    const char *text = "(S (NP (NNP Kim)) (VP (VBZ sleeps)))";
    static const trl_node want[] = {
        {0, TRL_NO_NODE, 1, TRL_NO_NODE, 0, 2}, {1, 0, 2, 3, 0, 1},
        {2, 1, TRL_NO_NODE, TRL_NO_NODE, 0, 1}, {3, 0, 4, TRL_NO_NODE, 1, 2},
        {4, 3, TRL_NO_NODE, TRL_NO_NODE, 1, 2},
    };
    fixture f;
    trl_error err;
    trl_tree t;
    bool more;
    start(&f, text, strlen(text));
    assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
    assert_true(more);
    assert_int_equal(t.n_nodes, 5);
    assert_int_equal(t.n_words, 2);
    assert_memory_equal(t.node, want, sizeof want);
    assert_memory_equal(t.word[1].p, "sleeps", 6);
    assert_int_equal(t.row, 1);
    assert_int_equal(t.col, 1);
    assert_string_equal(t.path, "mem");
    finish(&f);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t row, col;
        const char *msg;
    } bad[] = {
        {"\n  cat", 2, 3, "word 'cat' where a tree"},
        {"(A b))", 1, 6, "')' without"},
        {"(S (NP (DT the) dog))", 1, 17, "word 'dog' where a tree"},
        {"(S (NN dog (X y)))", 1, 12, "after a word"},
        {"(S\n ((A b)))", 2, 3, "no label"},
        {"(S ())", 1, 5, "no label and no words"},
        {"()", 1, 2, "no label and no words"},
        {"(S (NP) (A b))", 1, 7, "'NP' has no words"},
        {"(S (A b)\n\n (C d)", 1, 1, "ends inside"},
        {"(A b)\n (S (A b) (C\n", 2, 2, "ends inside"},
        {"(", 1, 1, "ends inside"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fixture f;
        trl_error err = {0};
        trl_tree t;
        bool more = true;
        trl_status st = TRL_OK;
        start(&f, bad[i].text, strlen(bad[i].text));
        while (st == TRL_OK && more)
            st = trl_bracket_reader_next(f.r, &t, &more, &err);
        if (st != TRL_EPARSE || err.row != bad[i].row || err.col != bad[i].col ||
            !strstr(err.msg, bad[i].msg) || strcmp(err.path, "mem") != 0)
            fail_msg("case %zu: %d, %s:%d:%d: %s", i, (int)st, err.path, (int)err.row, (int)err.col,
                     err.msg);
        finish(&f);
    }
}

static void test_goes_on_after_error(void **state)
{
    (void)state;
    const char *text = "(A b) x (C d)\n(E f)";
    fixture f;
    trl_error err;
    trl_tree t;
    bool more;
    start(&f, text, strlen(text));
    assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
    assert_int_equal(trl_bracket_reader_next(f.r, &t, &more, &err), TRL_EPARSE);
    assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
    assert_true(more);
    assert_int_equal(t.word[0].p[0], 'f');
    finish(&f);
}

/* After resync a line that begins with a bracket begins a tree: each fault costs one tree. */
static void test_resync(void **state)
{
    (void)state;
    static const char text[] = "(A a)\n"
                               "(B (C c)\n" /* not closed */
                               "(D d)\n"
                               "(E (F f)\n   (G g))\n"            /* indented: goes on */
                               "(H (I i)\n   (J ())\n   (K k))\n" /* broken on its second line */
                               "( (L (M m)\n"                     /* not closed */
                               "( (N n))\n"
                               "(O o) (P (Q q)\n" /* does not begin in the first column ... */
                               "(R r))\n"         /* ... so that this goes on */
                               "x\n(S s))\n(T t)\n(U (V v)\n";
    static const char *const want[] = {"A", "!2",  "D", "E",   "!7", "!9",  "",  "O",
                                       "P", "!13", "S", "!14", "T",  "!16", NULL};
    trl_input *in = NULL;
    trl_strtab labels = {0};
    trl_bracket_reader *r = NULL;
    trl_error err;
    assert_ok(trl_input_memory("text", text, sizeof text - 1, &in, &err));
    assert_ok(trl_bracket_reader_new(in, &labels, &r, &err));
    trl_bracket_reader_resync(r);
    for (size_t k = 0;; k++) {
        trl_tree t;
        bool more = true;
        char got[40];
        const trl_status st = trl_bracket_reader_next(r, &t, &more, &err);
        if (st == TRL_OK && !more) {
            assert_null(want[k]);
            break;
        }
        assert_true(st == TRL_OK || st == TRL_EPARSE);
        const trl_str label =
            st == TRL_OK ? trl_strtab_get(&labels, t.node[0].label) : (trl_str){0};
        if (st == TRL_OK)
            snprintf(got, sizeof got, "%.*s", (int)label.n, label.n ? label.p : "");
        else
            snprintf(got, sizeof got, "!%llu", (unsigned long long)err.row);
        assert_non_null(want[k]);
        assert_string_equal(got, want[k]);
    }
    trl_bracket_reader_free(r);
    trl_strtab_fini(&labels);
    trl_input_free(in);
}

static void test_deep(void **state)
{
    (void)state;
    const size_t depth = 200000;
    trl_buf text = {0}, out = {0};
    fixture f;
    trl_error err;
    trl_tree t;
    bool more;
    for (size_t i = 0; i < depth; i++)
        trl_buf_str(&text, "(X ");
    trl_buf_str(&text, "(N w)");
    for (size_t i = 0; i < depth; i++)
        trl_buf_ch(&text, ')');
    start(&f, text.data, text.len);
    assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
    assert_int_equal(t.n_nodes, depth + 1);
    assert_true(trl_tree_write(&t, &f.labels, &out));
    assert_int_equal(out.len, text.len);
    assert_memory_equal(out.data, text.data, text.len);
    trl_buf_fini(&text);
    trl_buf_fini(&out);
    finish(&f);
}

static void test_brackets_in_words(void **state)
{
    (void)state;
    const char *text = "(X y)";
    fixture f;
    trl_error err;
    trl_tree t;
    trl_buf out = {0};
    bool more;
    start(&f, text, strlen(text));
    assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
    const trl_str word = {":-)(a", 5};
    t.word = &word;
    assert_true(trl_tree_write(&t, &f.labels, &out));
    assert_int_equal(out.len, 17);
    assert_memory_equal(out.data, "(X :--RRB--LRB-a)", 17);
    trl_buf_fini(&out);
    finish(&f);
}

/* Every line of a treebank with one tree a line comes back byte for byte. */
static void round_trip_file(const char *path)
{
    fixture f = {0};
    trl_input *lines = NULL;
    trl_error err;
    trl_tree t;
    trl_str line;
    trl_buf out = {0};
    bool more, more_lines;
    size_t n = 0;
    assert_ok(trl_input_open(path, &f.in, &err));
    assert_ok(trl_input_open(path, &lines, &err));
    assert_ok(trl_bracket_reader_new(f.in, &f.labels, &f.r, &err));
    for (;; n++) {
        assert_ok(trl_bracket_reader_next(f.r, &t, &more, &err));
        assert_ok(trl_input_line(lines, &line, &more_lines, &err));
        assert_int_equal(more, more_lines);
        if (!more)
            break;
        out.len = 0;
        assert_true(trl_tree_write(&t, &f.labels, &out));
        if (out.len != line.n || memcmp(out.data, line.p, line.n) != 0)
            fail_msg("%s:%zu differs", path, n + 1);
    }
    assert_true(n > 200);
    trl_buf_fini(&out);
    trl_input_free(lines);
    finish(&f);
}

static void test_treebanks(void **state)
{
    (void)state;
    static const char *const names[] = {
        "craft-dev",      "craft-train",        "masc-dev",        "masc-dev.raw",    "masc-train",
        "wsj-sample-dev", "wsj-sample-dev.raw", "wsj-sample-test", "wsj-sample-train"};
    const char *dir = test_folder("TRELLIS_DATA", "../shared/data");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/treebanks/%s.mrg", dir, names[i]);
        round_trip_file(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_goes_on_after_error),
        cmocka_unit_test(test_resync),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_brackets_in_words),
        cmocka_unit_test(test_treebanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
