/* test_template.c -- both dialects: every macro, every fault. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "feature/template.h"

static trl_error err;

#define CELL(s)                                                                                    \
    {                                                                                              \
        s, sizeof s - 1                                                                            \
    }
static const trl_str cells[] = {
    CELL("The"),  CELL("DT"),  CELL("B"), /* 0 */
    CELL("U.S."), CELL("NNP"), CELL("I"),  CELL("rose"), CELL("VBD"),
    CELL("O"),    CELL("7%"),  CELL("CD"), CELL("B"), /* 3 */
};
static const trl_rows rows = {.n_tokens = 4, .n_columns = 3, .cell = cells};

static trl_template *parsed(const char *text)
{
    trl_template *t = NULL;
    assert_ok(trl_template_parse("tpl", text, strlen(text), &t, &err));
    return t;
}

/* Line k at position pos. */
static void expect_line(const trl_template *t, size_t k, size_t pos, const char *want)
{
    trl_buf out = {0};
    trl_buf_str(&out, ">");
    assert_true(trl_template_expand(t, k, &rows, pos, &out));
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data + 1, want);
    assert_int_equal(out.data[0], '>');
    trl_buf_fini(&out);
}

static void expect(const char *text, size_t pos, const char *want)
{
    trl_template *t = parsed(text);
    assert_true(trl_template_count(t) >= 1);
    expect_line(t, 0, pos, want);
    trl_template_free(t);
}

static void expect_fault(const char *text, uint64_t row, uint64_t col)
{
    trl_template *t = NULL;
    assert_int_equal(trl_template_parse("tpl", text, strlen(text), &t, &err), TRL_EPARSE);
    assert_null(t);
    assert_string_equal(err.path, "tpl");
    if (err.row != row || err.col != col)
        fail_msg("'%s': %s at %d:%d", text, err.msg, (int)err.row, (int)err.col);
}

static void test_crfpp(void **state)
{
    (void)state;
    expect("U00:%x[0,0]", 0, "U00:The");
    expect("U01:%x[-1,0]/%x[0,1]\n", 2, "U01:U.S./VBD");
    expect("U01:%x[0,0]%x[0,1]%x[0,2]", 3, "U01:7%CDB");
    expect("U:%x[-1,0]", 0, "U:_B-1");
    expect("U:%x[-3,1]", 1, "U:_B-2");
    expect("U:%x[-12,0]", 1, "U:_B-11");
    expect("U:%x[1,0]", 3, "U:_B+1");
    expect("U:%x[2,0]", 3, "U:_B+2");
    expect("U:%x[8,0]", 1, "U:_B+6");
    expect("U:%x[1000000000,0]", 3, "U:_B+1000000000");
    expect("U:%x[-0,0]", 1, "U:U.S.");
    expect("U:%x[01,0]", 1, "U:rose");
    expect("U:%x[ +1, 0]", 1, "U:rose");
    expect("B01:%x[0,1] # x ", 0, "B01:DT # x ");
    expect("B\r\n", 0, "B");
    expect("U\xc3\xa9:%x[0,0]", 0, "U\xc3\xa9:The");
}

static void test_wapiti(void **state)
{
    (void)state;
    expect("u00:%x[0,0]", 0, "u00:The");
    expect("U00:%X[0,0]|%x[0,0]", 1, "u00:u.s.|U.S.");
    expect("*:Wrd X=%X[ 0,0]  # note", 2, "*:Wrd X=rose");
    expect("u:%x[-1,0]", 0, "u:_x-1");
    expect("u:%x[-4,0]%x[-5,0]%x[-6,0]", 0, "u:_x-4_x-#_x-#");
    expect("u:%x[4,0]%x[5,0]%x[99,0]", 3, "u:_x+4_x+#_x+#");
    expect("u:%x[@1,0]/%x[@2,0]/%x[@-1,0]/%x[@-4,0]", 2, "u:The/U.S./7%/The");
    expect("u:%x[@0,0]%x[@-5,0]%x[@5,0]%X[@9,0]", 2, "u:_x-1_x-1_x+1_x+#");
    expect("u:%X[@ +1,0]", 2, "u:the");
    expect("u:%t[0,0,\"\\u\"]", 0, "u:true");
    expect("u:%t[0,0,\"\\u\"]", 2, "u:false");
    expect("U:%T[0,0,\"^\\u*$\"]", 1, "u:false");
    expect("u:%t[-1,0,\"\\d\"]", 0, "u:true"); /* the digit of _x-1 */
    expect("u:%m[0,0,\"^.?.?\"]|", 0, "u:Th|");
    expect("u:%M[0,0,\"^.?.?\"]|", 0, "u:th|");
    expect("u:%m[0,0,\".?.?$\"]|", 0, "u:he|");
    expect("u:%m[0,0,\"\\d\"]|", 0, "u:|");
    expect("u:%m[0,0,\"\\\"\"]%x[0,0]", 0, "u:The");
    expect("u:%m[+1,0,\"[].S\"]|%m[0,0,\"[]\"]", 0, "u:|");
    expect("u:%m[0,0,\"\"]|", 0, "u:|");
    expect("t:%x[0,1]", 0, "t:DT");
    expect("b", 0, "b");
    expect("*", 0, "*");
    expect("U:%x[0,0] \t\nu", 0, "u:The");
    expect("B#\nu", 0, "b");
}

