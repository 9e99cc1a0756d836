/* test_dump.c -- dump and undump are inverse; faults have a place; the table of top weights. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <locale.h>
#include <unistd.h>

#include "base/buf.h"
#include "model/dump_text.h"
#include "toy_model.h"

static trl_error err;

static trl_status to_buf(void *ctx, const char *text, size_t n, trl_error *e)
{
    return trl_buf_add(ctx, text, n) ? TRL_OK : (e->code = TRL_ENOMEM);
}

static void check_same(const toy *y)
{
    trl_buf text = {0};
    unsigned char *bytes = NULL;
    size_t n;
    assert_ok(trl_model_dump(y->m, to_buf, &text, &err));
    for (size_t i = 0; i < text.len; i++) /* printable, whatever the names */
        assert_true((unsigned char)text.data[i] >= ' ' || strchr("\t\n", text.data[i]));
    const trl_status st = trl_model_undump_memory("d", text.data, text.len, &bytes, &n, &err);
    if (st != TRL_OK)
        fail_msg("%llu:%llu: %s", (unsigned long long)err.row, (unsigned long long)err.col,
                 err.msg);
    assert_int_equal(n, y->size);
    assert_memory_equal(bytes, y->bytes, n);
    trl_free(bytes);
    trl_buf_fini(&text);
}

static void test_inverse(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(1);
    for (int trial = 0; trial < 300; trial++) {
        toy y;
        toy_make(&rng, toy_random_shape(&rng, 6), &y);
        check_same(&y);
        toy_free(&y);
    }
}

/* Floats of every size, the smallest and largest included, in a locale with another point. */
static void test_floats(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(2);
    toy y;
    toy_make(&rng, (toy_shape){.L = 8, .A = 60, .n_sequences = 200, .max_T = 9, .order = 1}, &y);
    for (size_t i = 0; i < y.d.n_weights; i++) {
        uint32_t bits = (uint32_t)trl_rng_u64(&rng);
        bits = i % 9 == 0 ? bits & 0x807fffff : i % 9 == 1 ? 0x7f7fffff : i % 9 == 2 ? 1 : bits;
        if ((bits & 0x7f800000) == 0x7f800000)
            bits &= 0xbfffffff;
        float x;
        memcpy(&x, &bits, sizeof x);
        y.w[i] = (double)x;
    }
    trl_clear_dead(&y.d, y.w);
    trl_model_free(y.m);
    trl_free(y.bytes);
    const trl_chain_model_spec spec = toy_spec(&y);
    assert_ok(trl_chain_model_to_buffer(&spec, &y.bytes, &y.size, &err));
    assert_ok(trl_model_from_memory(y.bytes, y.size, &y.m, &err));
    check_same(&y);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        check_same(&y);
        setlocale(LC_NUMERIC, "C");
    }
    toy_free(&y);
}

static void expect_field(const char *bytes, size_t n, const char *want, size_t width)
{
    trl_buf b = {0};
    assert_int_equal(trl_put_field(&b, (trl_str){bytes, n}), width);
    assert_int_equal(b.len, strlen(want));
    assert_memory_equal(b.data, want, b.len);
    size_t back = b.len;
    assert_true(trl_unescape_field(b.data, &back));
    assert_int_equal(back, n);
    assert_memory_equal(b.data, bytes, n);
    trl_buf_fini(&b);
}

static void test_escapes(void **state)
{
    (void)state;
    expect_field("plain", 5, "plain", 5);
    expect_field("\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82", 9, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82",
                 3);
    expect_field("\t\n\r\\\0\x7f", 6, "\\t\\n\\r\\\\\\x00\\x7f", 16);
    expect_field("\xff\xc3", 2, "\\xff\\xc3", 8);
    expect_field("\xc2\x85\xc0\x80", 4, "\\xc2\\x85\\xc0\\x80", 16); /* control, overlong */
    expect_field("\xed\xa0\x80", 3, "\\xed\\xa0\\x80", 12);          /* surrogate */
    expect_field("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80", 16); /* beyond U+10FFFF */
    expect_field("\xe2\x82"
                 "a",
                 3, "\\xe2\\x82a", 9);
    static const char *const bad[] = {"a\\", "\\q", "\\x", "\\x4", "\\x4g", "\\\t"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char copy[8];
        size_t n = strlen(bad[i]);
        memcpy(copy, bad[i], n);
        assert_false(trl_unescape_field(copy, &n));
        assert_int_equal(n, i == 0);
    }
}

