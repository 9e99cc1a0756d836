/* test_items.c -- names, values, weights, and the places of faults. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <locale.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "text/items.h"

static trl_error err;

/* out gets "row w=weight|LABEL name=value name=value|LABEL ...\n" per sequence. */
static trl_status read_all(const void *bytes, size_t n, trl_buf *out)
{
    trl_input *in = NULL;
    trl_item_reader *r = NULL;
    assert_ok(trl_input_memory("in", bytes, n, &in, &err));
    assert_ok(trl_item_reader_new(in, &r, &err));
    trl_status st;
    for (;;) {
        trl_items seq;
        bool more = false;
        st = trl_items_next(r, &seq, &more, &err);
        if (st != TRL_OK || !more)
            break;
        assert_true(seq.n_tokens > 0);
        assert_string_equal(seq.path, "in");
        assert_int_equal(seq.begin[0], 0);
        trl_buf_fmt(out, "%d w=%g", (int)seq.first_row, seq.weight);
        for (size_t t = 0; t < seq.n_tokens; t++) {
            trl_buf_fmt(out, "|%.*s", (int)seq.label[t].n, seq.label[t].p);
            for (size_t i = seq.begin[t]; i < seq.begin[t + 1]; i++) {
                const trl_attr *a = &seq.attr[i];
                trl_buf_fmt(out, " %.*s=%g", (int)a->name.n, a->name.p, a->value);
            }
        }
        trl_buf_ch(out, '\n');
    }
    trl_item_reader_free(r);
    trl_input_free(in);
    trl_buf_ch(out, '\0');
    return st;
}

static void expect_bytes(const void *bytes, size_t n, const char *want)
{
    trl_buf out = {0};
    const trl_status st = read_all(bytes, n, &out);
    assert_ok(st);
    assert_string_equal(out.data, want);
    trl_buf_fini(&out);
}

static void expect(const char *text, const char *want)
{
    expect_bytes(text, strlen(text), want);
}

static void expect_fault(const char *text, uint64_t row, uint64_t col, const char *part)
{
    trl_buf out = {0};
    assert_int_equal(read_all(text, strlen(text), &out), TRL_EPARSE);
    assert_string_equal(err.path, "in");
    assert_int_equal(err.row, row);
    assert_int_equal(err.col, col);
    if (!strstr(err.msg, part))
        fail_msg("'%s' is not in '%s'", part, err.msg);
    trl_buf_fini(&out);
}

static void test_layout(void **state)
{
    (void)state;
    expect("", "");
    expect("\n\t\n  \r\n", "");
    expect("A", "1 w=1|A\n");
    expect("A\tx\ty\nB\n\nC\tz\n", "1 w=1|A x=1 y=1|B\n4 w=1|C z=1\n");
    expect("\xef\xbb\xbf\r\nA\tx\r\n\t\r\n\r\nB\ty", "2 w=1|A x=1\n5 w=1|B y=1\n");
    expect("A\t\tx\t\t\ty\t\n", "1 w=1|A x=1 y=1\n");
    expect("B NP\tw[0]=a b\n", "1 w=1|B NP w[0]=a b=1\n");
    expect("#\t#\n", "1 w=1|# #=1\n");
}

static void test_values(void **state)
{
    (void)state;
    expect("A\tx:2\ty:-.5\tz:1e3\tv:\tu:+0.25e+1\n", "1 w=1|A x=2 y=-0.5 z=1000 v=1 u=2.5\n");
    expect("A\t:3\n", "1 w=1|A =3\n");
    expect("A\tx:1e-999\ty:-0\n", "1 w=1|A x=0 y=-0\n");
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) { /* ',' as the decimal point */
        trl_buf out = {0};
        assert_int_equal(read_all("A\tx:1.5\n", 8, &out), TRL_OK);
        setlocale(LC_NUMERIC, "C");
        assert_non_null(strstr(out.data, " x=1.5"));
        trl_buf_fini(&out);
    }
}

static void test_escapes(void **state)
{
    (void)state;
    expect("A\ta\\:b\t\\\\\tp\\:q\\\\:4\tc:1\n", "1 w=1|A a:b=1 \\=1 p:q\\=4 c=1\n");
    expect("B\\:x\\\\y\tz\n", "1 w=1|B:x\\y z=1\n");
    expect("A\t\\n\\\\n\t\\t:2\n", "1 w=1|A \\n\\n=1 \\t=2\n");
    expect("A\t\\:\t\\:\\::7\n", "1 w=1|A :=1 ::=7\n");
    expect("A\tw[0]=\\\tx\\\\\\\n", "1 w=1|A w[0]=\\=1 x\\\\=1\n"); /* lone, at a field's end */
    expect("B\\\tx\\", "1 w=1|B\\ x\\=1\n");
}

/* A colon as the whole label: as CRFsuite's tagger and its example for parts of speech write it. */
static void test_colon_label(void **state)
{
    (void)state;
    expect(":\tw[0]=\\:\n\\:\tx\n", "1 w=1|: w[0]=:=1|: x=1\n");
    expect("@weight:2\t:\tx\n:\n:", "1 w=2|: x=1|:|:\n");
    expect_fault(":x\ty\n", 1, 1, "no label before the colon");
    expect_fault("A\n::\ty\n", 2, 1, "no label before the colon");
}

/* Lines as CRFsuite's example for named entities writes them, with empty values, and names of any
 * length. */
