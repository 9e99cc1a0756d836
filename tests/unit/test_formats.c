/* test_formats.c -- CoNLL-U, MALLET's lines and JSON lines, and the places of their faults. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "text/conllu.h"
#include "text/jsonl.h"
#include "text/mallet.h"

static trl_error err;

typedef enum kind { CONLLU, JSONL, MALLET } kind;

static void put(trl_buf *out, char mark, trl_str s)
{
    trl_buf_ch(out, mark);
    trl_buf_add(out, s.p, s.n);
}

static void put_rows(const trl_rows *seq, const trl_conllu *r, trl_buf *out)
{
    for (size_t i = 0; i < seq->n_tokens * seq->n_columns; i++)
        put(out, i % seq->n_columns ? ' ' : '|', seq->cell[i]);
    for (size_t t = 0; seq->line && t < seq->n_tokens; t++) { /* they lie in the source */
        const trl_str source = trl_conllu_source(r);
        assert_true(seq->line[t] >= source.p && seq->line[t] < source.p + source.n);
        assert_true(t == 0 || trl_conllu_row(r, t) > trl_conllu_row(r, t - 1));
    }
}

static void put_items(const trl_items *seq, trl_buf *out)
{
    for (size_t t = 0; t < seq->n_tokens; t++) {
        put(out, '|', seq->label[t]);
        for (size_t a = seq->begin[t]; a < seq->begin[t + 1]; a++)
            put(out, ' ', seq->attr[a].name);
    }
}

/* "|cell cell|cell cell;" of every sequence; the sources too. */
static trl_status read_all(kind k, const char *bytes, size_t n, trl_buf *out, trl_buf *source)
{
    trl_input *in = NULL;
    trl_conllu *conllu = NULL;
    trl_jsonl *jsonl = NULL;
    trl_mallet *mallet = NULL;
    assert_ok(trl_input_memory("in", bytes, n, &in, &err));
    assert_ok(trl_conllu_new(in, &conllu, &err));
    assert_ok(trl_jsonl_new(in, &jsonl, &err));
    assert_ok(trl_mallet_new(in, &mallet, &err));
    trl_status st = TRL_OK;
    for (bool more = true; st == TRL_OK;) {
        trl_rows rows = {0};
        trl_items items = {0};
        st = k == CONLLU  ? trl_conllu_next(conllu, &rows, &more, &err)
             : k == JSONL ? trl_jsonl_next(jsonl, &rows, &more, &err)
                          : trl_mallet_next(mallet, &items, &more, &err);
        if (st != TRL_OK || !more)
            break;
        put_rows(&rows, conllu, out);
        put_items(&items, out);
        trl_buf_ch(out, ';');
        trl_buf_add(source, trl_conllu_source(conllu).p, trl_conllu_source(conllu).n);
        trl_buf_ch(source, '\n');
    }
    trl_conllu_free(conllu);
    trl_jsonl_free(jsonl);
    trl_mallet_free(mallet);
    trl_input_free(in);
    trl_buf_ch(out, '\0');
    trl_buf_ch(source, '\0');
    return st;
}

static void expect(kind k, const char *text, const char *want)
{
    trl_buf out = {0}, source = {0};
    assert_ok(read_all(k, text, strlen(text), &out, &source));
    assert_string_equal(out.data, want);
    if (k == CONLLU)
        assert_string_equal(source.data, text);
    trl_buf_fini(&out);
    trl_buf_fini(&source);
}

static void expect_fault(kind k, const char *text, uint64_t row, uint64_t col, const char *what)
{
    trl_buf out = {0}, source = {0};
    assert_int_equal(read_all(k, text, strlen(text), &out, &source), TRL_EPARSE);
    assert_string_equal(err.path, "in");
    assert_int_equal(err.row, row);
    assert_int_equal(err.col, col);
    assert_non_null(strstr(err.msg, what));
    trl_buf_fini(&out);
    trl_buf_fini(&source);
}

#define REST "\tlem\tU\tX\t_\t0\troot\t_\tm=1"