static void test_dialects(void **state)
{
    (void)state;
    /* one mark anywhere decides for the whole file */
    expect("U:%x[-1,0]\nb", 0, "u:_x-1");
    expect("U:%x[-1,0]\n*", 0, "u:_x-1");
    expect("U:%x[-1,0]\nU:%X[0,0]", 0, "u:_x-1");
    expect("U:%x[-1,0]\nU:%t[0,0,\"a\"]", 0, "u:_x-1");
    expect("U:%x[-1,0]\nU:%x[@1,0]", 0, "u:_x-1");
    /* what is not a mark */
    expect("U:%x[-1,0]\nT:x\nB\n# u %t\n", 0, "U:_B-1");
    expect("U:%x[-1,0]@*u\n", 0, "U:_B-1@*u");
}

static void test_properties(void **state)
{
    (void)state;
    const char *text = "\xef\xbb\xbf# c\r\n\r\nU0:%x[0,0]\r\n  \nB\nB1:%x[-1,1]/%x[0,4]\nT\nU9\n";
    trl_template *t = parsed(text);
    assert_int_equal(trl_template_count(t), 5);
    static const int cliques[] = {TRL_ON_LABEL, TRL_ON_PAIR, TRL_ON_PAIR, TRL_ON_TRIPLE,
                                  TRL_ON_LABEL};
    static const bool constant[] = {false, true, false, true, true};
    for (size_t k = 0; k < 5; k++) {
        assert_int_equal(trl_template_cliques(t, k), cliques[k]);
        assert_int_equal(trl_template_is_constant(t, k), constant[k]);
    }
    assert_int_equal(trl_template_columns(t), 5);
    uint64_t row, col;
    trl_template_place(t, 4, &row, &col);
    assert_int_equal(row, 6);
    assert_int_equal(col, 13);
    trl_template_place(t, 0, &row, &col);
    assert_int_equal(row, 3);
    assert_int_equal(col, 4);
    trl_template_place(t, 2, &row, &col); /* the first one that is missing */
    assert_int_equal(col, 13);
    trl_template_place(t, 5, &row, &col);
    assert_int_equal(row, 0);
    const trl_str s = trl_template_text(t);
    assert_int_equal(s.n, strlen(text));
    assert_memory_equal(s.p, text, s.n);
    expect_line(t, 0, 1, "U0:U.S.");
    expect_line(t, 4, 1, "U9");
    trl_template_free(t);

    t = parsed("*:%x[0,0]\nu\nb\n");
    assert_int_equal(trl_template_cliques(t, 0), TRL_ON_LABEL | TRL_ON_PAIR);
    trl_template_free(t);
    t = parsed("");
    assert_int_equal(trl_template_count(t), 0);
    assert_int_equal(trl_template_columns(t), 0);
    trl_template_free(t);
    trl_template_free(NULL);
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("\n#\nX01:%x[0,0]\n", 3, 1);
    expect_fault(" U:%x[0,0]", 1, 1);
    expect_fault("U:%", 1, 3);
    expect_fault("U:100%\nB", 1, 6);
    expect_fault("U:%%x[0,0]", 1, 3);
    expect_fault("U:%y[0,0]", 1, 3);
    expect_fault("U:%x", 1, 5);
    expect_fault("U:%x(0,0)", 1, 5);
    expect_fault("U:%x[", 1, 6);
    expect_fault("U:%x[a,0]", 1, 6);
    expect_fault("U:%x[-,0]", 1, 6);
    expect_fault("U:%x[0]", 1, 7);
    expect_fault("U:%x[0 ,0]", 1, 7);
    expect_fault("U:%x[0,]", 1, 8);
    expect_fault("U:%x[0,-1]", 1, 8);
    expect_fault("U:%x[0,0", 1, 9);
    expect_fault("U:%x[0,0)\n", 1, 9);
    expect_fault("U:%x[0,0,\"a\"]", 1, 9);
    expect_fault("U:%x[9999999999,0]", 1, 6);
    expect_fault("U:%x[0,99999999999999999999999]", 1, 8);
    expect_fault("u:%x[-010,0]", 1, 6); /* octal to Wapiti */
    expect_fault("u:%t[0,0]", 1, 9);
    expect_fault("u:%t[0,0,a]", 1, 10);
    expect_fault("u:%t[0,0,\"a]", 1, 10);
    expect_fault("u:%t[0,0,\"a\\\"]", 1, 10);
    expect_fault("u:%t[0,0,\"a\"", 1, 13);
    expect_fault("u:%t[0,0,\"a**\"]", 1, 13);
    expect_fault("u\nu:%m[0,0,\"*\"]", 2, 11);
    expect_fault("u:%t[0,0,\"#\"]", 1, 10);
    assert_non_null(strstr(err.hint, "comment"));
    trl_template *t = NULL;
    assert_int_equal(trl_template_parse("tpl", "U:a\0b", 5, &t, &err), TRL_EPARSE);
    assert_int_equal(err.col, 4);
}

/* A cell beyond any buffer. */
static void test_long_cell(void **state)
{
    (void)state;
    const size_t n = 1000000;
    char *word = malloc(n);
    memset(word, 'Q', n);
    const trl_str cell = {word, n};
    const trl_rows one = {.n_tokens = 1, .n_columns = 1, .cell = &cell};
    trl_template *t = parsed("u:%X[0,0]/%x[0,0]/%m[0,0,\"Q.*$\"]");
    trl_buf out = {0};
    assert_true(trl_template_expand(t, 0, &one, 0, &out));
    assert_int_equal(out.len, 2 + n + 1 + n + 1 + n);
    assert_int_equal(out.data[2 + n - 1], 'q');
    assert_int_equal(out.data[2 + n + 1], 'Q');
    trl_buf_fini(&out);
    trl_template_free(t);
    free(word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crfpp),    cmocka_unit_test(test_wapiti),
        cmocka_unit_test(test_dialects), cmocka_unit_test(test_properties),
        cmocka_unit_test(test_faults),   cmocka_unit_test(test_long_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