/* Whatever is cut off, it is noticed; without the line `last`, as older programs wrote dumps, a cut
 * after the labels is not. */
static void test_cut(void **state)
{
    (void)state;
    static const char promise[] = "last\tend\n";
    trl_rng rng = trl_rng_seed(3);
    for (int trial = 0; trial < 20; trial++) {
        toy y;
        trl_buf text = {0};
        unsigned char *bytes = NULL;
        size_t n;
        toy_make(&rng, toy_random_shape(&rng, 4), &y);
        assert_ok(trl_model_dump(y.m, to_buf, &text, &err));
        for (size_t cut = 0; cut < text.len - 1; cut += cut < 400 ? 1 : 1 + trl_rng_below(&rng, 90))
            assert_int_equal(trl_model_undump_memory("d", text.data, cut, &bytes, &n, &err),
                             TRL_EPARSE);
        trl_buf_ch(&text, '\0');
        char *at = strstr(text.data, promise);
        assert_non_null(at);
        memmove(at, at + sizeof promise - 1, strlen(at + sizeof promise - 1) + 1);
        const size_t old = strlen(text.data) - strlen("end\n");
        assert_ok(trl_model_undump_memory("d", text.data, old, &bytes, &n, &err));
        assert_int_equal(n, y.size);
        assert_memory_equal(bytes, y.bytes, n);
        trl_free(bytes);
        trl_buf_fini(&text);
        toy_free(&y);
    }
}

#define REST "objective\tlikelihood\nprobability\tyes\n"
#define HEAD "trellis-model\t1\nkind\tchain\n" REST
#define FULL HEAD "order\t1\ncolumns\t0\nlabel\tA\nlabel\tB\n"