static void test_conllu(void **state)
{
    (void)state;
    expect(CONLLU,
           "# text = du a b\n# x\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde" REST "\n2\tle x" REST
           "\n2.1\te" REST "\n3\t#" REST "\n\n# second\n0.1\tn" REST "\n1\ta" REST "\n\n",
           "|de lem X _ 0 root _ m=1 1 U|le x lem X _ 0 root _ m=1 2 U|# lem X _ 0 root _ m=1 3 "
           "U;|a lem X _ 0 root _ m=1 1 U;");
    expect(CONLLU, "", "");
    expect_fault(CONLLU, "1\ta\tb\n", 1, 6, "3 cells instead of ten");
    expect_fault(CONLLU, "# c\na b c\n", 2, 6, "1 cell instead of ten");
    expect_fault(CONLLU, "1\ta" REST "\tmore\n", 1, 27, "more than ten");
    expect_fault(CONLLU, "1\t" REST "\n", 1, 3, "cell 2 is empty");
    expect_fault(CONLLU, "1\ta" REST "\n3\ta" REST "\n", 2, 1, "'3' does not follow");
    expect_fault(CONLLU, "2-3\ta" REST "\n", 1, 1, "does not follow");
    expect_fault(CONLLU, "1-2\ta" REST "\n1\ta" REST "\n\n", 3, 1, "ends inside a range");
    expect_fault(CONLLU, "1.0\ta" REST "\n", 1, 1, "does not follow");
    expect_fault(CONLLU, "x\ta" REST "\n", 1, 1, "does not follow");
    expect_fault(CONLLU, "# alone\n\n", 2, 1, "without a word");
}

static void test_mallet(void **state)
{
    (void)state;
    expect(MALLET, "Bill CAP noun\nslept non-noun\n\n\nX\n", "|noun Bill CAP|non-noun slept;|X;");
    expect(MALLET, " \n\n", "");
}

static void test_jsonl(void **state)
{
    (void)state;
    expect(
        JSONL,
        "{\"tokens\": [\"a\", \"b c\"], \"labels\": [\"O\", \"X\"]}\n\n{\"labels\":[\"Y\"],\"x\":"
        "{\"tokens\":[1,-2e3,true,null,[],{}]},\"tokens\":[\"\\u00e9\\ud83d\\ude00\\n\"]}",
        "|a O|b c X;|é😀\n Y;");
    expect(JSONL,
           "{\"columns\":[[\"p\"],[\"q\"]],\"labels\":[\"L\"],\"tokens\":[\"t\"]}\n"
           "{\"labels\":[\"L\"],\"columns\":[[\"p\"],[\"q\"]],\"tokens\":[\"t\"]}\n",
           "|t p q L;|t p q L;");
    expect(JSONL, "{\"tokens\":[],\"labels\":[]}\n{\"tokens\":[\"\\ud800\"]}", "|\xef\xbf\xbd;");
}

static void test_jsonl_faults(void **state)
{
    (void)state;
    expect_fault(JSONL, "{\"tokens\": [\"a\"], \"labels\": []}", 1, 1, "different lengths");
    expect_fault(JSONL, "{\"labels\": [\"a\"]}", 1, 1, "no tokens");
    expect_fault(JSONL, "\n[1]", 2, 1, "an object");
    expect_fault(JSONL, "{\"tokens\": [\"a", 1, 13, "does not end");
    expect_fault(JSONL, "{\"tokens\": [\"\"]}", 1, 13, "empty");
    expect_fault(JSONL, "{\"tokens\": [1]}", 1, 13, "a string");
    expect_fault(JSONL, "{\"tokens\": [\"a\"]} x", 1, 19, "more than one");
    expect_fault(JSONL, "{\"tokens\": [\"a\"], \"tokens\": []}", 1, 19, "twice");
    expect_fault(JSONL, "{\"tokens\": [\"\\q\"]}", 1, 15, "escape");
    expect_fault(JSONL, "{\"x\": tru}", 1, 7, "a value");
    expect_fault(JSONL, "{\"tokens\":[\"a\"]}\n{\"tokens\":[\"a\"],\"labels\":[\"b\"]}", 2, 1,
                 "not as many columns");
    char deep[400];
    snprintf(
        deep, sizeof deep, "{\"x\":%.*s", 100,
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
        "[[[[[[[[[[[[[[[[[[");
    expect_fault(JSONL, deep, 1, 70, "too deeply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conllu), cmocka_unit_test(test_mallet),
                                       cmocka_unit_test(test_jsonl),
                                       cmocka_unit_test(test_jsonl_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
