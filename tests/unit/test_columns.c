/* test_columns.c -- cells, sequences, and the places of faults. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "text/columns.h"

static trl_error err;

/* Reads everything; out gets "row|cell cell|cell cell\n" per sequence. */
static trl_status read_all(const void *bytes, size_t n, trl_buf *out)
{
    trl_input *in = NULL;
    trl_columns *r = NULL;
    assert_ok(trl_input_memory("in", bytes, n, &in, &err));
    assert_ok(trl_columns_new(in, &r, &err));
    trl_status st;
    for (;;) {
        trl_rows seq;
        bool more = false;
        st = trl_columns_next(r, &seq, &more, &err);
        if (st != TRL_OK || !more)
            break;
        assert_true(seq.n_tokens > 0);
        assert_string_equal(seq.path, "in");
        trl_buf_fmt(out, "%d", (int)seq.first_row);
        for (size_t t = 0; t < seq.n_tokens; t++)
            for (size_t c = 0; c < seq.n_columns; c++) {
                const trl_str s = seq.cell[t * seq.n_columns + c];
                trl_buf_ch(out, c ? ' ' : '|');
                trl_buf_add(out, s.p, s.n);
            }
        trl_buf_ch(out, '\n');
    }
    trl_columns_free(r);
    trl_input_free(in);
    trl_buf_ch(out, '\0');
    return st;
}