static void expect_fault(const char *text, uint64_t row, uint64_t col, const char *msg)
{
    unsigned char *bytes = NULL;
    size_t n;
    const trl_status st = trl_model_undump_memory("dump.txt", text, strlen(text), &bytes, &n, &err);
    if (st != TRL_EPARSE || !strstr(err.msg, msg) || err.row != row || err.col != col)
        fail_msg("'%s': status %d, %llu:%llu '%s'", msg, (int)st, (unsigned long long)err.row,
                 (unsigned long long)err.col, st ? err.msg : "");
    assert_string_equal(err.path, "dump.txt");
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("", 0, 0, "not a dump");
    expect_fault("B-NP\tw\n", 1, 1, "not a dump");
    expect_fault("trellis-model\t2\n", 1, 15, "version '2'");
    expect_fault("# text\n\ntrellis-model\t1\nwhat\tx\n", 4, 1, "'what' is not known");
    expect_fault("trellis-model\t1\nkind\ttree\n", 2, 6, "'tree'");
    expect_fault("trellis-model\t1\nkind chain\n", 2, 1, "not known");
    expect_fault(HEAD "order\t3\n", 5, 7, "1 or 2");
    expect_fault(HEAD "order\t1\t2\n", 5, 1, "3 fields");
    expect_fault(HEAD "columns\t-1\n", 5, 9, "number of columns");
    expect_fault(HEAD "objective\tx\n", 5, 1, "second objective");
    expect_fault(HEAD "probability\tperhaps\n", 5, 13, "'yes' or 'no'");
    expect_fault(HEAD "setting\ta\\x00\n", 5, 9, "NUL");
    expect_fault(HEAD "setting\ta\\y\n", 5, 10, "escape");
    expect_fault(HEAD "node\ta\tA\t1\n", 5, 1, "before the order");
    expect_fault(HEAD "order\t1\nnode\ta\tA\t1\n", 6, 1, "before the labels");
    expect_fault(HEAD "order\t1\nlabel\tA\nlabel\tA\n", 7, 7, "'A' again");
    expect_fault(FULL "node\ta\tA\n", 9, 1, "3 fields");
    expect_fault(FULL "node\ta\tC\t1\n", 9, 8, "'C' is not in the list");
    expect_fault(FULL "node\ta\tA\tx\n", 9, 10, "not a number");
    expect_fault(FULL "node\ta\tA\t1e39\n", 9, 10, "too large");
    expect_fault(FULL "node\ta\tA\tnan\n", 9, 10, "too large");
    expect_fault(FULL "node\ta\tA\t1\nnode\ta\tA\t2\n", 10, 1, "second weight");
    expect_fault(FULL "node\ta\tA\t1\nnode\tb\tA\t1\nnode\ta\tB\t2\n", 11, 6, "'a' is repeated");
    assert_non_null(strstr(err.hint, "together"));
    expect_fault(FULL "node\ta\tA\t1\nlabel\tC\n", 10, 1, "before weights");
    expect_fault(FULL "node\ta\tA\t1\norder\t2\n", 10, 1, "before the weights");
    expect_fault(FULL "trip\ta\tA\tA\tA\t1\n", 9, 1, "triple");
    expect_fault(FULL "constant\ttrip\tT\n", 9, 0, "triples");
    expect_fault(FULL "constant\tnode\tB\n", 9, 10, "'edge' or 'trip'");
    expect_fault(FULL "constant\tedge\tB\nconstant\tedge\tB\n", 10, 1, "second constant");
    expect_fault(FULL "edge\ta\tA\tB\t1\nconstant\tedge\tB\n", 10, 1, "before the weights");
    expect_fault(FULL "node\ta\tA\t1\t1\t1\t1\n", 9, 1, "7 fields, separated by tabs, where 4");
    expect_fault(FULL "node\ta\tA\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", 9, 28, "too many");
    expect_fault(FULL "template\tU:%x[0,0]\n", 9, 0, "0 columns");
    expect_fault(HEAD "order\t1\ncolumns\t2\nlabel\tA\ntemplate\t#\ntemplate\t?\n", 9, 0,
                 "in the template");
    expect_fault(HEAD "order\t1\ncolumns\t2\nlabel\tA\ntemplate\tU:%x[0,4]\n", 8, 0, "5 columns");
    expect_fault(HEAD, 4, 0, "'order'");
    expect_fault(FULL "last\tline\n", 9, 6, "'end' expected");
    expect_fault(FULL "last\tend\nnode\ta\tA\t1\n", 10, 0, "cut off");
    expect_fault(FULL "end\tend\n", 9, 1, "after 'end'");
    expect_fault(FULL "end\nnode\ta\tA\t1\n", 10, 1, "a line after 'end'");
    expect_fault(HEAD "order\t1\ncolumns\t0\n", 6, 0, "'label'");
}

/* What people may write: comments, any order of labels, weights of 0, a constant without any. */
static void test_by_hand(void **state)
{
    (void)state;
    static const char text[] =
        "# a model\n\n" HEAD "order\t1\ncolumns\t0\nlabel\tA\nlabel\tB\nconstant\tedge\tB\n"
        "node\tx\tB\t2\nnode\tx\tA\t-1.5\nnode\tzero\tA\t0\n";
    unsigned char *bytes = NULL;
    size_t n;
    trl_model *m = NULL;
    trl_buf out = {0};
    assert_ok(trl_model_undump_memory("d", text, sizeof text - 1, &bytes, &n, &err));
    assert_ok(trl_model_from_memory(bytes, n, &m, &err));
    const trl_model_info info = trl_model_get_info(m);
    assert_int_equal(info.n_attributes, 2);
    assert_int_equal(info.n_features, 2);
    assert_ok(trl_model_dump(m, to_buf, &out, &err));
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data, "trellis-model\t1\nkind\tchain\nlast\tend\n" REST
                                  "order\t1\ncolumns\t0\nlabel\tA\nlabel\tB\n"
                                  "constant\tedge\tB\nnode\tx\tA\t-1.5\nnode\tx\tB\t2\nend\n");
    trl_buf_fini(&out);
    trl_model_free(m);
    trl_free(bytes);
}

