/* test_parseval_errors.c -- scores of trees: bad lines, bad parameters, large trees. */
/* SPDX-License-Identifier: MIT */
#include "scoring.h"

#include <unistd.h>

#include "base/mem.h"

static const char *put_file(const char *text)
{
    static char path[4][64];
    static int turn;
    char *name = path[turn++ % 4];
    strcpy(name, "/tmp/test_parseval-XXXXXX");
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return name;
}

/* ---- errors ---------------------------------------------------------------------------- */

static void expect_error(const char *gold, const char *test, const char *message)
{
    trl_parseval *p = new_scorer("collins", false);
    assert_int_equal(add(p, gold, test).state, TRL_PARSEVAL_ERROR);
    assert_string_equal(trl_parseval_errors(p), message);
    trl_parseval_reset(p);
    assert_string_equal(trl_parseval_errors(p), "");
    assert_int_equal(trl_parseval_get(p, UINT64_MAX).sentences, 0);
    trl_parseval_free(p);
}

static void test_errors(void **state)
{
    (void)state;
    const char *good = "(S (NN a) (NN b))";
    expect_error(good, "(S (NN a))", "1 : Length unmatch (2|1)\n");
    expect_error(good, "(S (NN a) (NN c))", "1 : Words unmatch (b|c)\n");
    expect_error(good, "no parse", "1 : test:1:1: word 'no' where a bracket is expected\n");
    expect_error("(S (NN a)))", good, "1 : gold:1:11: ')' without a '(' before it\n");
    expect_error(good, "(S (NN a b))", "1 : test:1:10: more than one word in a bracket\n");
    expect_error(good, "(S (NN a (NN b)))", "1 : test:1:10: a bracket opens after the word 'a'\n");
    expect_error(good, "(S (NN a", "1 : test:1:4: the line ends inside a bracket\n");
    expect_error(good, " (S (NN a) (NN b)",
                 "1 : test:1:2: the line ends inside the bracket that opens here\n");
}

/* Unclosed brackets: an error, yet the counts are shown, as EVALB does. */
static void test_unclosed(void **state)
{
    (void)state;
    const trl_parseval_sentence s =
        score("collins", "(S (NP (NN a)) (NN b))", "(S (NP (NN a)) (NN b)");
    assert_int_equal(s.state, TRL_PARSEVAL_ERROR);
    assert_int_equal(s.match, 1);
    assert_int_equal(s.test, 2);
    assert_false(s.exact);
}

static void test_stops(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_parseval_options o = trl_parseval_options_default();
    trl_parseval *p;
    o.max_errors = 1;
    assert_ok(trl_parseval_new(&o, &p, &err));
    for (int i = 0; i < 5; i++) {
        assert_ok(trl_parseval_add(p, "(S (NN a))", 10, "(S (NN b))", 10, &err));
        assert_int_equal(trl_parseval_stopped(p), i >= 2);
    }
    size_t n;
    trl_parseval_sentences(p, &n);
    assert_int_equal(n, 2);
    assert_string_equal(trl_parseval_errors(p), "1 : Words unmatch (a|b)\n"
                                                "2 : Words unmatch (a|b)\n"
                                                "3 : Words unmatch (a|b)\n");
    trl_parseval_free(p);
    o.max_errors = -2;
    assert_int_equal(trl_parseval_new(&o, &p, &err), TRL_EINVAL);
}

static void test_lines_left(void **state)
{
    (void)state;
    trl_error err = {0};
    const char *one = put_file("(S (NN a))\n"), *two = put_file("(S (NN a))\n(S (NN b))\n");
    const char *const files[2][2] = {{two, one}, {one, two}};
    for (int k = 0; k < 2; k++) {
        trl_parseval *p = new_scorer("collins", false);
        assert_ok(trl_parseval_files(p, files[k][0], files[k][1], &err));
        char message[100];
        snprintf(message, sizeof message,
                 "2 : Number of lines unmatch (too many lines in %s file)\n", k ? "test" : "gold");
        assert_string_equal(trl_parseval_errors(p), message);
        const trl_parseval_totals t = trl_parseval_get(p, UINT64_MAX);
        assert_int_equal(t.sentences, 1);
        assert_int_equal(t.errors, 0);
        trl_parseval_free(p);
    }
    unlink(one);
    unlink(two);
}