/* The headings of the sequences and, last, of the end, each followed by ';'. */
static void expect_headings(const char *text, const char *want)
{
    trl_buf out = {0};
    trl_input *in = NULL;
    trl_columns *r = NULL;
    assert_ok(trl_input_memory("in", text, strlen(text), &in, &err));
    assert_ok(trl_columns_new(in, &r, &err));
    for (bool more = true; more;) {
        trl_rows seq;
        assert_ok(trl_columns_next(r, &seq, &more, &err));
        assert_int_equal(seq.n_tokens > 0, more);
        trl_buf_add(&out, seq.heading.p, seq.heading.n);
        trl_buf_ch(&out, ';');
    }
    trl_buf_ch(&out, '\0');
    assert_string_equal(out.data, want);
    trl_columns_free(r);
    trl_input_free(in);
    trl_buf_fini(&out);
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

static void expect_fault(const char *text, size_t n, uint64_t row, uint64_t col)
{
    trl_buf out = {0};
    assert_int_equal(read_all(text, n, &out), TRL_EPARSE);
    assert_string_equal(err.path, "in");
    assert_int_equal(err.row, row);
    assert_int_equal(err.col, col);
    trl_buf_fini(&out);
}

static void test_layout(void **state)
{
    (void)state;
    expect("", "");
    expect("\n \n\t\n\r\n", "");
    expect("a b\n", "1|a b\n");
    expect("a b", "1|a b\n");
    expect("a b\nc d\n\ne f\n", "1|a b|c d\n4|e f\n");
    expect("\n\n a \t b \t\r\n\tc\td\r\n  \t \r\n\n\ne f", "3|a b|c d\n8|e f\n");
    expect("# # I-NP\n## x O\n", "1|# # I-NP|## x O\n");
    expect("\xef\xbb\xbfx y\n", "1|x y\n");
    expect("\xc3\xa9 \xff\n", "1|\xc3\xa9 \xff\n");
    expect("a\vb c\rd\n", "1|a\vb c\rd\n");
}

static void test_packed(void **state)
{
    (void)state;
    const char text[] = "a b\r\nc d\r\n\r\ne f";
    unsigned char pack[256];
    z_stream z = {0};
    unsigned char copy[sizeof text];
    memcpy(copy, text, sizeof text);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = copy;
    z.avail_in = sizeof text - 1;
    z.next_out = pack;
    z.avail_out = sizeof pack;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    expect_bytes(pack, z.total_out, "1|a b|c d\n4|e f\n");
    deflateEnd(&z);
    const size_t m = ZSTD_compress(pack, sizeof pack, text, sizeof text - 1, 1);
    expect_bytes(pack, m, "1|a b|c d\n4|e f\n");
}

static void test_faults(void **state)
{
    (void)state;
    const char surplus[] = "a b\n\nc  d\te f\n";
    expect_fault(surplus, sizeof surplus - 1, 3, 6);
    assert_string_equal(err.msg, "4 columns here, but 2 on line 1");
    const char missing[] = "\n a b c\r\nd e  \r\n";
    expect_fault(missing, sizeof missing - 1, 3, 6);
    assert_string_equal(err.msg, "2 columns here, but 3 on line 2");
    assert_string_equal(err.hint, "");
    const char comment[] = "a b\n#\n";
    expect_fault(comment, sizeof comment - 1, 2, 2);
    assert_string_equal(err.msg, "1 column here, but 2 on line 1");
    assert_true(err.hint[0] != '\0');
    const char nul[] = "a b\nc d\0e\n";
    expect_fault(nul, sizeof nul - 1, 2, 4);
    expect_fault("\0", 1, 1, 1);
}

static void test_place_of_cells(void **state)
{
    (void)state;
    const char text[] = "  a\t\tbc  d\nx y z\n";
    trl_input *in = NULL;
    trl_columns *r = NULL;
    trl_rows seq;
    bool more;
    assert_ok(trl_input_memory("in", text, sizeof text - 1, &in, &err));
    assert_ok(trl_columns_new(in, &r, &err));
    assert_ok(trl_columns_next(r, &seq, &more, &err));
    assert_int_equal(trl_rows_col(&seq, 0, 0), 3);
    assert_int_equal(trl_rows_col(&seq, 0, 1), 6);
    assert_int_equal(trl_rows_col(&seq, 0, 2), 10);
    assert_int_equal(trl_rows_col(&seq, 1, 2), 5);
    const trl_rows own = {.n_tokens = 2, .n_columns = 3, .cell = seq.cell};
    assert_int_equal(trl_rows_col(&own, 1, 2), 0);
    assert_ok(trl_columns_next(r, &seq, &more, &err));
    assert_false(more);
    assert_ok(trl_columns_next(r, &seq, &more, &err));
    assert_false(more);
    trl_columns_free(r);
    trl_input_free(in);
    trl_columns_free(NULL);
}

/* One sequence of 100,000 tokens between two short ones; every cell is checked. */
static void test_long(void **state)
{
    (void)state;
    const size_t n = 100000;
    trl_buf text = {0};
    trl_buf_str(&text, "a b c\n\n");
    for (size_t t = 0; t < n; t++)
        trl_buf_fmt(&text, "w%zu  p%zu\tL\n", t, t % 7);
    trl_buf_str(&text, "\nx y z");
    trl_input *in = NULL;
    trl_columns *r = NULL;
    trl_rows seq;
    bool more;
    assert_ok(trl_input_memory("in", text.data, text.len, &in, &err));
    assert_ok(trl_columns_new(in, &r, &err));
    assert_ok(trl_columns_next(r, &seq, &more, &err));
    assert_int_equal(seq.n_tokens, 1);
    assert_ok(trl_columns_next(r, &seq, &more, &err));
    assert_int_equal(seq.n_tokens, n);
    assert_int_equal(seq.first_row, 3);
    for (size_t t = 0; t < n; t++) {
        char want[32];
        const int len = snprintf(want, sizeof want, "w%zu", t);
        assert_int_equal(seq.cell[t * 3].n, len);
        assert_memory_equal(seq.cell[t * 3].p, want, (size_t)len);
        assert_int_equal(seq.cell[t * 3 + 1].p[1], '0' + (int)(t % 7));
        assert_int_equal(seq.cell[t * 3 + 2].n, 1);
    }
    assert_ok(trl_columns_next(r, &seq, &more, &err));
    assert_int_equal(seq.n_tokens, 1);
    assert_int_equal(seq.first_row, n + 4);
    trl_columns_free(r);
    trl_input_free(in);
    trl_buf_fini(&text);
}

/* Lines -DOCSTART- end a sequence, are not tokens whatever their width, and go with the next one.
 */
static void test_documents(void **state)
{
    (void)state;
    expect("-DOCSTART- -X- O\n\na b\nc d\n-DOCSTART-\ne f\n\n-DOCSTART- x\n", "3|a b|c d\n6|e f\n");
    expect_headings("-DOCSTART- -X- O\n\na b\nc d\n-DOCSTART-\ne f\n\n-DOCSTART- x\n",
                    "-DOCSTART- -X- O\n;-DOCSTART-\n;-DOCSTART- x\n;");
    expect_headings("-DOCSTART-\n\n-DOCSTART- 2\na b\n", "-DOCSTART-\n-DOCSTART- 2\n;;");
    expect_headings("a b\n", ";;");
    expect("-DOCSTART-s b\nx -DOCSTART-\n", "1|-DOCSTART-s b|x -DOCSTART-\n");
    expect_fault("-DOCSTART- \0\n", 13, 1, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout), cmocka_unit_test(test_packed),
        cmocka_unit_test(test_faults), cmocka_unit_test(test_place_of_cells),
        cmocka_unit_test(test_long),   cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