static void test_top(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "order\t1\ncolumns\t0\nlabel\tA\nlabel\t\xc3\xa4 b\nconstant\tedge\tB\n"
             "node\tx\tA\t1\nnode\ty\tA\t3.25\nnode\tz\\t\tA\t-2\nnode\tq\tA\t-1\nnode\tr\tA\t0.5\n"
             "edge\tB\tA\tA\t1.5\nedge\tB\t\xc3\xa4 b\tA\t-1e3\nedge\tw\tA\tA\t-0.25\n";
    unsigned char *bytes = NULL;
    size_t n;
    trl_model *m = NULL;
    trl_buf out = {0};
    assert_ok(trl_model_undump_memory("d", text, sizeof text - 1, &bytes, &n, &err));
    assert_ok(trl_model_from_memory(bytes, n, &m, &err));
    assert_ok(trl_model_dump_top(m, 2, to_buf, &out, &err));
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data, "label A: 5 weights\n"
                                  "  largest\n"
                                  "      3.250000  y\n"
                                  "      1.000000  x\n"
                                  "  smallest\n"
                                  "     -2.000000  z\\t\n"
                                  "     -1.000000  q\n"
                                  "\n"
                                  "label \xc3\xa4 b: 0 weights\n"
                                  "\n"
                                  "pairs of labels: 3 weights\n"
                                  "  largest\n"
                                  "      1.500000  A -> A\n"
                                  "     -0.250000  A -> A    w\n"
                                  "  smallest\n"
                                  "  -1000.000000  \xc3\xa4 b -> A\n"
                                  "\n");
    out.len = 0;
    assert_ok(trl_model_dump_top(m, SIZE_MAX, to_buf, &out, &err));
    assert_ok(trl_model_dump_top(m, 0, to_buf, &out, &err));
    trl_buf_fini(&out);
    trl_model_free(m);
    trl_free(bytes);
}

static trl_status refuse(void *ctx, const char *text, size_t n, trl_error *e)
{
    (void)text;
    (void)n;
    ++*(int *)ctx;
    return e->code = TRL_ECANCEL;
}

static void test_writer_refuses(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    int calls = 0;
    toy y;
    toy_make(&rng, toy_random_shape(&rng, 5), &y);
    assert_int_equal(trl_model_dump(y.m, refuse, &calls, &err), TRL_ECANCEL);
    assert_int_equal(trl_model_dump_top(y.m, 3, refuse, &calls, &err), TRL_ECANCEL);
    assert_int_equal(calls, 2);
    toy_free(&y);
}

static void test_files(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(4);
    char folder[] = "/tmp/trellis-dump-XXXXXX", dump[64], model[64];
    toy y;
    trl_buf text = {0};
    trl_model *m = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(dump, sizeof dump, "%s/dump", folder);
    snprintf(model, sizeof model, "%s/model", folder);
    toy_make(&rng, toy_random_shape(&rng, 5), &y);
    assert_ok(trl_model_dump(y.m, to_buf, &text, &err));
    FILE *f = fopen(dump, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text.data, 1, text.len, f), text.len);
    fclose(f);
    assert_ok(trl_model_undump(dump, model, &err));
    assert_ok(trl_model_open(model, &m, &err));
    assert_int_equal(trl_model_get_info(m).file_size, y.size);
    trl_model_free(m);
    assert_int_equal(trl_model_undump("/no/such/file", model, &err), TRL_EIO);
    assert_int_equal(trl_model_undump(dump, "/no/such/folder/m", &err), TRL_EIO);
    unlink(dump);
    unlink(model);
    assert_int_equal(rmdir(folder), 0);
    trl_buf_fini(&text);
    toy_free(&y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inverse), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_escapes), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_top),     cmocka_unit_test(test_writer_refuses),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
