/* test_reader.c -- the format guessed from the first lines, and reading in either. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/buf.h"
#include "trellis/sequence.h"

static trl_error err;
static char path[] = "/tmp/trellis-reader-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static trl_reader *open_text(const char *text, size_t n, trl_format format)
{
    trl_reader *r = NULL;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
    assert_ok(trl_reader_open(path, format, &r, &err));
    return r;
}

static trl_format guessed(const char *text)
{
    trl_reader *r = open_text(text, strlen(text), TRL_FORMAT_GUESS);
    const trl_format format = trl_reader_format(r);
    trl_reader_free(r);
    return format;
}

static void test_guess(void **state)
{
    (void)state;
    static const char *const columns[] = {
        "",
        "\n\n",
        "the DT B-NP\ncat NN I-NP\n\n",
        "the",
        "a=b c=d X\n",
        "the\tDT\tB-NP\ncat\tNN\tI-NP\n\n",
        "the\tDT\tB-NP\r\ncat\tNN\tI-NP\r\n",
        "# sent_id = 1\nthe\tDT\tB-NP\ncat\tNN\tI-NP\n", /* a fault in columns */
        "w=the\tp=DT\tB-NP\nw=cat\tp=NN\tI-NP\n",        /* the label comes last */
        "x=y\tNN\tO\nhttp://a?b=1\tNN\tO\nthe\tDT\tO\n",
        "\xef\xbb\xbfthe\tDT\nab\tNN\n",
    };
    static const char *const items[] = {
        "B-NP\tw[0]=the\tpos[0]=DT\nI-NP\tw[0]=cat\tpos[0]=NN\n", /* as many on each */
        "B\tx\ty\nI\tz\n",
        "A\tw=1\n",
        "A\tw:0.5\tv:2\n",
        "A\tw[0]\tw[1]\n",
        "@weight:2\nA\tx\n",
        "@weight:0.5\tA\tx\ty\n",
        "\n\nA\tx=1\ty=2\n\n",
        "A\tw[0]=\\\tx=1\n",
        ("\xef\xbb\xbf"
         "A\tx=1\ty=2\r\nB\tx=3\r\n"),
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (guessed(columns[i]) != TRL_FORMAT_COLUMNS)
            fail_msg("columns %zu", i);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (guessed(items[i]) != TRL_FORMAT_CRFSUITE)
            fail_msg("items %zu", i);
}

/* One line of a long file has a column too few: that is a fault, no reason to read items. */
static void test_one_odd_line(void **state)
{
    (void)state;
    trl_buf text = {0};
    for (int i = 0; i < 100; i++)
        trl_buf_str(&text, i == 30 ? "cat\tI-NP\n" : "the\tDT\tB-NP\n");
    trl_reader *r = open_text(text.data, text.len, TRL_FORMAT_GUESS);
    trl_rows rows;
    bool more;
    assert_int_equal(trl_reader_format(r), TRL_FORMAT_COLUMNS);
    assert_int_equal(trl_reader_rows(r, &rows, &more, &err), TRL_EPARSE);
    assert_int_equal(err.row, 31);
    assert_string_equal(err.path, path);
    trl_reader_free(r);
    trl_buf_fini(&text);
}

static void test_read(void **state)
{
    (void)state;
    static const char text[] = "A\tx:2\ty\n\nB\tz\n";
    trl_items items;
    trl_rows rows;
    bool more;
    trl_reader *r = open_text(text, sizeof text - 1, TRL_FORMAT_GUESS);
    assert_int_equal(trl_reader_rows(r, &rows, &more, &err), TRL_EINVAL);
    assert_string_equal(err.path, path);
    assert_ok(trl_reader_items(r, &items, &more, &err));
    assert_true(more);
    assert_int_equal(items.n_tokens, 1);
    assert_true(items.attr[0].value == 2.0);
    assert_ok(trl_reader_items(r, &items, &more, &err));
    assert_true(more);
    assert_int_equal(items.first_row, 3);
    assert_ok(trl_reader_items(r, &items, &more, &err));
    assert_false(more);
    trl_reader_free(r);

    r = open_text(text, sizeof text - 1, TRL_FORMAT_COLUMNS); /* what is said counts */
    assert_int_equal(trl_reader_format(r), TRL_FORMAT_COLUMNS);
    assert_int_equal(trl_reader_items(r, &items, &more, &err), TRL_EINVAL);
    assert_ok(trl_reader_rows(r, &rows, &more, &err));
    assert_int_equal(rows.n_columns, 3);
    assert_int_equal(trl_reader_rows(r, &rows, &more, &err), TRL_EPARSE);
    trl_reader_free(r);
}

static void test_no_file(void **state)
{
    (void)state;
    trl_reader *r = NULL;
    assert_int_equal(trl_reader_open("/no/such/file", TRL_FORMAT_GUESS, &r, &err), TRL_EIO);
    assert_string_equal(err.path, "/no/such/file");
    trl_reader_free(NULL);
}

static trl_look look_of(const char *text, trl_format format)
{
    trl_rows rows;
    trl_items items;
    bool more = false;
    trl_look look;
    trl_reader *r = open_text(text, strlen(text), format);
    if (format == TRL_FORMAT_COLUMNS) {
        assert_ok(trl_reader_rows(r, &rows, &more, &err));
        look = trl_rows_look(&rows);
    } else {
        assert_ok(trl_reader_items(r, &items, &more, &err));
        look = trl_items_look(&items);
    }
    assert_true(more);
    trl_reader_free(r);
    return look;
}

/* Columns and items taken for each other, and items without labels. */
static void test_look(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        trl_look as_columns, as_items;
    } cases[] = {
        {"the DT B\ncat NN I\n", TRL_LOOK_RIGHT, TRL_LOOK_COLUMNS},
        {"the\tDT\tB\ncat\tNN\tI\n", TRL_LOOK_RIGHT, TRL_LOOK_RIGHT},
        {"B\tw=the\tp=DT\nI\tw=cat\tp=NN\n", TRL_LOOK_ITEMS, TRL_LOOK_RIGHT},
        {"B\tw[0]=the\tx:2\nI\tw[0]=cat\tx:3\n", TRL_LOOK_ITEMS, TRL_LOOK_RIGHT},
        {"w=the\tp=DT\nw=cat\tp=NN\n", TRL_LOOK_UNLABELLED, TRL_LOOK_UNLABELLED},
        {"w=the\tp=DT\tB\nw=cat\tp=NN\tI\n", TRL_LOOK_RIGHT, TRL_LOOK_UNLABELLED},
        {"B\nI\n", TRL_LOOK_RIGHT, TRL_LOOK_RIGHT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(look_of(cases[i].text, TRL_FORMAT_COLUMNS), cases[i].as_columns);
        assert_int_equal(look_of(cases[i].text, TRL_FORMAT_CRFSUITE), cases[i].as_items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guess), cmocka_unit_test(test_one_odd_line),
        cmocka_unit_test(test_read),  cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_look),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