/* ---- sizes ----------------------------------------------------------------------------- */

static void test_no_limits(void **state)
{
    (void)state;
    enum { N = 200000 };
    char *deep = trl_alloc(N, 20), *p = deep; /* right-branching, one word a level */
    for (int i = 0; i < N; i++)
        p += sprintf(p, "(S (NN w)");
    memset(p, ')', N);
    p[N] = '\0';
    expect(score("collins", deep, deep), N, N, N, 0, N, N);
    p = deep;
    p += sprintf(p, "(S ");
    for (int i = 0; i < N; i++) /* as many different labels */
        p += sprintf(p, "(X%d (NN w))", i % 1000 ? 0 : i);
    strcpy(p, ")");
    expect(score("collins", deep, deep), N + 1, N + 1, N + 1, 0, N, N);
    trl_free(deep);
}

/* ---- parameters ------------------------------------------------------------------------ */

static void test_params(void **state)
{
    (void)state;
    const char *path = put_file("# a comment\n\nLABELED 0\r\nCUTOFF_LEN 1\n"
                                "DELETE_LABEL X\nDELETE_LABEL NN\nDELETE_LABEL_FOR_LENGTH NN\n"
                                "EQ_WORD colour color\nEQ_LABEL X Y\nDEBUG 0\n  MAX_ERROR 3  ");
    trl_parseval *p = new_scorer(path, false);
    unlink(path);
    /* Y is deleted like X; NP and VP are the same when labels do not count */
    expect(add(p, "(S (Y (NP (JJ colour))) (NN z))", "(S (VP (JJ color)))"), 2, 2, 2, 0, 1, 1);
    assert_int_equal(add(p, "(S (JJ a) (JJ b))", "").length, 2);
    assert_int_equal(trl_parseval_get(p, trl_parseval_max_length(p)).sentences, 1);
    trl_parseval_free(p);
}

static void test_bad_params(void **state)
{
    static const struct {
        const char *text, *message;
        uint64_t row, col;
    } cases[] = {
        {"LABELED 1\nDELETE TOP\n", "'DELETE' is not a parameter", 2, 1},
        {"DELETE_LABEL\n", "DELETE_LABEL needs a label", 1, 13},
        {"EQ_LABEL A \n", "EQ_LABEL needs two values", 1, 12},
        {"EQ_WORD a b c\n", "EQ_WORD takes two values, and 'c' is one too many", 1, 13},
        {"DELETE_LABEL A B\n", "DELETE_LABEL takes one value, and 'B' is one too many", 1, 16},
        {"\n CUTOFF_LEN 4x\n", "CUTOFF_LEN: '4x' is not a whole number", 2, 13},
        {"MAX_ERROR -1\n", "MAX_ERROR: '-1' is not a whole number", 1, 11},
        {"MAX_ERROR 99999999999999999999\n",
         "MAX_ERROR: '99999999999999999999' is not a whole number", 1, 11},
        {"LABELED\n", "LABELED needs a whole number", 1, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_error err = {0};
        trl_parseval_options o = trl_parseval_options_default();
        trl_parseval *p = NULL;
        o.params = put_file(cases[i].text);
        assert_int_equal(trl_parseval_new(&o, &p, &err), TRL_EPARSE);
        unlink(o.params);
        assert_string_equal(err.msg, cases[i].message);
        assert_string_equal(err.path, o.params);
        assert_int_equal(err.row, cases[i].row);
        assert_int_equal(err.col, cases[i].col);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_unclosed),
        cmocka_unit_test(test_stops),      cmocka_unit_test(test_lines_left),
        cmocka_unit_test(test_no_limits),  cmocka_unit_test(test_params),
        cmocka_unit_test(test_bad_params),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