static void test_example_lines(void **state)
{
    (void)state;
    expect("B-LOC\tw[0]=Melbourne\tchk[0]=B-NP\tchk[-1]|chk[0]=I-NP|B-NP\tp2[1]=\td&-[0]=no\t__BOS_"
           "_\n",
           "1 w=1|B-LOC w[0]=Melbourne=1 chk[0]=B-NP=1 chk[-1]|chk[0]=I-NP|B-NP=1 p2[1]==1 "
           "d&-[0]=no=1 "
           "__BOS__=1\n");
    enum { LONG = 100000 };
    trl_buf in = {0}, want = {0};
    trl_buf_str(&in, "A\tw=");
    trl_buf_str(&want, "1 w=1|A w=");
    for (int i = 0; i < LONG; i++) {
        trl_buf_str(&in, i % 7 ? "x" : "\\:");
        trl_buf_ch(&want, i % 7 ? 'x' : ':');
    }
    trl_buf_str(&in, ":2\n");
    trl_buf_str(&want, "=2\n");
    trl_buf_ch(&want, '\0');
    expect_bytes(in.data, in.len, want.data);
    trl_buf_fini(&in);
    trl_buf_fini(&want);
}

static void test_weight(void **state)
{
    (void)state;
    expect("@weight:2\nA\tx\n\nB\ty\n", "2 w=2|A x=1\n4 w=1|B y=1\n");
    expect("@weight:0.5\tA\tx\nB\n", "1 w=0.5|A x=1|B\n");
    expect("A\n@weight:3\t\nB\t@weight:9\n", "1 w=3|A|B @weight=9\n");
    expect("@weight:3\n\nA\n", "3 w=1|A\n");
    expect("@weight:3\n\n", "");
    expect("@weight:0\t@weight:4\tA\n", "1 w=4|A\n");
    expect("@\tx\n@USER\ty\n", "1 w=1|@ x=1|@USER y=1\n");
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("A\tx\n\nB\tyy\tz:nan\n", 3, 8, "'nan' is not finite");
    expect_fault("A\tx:inf\n", 1, 5, "not finite");
    expect_fault("A\tx:-Infinity\n", 1, 5, "not finite");
    expect_fault("A\tx:1e999\r\n", 1, 5, "'1e999' is not finite");
    expect_fault("A\tx:abc\n", 1, 5, "'abc' is not a number");
    expect_fault("A\tx:1:2\n", 1, 5, "not a number");
    assert_string_equal(err.hint, "write '\\:' for a colon in a name");
    expect_fault("A\tx:1 \n", 1, 5, "not a number");
    expect_fault("A\tx\\\\:0x10\n", 1, 7, "not a number");
    expect_fault("\tx\n", 1, 1, "no label");
    expect_fault(":1\tx\n", 1, 1, "no label");
    expect_fault("@weight:2\t\tA\n", 1, 11, "no label");
    expect_fault("A:B\tx\n", 1, 2, "a label has no value");
    expect_fault("@weight:-1\n", 1, 9, "negative");
    expect_fault("@weight:x\n", 1, 9, "not a number");
    expect_fault("@weight:nan\n", 1, 9, "not finite");
    expect_fault("@weight\tA\n", 1, 1, "@weight without");
    expect_fault("@wieght:2\tA\n", 1, 8, "a label has no value");
}

static void test_packed(void **state)
{
    (void)state;
    const char text[] = "A\tx:2\r\n\r\nB\ty";
    unsigned char pack[256], copy[sizeof text];
    z_stream z = {0};
    memcpy(copy, text, sizeof text);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = copy;
    z.avail_in = sizeof text - 1;
    z.next_out = pack;
    z.avail_out = sizeof pack;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    expect_bytes(pack, z.total_out, "1 w=1|A x=2\n3 w=1|B y=1\n");
    deflateEnd(&z);
    const size_t m = ZSTD_compress(pack, sizeof pack, text, sizeof text - 1, 1);
    expect_bytes(pack, m, "1 w=1|A x=2\n3 w=1|B y=1\n");
}

static void test_long(void **state)
{
    (void)state;
    const size_t n = 100000;
    trl_buf text = {0};
    for (size_t t = 0; t < n; t++)
        trl_buf_fmt(&text, "L%zu\tw\\:%zu:%zu\tb\n", t % 5, t, t);
    trl_input *in = NULL;
    trl_item_reader *r = NULL;
    trl_items seq;
    bool more;
    assert_ok(trl_input_memory("in", text.data, text.len, &in, &err));
    assert_ok(trl_item_reader_new(in, &r, &err));
    assert_ok(trl_items_next(r, &seq, &more, &err));
    assert_int_equal(seq.n_tokens, n);
    assert_int_equal(seq.begin[n], 2 * n);
    for (size_t t = 0; t < n; t++) {
        char want[32];
        const int len = snprintf(want, sizeof want, "w:%zu", t);
        assert_int_equal(seq.begin[t], 2 * t);
        assert_int_equal(seq.attr[2 * t].name.n, len);
        assert_memory_equal(seq.attr[2 * t].name.p, want, (size_t)len);
        assert_true(seq.attr[2 * t].value == (double)t);
        assert_int_equal(seq.label[t].p[1], '0' + (int)(t % 5));
    }
    assert_ok(trl_items_next(r, &seq, &more, &err));
    assert_false(more);
    trl_item_reader_free(r);
    trl_input_free(in);
    trl_buf_fini(&text);
    trl_item_reader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),        cmocka_unit_test(test_values),
        cmocka_unit_test(test_escapes),       cmocka_unit_test(test_weight),
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_long),          cmocka_unit_test(test_colon_label),
        cmocka_unit_test(test_example_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
