/* test_boost_data.c -- examples as text: what is read, what is refused and where, the cache. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/buf.h"
#include "boost/data.h"

static trl_error err;
static char path[64], cache[64];

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static trl_status read_text(const char *text, trl_boost_read_options o, trl_boost_data **d)
{
    const char *paths[1] = {path};
    write_file(text);
    return trl_boost_read(paths, 1, &o, d, &err);
}

/* "name name ..." of a row, in the order of their numbers. */
static const char *row_names(const trl_boost_data *d, size_t i)
{
    static char out[400];
    char scratch[24];
    out[0] = '\0';
    for (uint64_t k = trl_boost_begin(d->row_end, i); k < d->row_end[i]; k++) {
        const trl_str s = trl_boost_feature_name(d, d->id[k], scratch);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%.*s ", (int)s.n, s.p);
    }
    return out;
}

static void test_libsvm(void **state)
{
    (void)state;
    trl_boost_data *d = NULL;
    double v[4];
    assert_ok(read_text("+1 3 7:1 4:0\n-1:0.25 7 # 9:1\n0 7:1.0 3:1 5:1\n1\n",
                        trl_boost_read_options_default(), &d));
    assert_int_equal(d->n, 4);
    assert_int_equal(d->n_features, 3); /* by falling count: 7, 3, 5 */
    assert_string_equal(row_names(d, 0), "7 3 ");
    assert_string_equal(row_names(d, 1), "7 ");
    assert_string_equal(row_names(d, 2), "7 3 5 ");
    assert_string_equal(row_names(d, 3), "");
    assert_int_equal(d->column_end[0], 3);
    assert_int_equal(d->example[2], 2);
    trl_boost_fill(d, 0, v);
    const double want[] = {1.0, -0.25, -1.0, 1.0};
    assert_memory_equal(v, want, sizeof v);
    trl_boost_data_free(d);
}

static void test_vw(void **state)
{
    (void)state;
    trl_boost_data *d = NULL;
    double v[4];
    assert_ok(read_text("1 |w the cat |t DT:1\n-1 0.5 'tag|w the | plain DT\n"
                        "-1 2 first| plain x:0\n",
                        trl_boost_read_options_default(), &d));
    assert_int_equal(d->n, 3);
    assert_string_equal(row_names(d, 0), "w^the w^cat t^DT ");
    assert_string_equal(row_names(d, 1), "w^the plain DT ");
    assert_string_equal(row_names(d, 2), "plain ");
    trl_boost_fill(d, 0, v);
    assert_true(v[0] == 1.0 && v[1] == -0.5 && v[2] == -2.0);
    /* other data, numbered as this: what it does not know is dropped */
    trl_boost_data *like = NULL;
    trl_boost_read_options o = trl_boost_read_options_default();
    o.like = d;
    assert_ok(read_text("-1 |w cat dog the\n", o, &like));
    assert_string_equal(row_names(like, 0), "w^the w^cat ");
    trl_boost_data_free(like);
    trl_boost_data_free(d);
}

static void test_classes(void **state)
{
    (void)state;
    trl_boost_data *d = NULL, *like = NULL;
    trl_boost_read_options o = trl_boost_read_options_default();
    double v[3];
    o.classes = true;
    assert_ok(read_text("NP:2 1 2\nVP 3\nNP 2\n", o, &d));
    assert_int_equal(trl_boost_columns(d), 2);
    trl_boost_fill(d, 1, v);
    assert_true(v[0] == -2.0 && v[1] == 1.0 && v[2] == -1.0);
    o.like = d;
    assert_int_equal(read_text("PP 1\n", o, &like), TRL_EPARSE);
    assert_non_null(strstr(err.msg, "no training example"));
    trl_boost_data_free(d);
}

typedef struct bad_case {
    const char *text, *message;
    uint64_t row, col;
} bad_case;

static void test_bad_lines(void **state)
{
    (void)state;
    static const bad_case cases[] = {
        {"+1 3\n2 4\n", "not +1 or -1", 2, 1},     {"x 3\n", "not +1 or -1", 1, 1},
        {"+1 3\n\n", "without an answer", 2, 1},   {"+1:-2 3\n", "negative", 1, 4},
        {"+1:nan 3\n", "not finite", 1, 4},        {"+1:1e999 3\n", "not finite", 1, 4},
        {"+1:z 3\n", "not a number", 1, 4},        {"-1 3 4\n+1 5 3 5\n", "twice", 2, 8},
        {"-1 2147483648\n", "out of range", 1, 4}, {"-1 -4\n", "not the number", 1, 4},
        {"-1 04\n", "starts with 0", 1, 4},        {"-1 4:0.5\n", "is there (1) or not (0)", 1, 6},
        {"-1 :1\n", "without a number", 1, 4},     {"1 |a b\n1 2 3 4 |a b\n", "'3' before", 2, 5},
        {"1 |a b\n-1 1\n", "without a '|'", 2, 5}, {"1 |a b\n-1 |a :1\n", "without a name", 2, 7},
        {"1 |a b c |d e |a c\n", "twice", 1, 18},  {"1 |a b:2\n", "is there (1) or not (0)", 1, 8},
        {"|a b\n", "without an answer", 1, 1},     {"", "no example", 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        trl_boost_data *d = NULL;
        const trl_status st = read_text(cases[k].text, trl_boost_read_options_default(), &d);
        if (st == TRL_OK || !strstr(err.msg, cases[k].message) || err.row != cases[k].row ||
            err.col != cases[k].col || strcmp(err.path, path) != 0) {
            print_error("%s: %d %s:%d:%d: %s\n", cases[k].text, (int)st, err.path, (int)err.row,
                        (int)err.col, err.msg);
            fail();
        }
        err = (trl_error){0};
    }
}

/* All lines of many blocks, in memory, in a file, from a cache: the same rows and columns. */
static void test_many_rows(void **state)
{
    (void)state;
    trl_buf text = {0};
    trl_boost_data *d[3] = {NULL};
    trl_boost_read_options o = trl_boost_read_options_default();
    const char *paths[1] = {cache};
    for (size_t i = 0; i < 60000; i++)
        trl_buf_fmt(&text, "%d:%zu %zu %zu %zu %zu %zu\n", i % 3 ? 1 : -1, i % 5, i % 7,
                    10 + i % 11, 30 + i % 13, 50 + i % 17, 1000 + i);
    trl_buf_ch(&text, '\0');
    assert_ok(read_text(text.data, o, &d[0]));
    assert_ok(trl_boost_data_save(d[0], cache, &err));
    o.memory = 0;
    assert_ok(read_text(text.data, o, &d[1]));
    assert_true(trl_boost_data_get_info(d[1]).in_file > 0);
    assert_ok(trl_boost_read(paths, 1, &o, &d[2], &err));
    trl_buf_fini(&text);
    const size_t active = trl_boost_active(d[0]);
    assert_int_equal(active, 300000);
    for (size_t k = 1; k < 3; k++) {
        assert_int_equal(d[k]->n, d[0]->n);
        assert_memory_equal(d[k]->row_end, d[0]->row_end, d[0]->n * 8);
        assert_memory_equal(d[k]->id, d[0]->id, active * 4);
        assert_memory_equal(d[k]->column_end, d[0]->column_end, d[0]->n_features * 8);
        assert_memory_equal(d[k]->example, d[0]->example, active * 4);
        assert_memory_equal(d[k]->value, d[0]->value, d[0]->n * 8);
        assert_memory_equal(d[k]->class_of, d[0]->class_of, d[0]->n * 4);
        assert_string_equal(row_names(d[k], 12345), "4 13 38 53 13345 ");
    }
    for (size_t k = 0; k < 3; k++)
        trl_boost_data_free(d[k]);
    /* every byte of a cache matters */
    FILE *f = fopen(cache, "r+b");
    assert_non_null(f);
    fseek(f, 5000, SEEK_SET);
    fputc(77, f);
    fclose(f);
    assert_int_equal(trl_boost_read(paths, 1, &o, &d[0], &err), TRL_EMODEL);
}

/* Examples of a cache in the numbers of other data, with text beside it: as from its text. */
static void test_cache_like(void **state)
{
    (void)state;
    static const char *const text = "yes | a b new\nno 0.5 | c\nyes |\nno | b c a\n";
    trl_boost_data *d = NULL, *other = NULL, *like[2] = {NULL};
    trl_boost_read_options o = trl_boost_read_options_default(), plain = o;
    const char *twice[2] = {cache, path};
    o.classes = true;
    assert_ok(read_text("no | c c2\nyes | b c2\nmaybe | a c2\nyes | b d\n", o, &d));
    assert_ok(read_text(text, o, &other));
    assert_ok(trl_boost_data_save(other, cache, &err));
    trl_boost_data_free(other);
    o.like = d;
    assert_ok(read_text(text, o, &like[0]));
    assert_ok(trl_boost_read(twice, 2, &o, &like[1], &err)); /* the cache, and the text again */
    assert_int_equal(like[1]->n, 8);
    assert_int_equal(like[1]->n_features, d->n_features);
    for (size_t k = 0; k < 8; k++) {
        char want[80];
        snprintf(want, sizeof want, "%s", row_names(like[0], k % 4));
        assert_string_equal(row_names(like[1], k), want);
        assert_int_equal(like[1]->class_of[k], like[0]->class_of[k % 4]);
        assert_true(like[1]->value[k] == like[0]->value[k % 4]);
    }
    trl_boost_data_free(like[0]);
    trl_boost_data_free(like[1]);
    plain.like = d; /* classes in the cache, +1 and -1 asked for */
    assert_int_equal(trl_boost_read(twice, 1, &plain, &like[0], &err), TRL_EINVAL);
    assert_string_equal(err.path, cache);
    assert_ok(read_text("other | a\nno | b\n", (trl_boost_read_options){.classes = true}, &other));
    assert_ok(trl_boost_data_save(other, cache, &err));
    trl_boost_data_free(other);
    assert_int_equal(trl_boost_read(twice, 1, &o, &like[0], &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "no training example is of class 'other'"));
    assert_string_equal(err.path, cache);
    trl_boost_data_free(d);
}

/* Features are the same whether they are looked up by number or by name: numbers beyond the table,
 * ":1.0", and the same data as other data numbers it. */
static void test_numbers(void **state)
{
    (void)state;
    trl_boost_data *d = NULL, *like = NULL;
    trl_boost_read_options o = trl_boost_read_options_default();
    assert_ok(read_text("+1 0 4194303 4194304:1 7:1.0\n-1\t4194303:1.0\t4194304 0:1 2147483647\n"
                        "+1 7 0:1e0 4194304:0 1:0\n",
                        o, &d));
    assert_int_equal(d->n_features, 5); /* ties in order of appearance */
    assert_string_equal(row_names(d, 0), "0 4194303 4194304 7 ");
    assert_string_equal(row_names(d, 1), "0 4194303 4194304 2147483647 ");
    assert_string_equal(row_names(d, 2), "0 7 ");
    o.like = d;
    assert_ok(read_text("-1 7 7777 2147483647 5 4194304:1.0\n", o, &like));
    assert_string_equal(row_names(like, 0), "4194304 7 2147483647 ");
    trl_boost_data_free(like);
    assert_int_equal(read_text("-1 7 4194304 7:1.0\n", o, &like), TRL_EPARSE);
    assert_int_equal(err.col, 14);
    trl_boost_data_free(d);
}

/* Rows of any length come out ascending, each feature once: numbers are drawn without repetition
 * by steps that have no divisor in common with their range. */
static void test_long_rows(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 23, 24, 25, 255, 256, 257, 1023, 1024, 1025, 5000};
    const size_t n = sizeof lengths / sizeof *lengths, range = 70001; /* a prime */
    trl_buf text = {0};
    trl_boost_data *d = NULL;
    for (size_t i = 0; i < n; i++) {
        trl_buf_str(&text, i % 2 ? "+1" : "-1");
        for (size_t k = 0; k < lengths[i]; k++)
            trl_buf_fmt(&text, " %zu", (i + 1) * 7919 * (k + 1) % range);
        trl_buf_ch(&text, '\n');
    }
    trl_buf_ch(&text, '\0');
    assert_ok(read_text(text.data, trl_boost_read_options_default(), &d));
    trl_buf_fini(&text);
    for (size_t i = 0; i < n; i++) {
        const uint64_t begin = trl_boost_begin(d->row_end, i);
        uint64_t sum = 0, want = 0;
        assert_int_equal(d->row_end[i] - begin, lengths[i]);
        for (uint64_t k = begin; k < d->row_end[i]; k++) {
            char scratch[24];
            const trl_str s = trl_boost_feature_name(d, d->id[k], scratch);
            assert_true(k == begin || d->id[k - 1] < d->id[k]);
            uint64_t number = 0;
            for (size_t c = 0; c < s.n; c++)
                number = 10 * number + (uint64_t)(s.p[c] - '0');
            sum += number;
        }
        for (size_t k = 0; k < lengths[i]; k++)
            want += (i + 1) * 7919 * (k + 1) % range;
        assert_int_equal(sum, want);
    }
    trl_boost_data_free(d);
}

/* A folder where nothing can be put is as a disk that is full. */
static void test_no_room(void **state)
{
    (void)state;
    trl_boost_data *d = NULL;
    trl_boost_read_options o = trl_boost_read_options_default();
    o.memory = 0;
    assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
    assert_int_equal(read_text("+1 3\n-1 4\n", o, &d), TRL_EIO);
    assert_non_null(strstr(err.msg, "no room"));
    assert_string_equal(err.path, "/nowhere/at/all");
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/trellis-boost-data-%d", (int)getpid());
    snprintf(cache, sizeof cache, "/tmp/trellis-boost-cache-%d", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libsvm),     cmocka_unit_test(test_vw),
        cmocka_unit_test(test_classes),    cmocka_unit_test(test_bad_lines),
        cmocka_unit_test(test_many_rows),  cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_numbers),    cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_cache_like),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    unlink(cache);
    return failed;
}
