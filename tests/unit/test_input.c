/* test_input.c -- lines out of every wrapping. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "text/input.h"

static trl_error err;

/* All lines of the input, an LF after each, in `out`; the status of the last call. */
static trl_status slurp(const void *bytes, size_t n, char *out, size_t cap)
{
    trl_input *in = NULL;
    size_t len = 0;
    uint64_t row = 0;
    assert_ok(trl_input_memory("mem", bytes, n, &in, &err));
    for (;;) {
        trl_str line;
        bool more = false;
        const trl_status st = trl_input_line(in, &line, &more, &err);
        if (st != TRL_OK || !more) {
            trl_input_free(in);
            out[len] = '\0';
            return st;
        }
        assert_int_equal(trl_input_row(in), ++row);
        assert_true(len + line.n + 2 <= cap);
        if (line.n)
            memcpy(out + len, line.p, line.n);
        len += line.n;
        out[len++] = '\n';
    }
}

static void expect_lines(const char *bytes, size_t n, const char *lines)
{
    char out[256];
    assert_int_equal(slurp(bytes, n, out, sizeof out), TRL_OK);
    assert_string_equal(out, lines);
}

static size_t gzip(const void *from, size_t n, unsigned char *to, size_t cap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    unsigned char *copy = malloc(n + 1);
    memcpy(copy, from, n);
    z.next_in = copy;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t made = z.total_out;
    deflateEnd(&z);
    free(copy);
    return made;
}

static void test_plain(void **state)
{
    (void)state;
    expect_lines("", 0, "");
    expect_lines("\n", 1, "\n");
    expect_lines("a\nb\n", 4, "a\nb\n");
    expect_lines("a\nb", 3, "a\nb\n");
    expect_lines("a\n\nb", 4, "a\n\nb\n");
    expect_lines("a\r\nb\r\n\r\n", 8, "a\nb\n\n");
    expect_lines("a\rb\n", 4, "a\rb\n");
}

static void test_mark(void **state)
{
    (void)state;
    expect_lines("\xef\xbb\xbf", 3, "");
    expect_lines("\xef\xbb\xbfx\n", 5, "x\n");
    expect_lines("\xef\xbb", 2, "\xef\xbb\n");
    expect_lines("x\n\xef\xbb\xbfy\n", 7, "x\n\xef\xbb\xbfy\n");
}

static void test_packed(void **state)
{
    (void)state;
    const char text[] = "\xef\xbb\xbfone\r\ntwo\n\nfour";
    const size_t n = sizeof text - 1;
    unsigned char pack[512];
    char out[256];
    size_t m = gzip(text, n, pack, sizeof pack);
    expect_lines((char *)pack, m, "one\ntwo\n\nfour\n");
    m += gzip("!\nfive", 6, pack + m, sizeof pack - m); /* a second member */
    expect_lines((char *)pack, m, "one\ntwo\n\nfour!\nfive\n");
    assert_int_equal(slurp(pack, m - 3, out, sizeof out), TRL_EIO);
    assert_string_equal(err.path, "mem");

    m = ZSTD_compress(pack, sizeof pack, text, n, 3);
    assert_false(ZSTD_isError(m));
    expect_lines((char *)pack, m, "one\ntwo\n\nfour\n");
    assert_int_equal(slurp(pack, m - 2, out, sizeof out), TRL_EIO);
    m += ZSTD_compress(pack + m, sizeof pack - m, "!\nfive", 6, 3);
    expect_lines((char *)pack, m, "one\ntwo\n\nfour!\nfive\n");
    pack[6] ^= 0xff;
    assert_int_equal(slurp(pack, m, out, sizeof out), TRL_EIO);
}

/* Lines longer than any block, in both packings. */
static void test_long(void **state)
{
    (void)state;
    const size_t n = 3000000;
    char *text = malloc(n), *out = malloc(n + 2);
    unsigned char *pack = malloc(n);
    memset(text, 'x', n);
    text[1000000] = '\n';
    text[n - 1] = '\n';
    assert_int_equal(slurp(text, n, out, n + 2), TRL_OK);
    assert_memory_equal(text, out, n);
    assert_int_equal(slurp(pack, gzip(text, n, pack, n), out, n + 2), TRL_OK);
    assert_memory_equal(text, out, n);
    assert_int_equal(slurp(pack, ZSTD_compress(pack, n, text, n, 1), out, n + 2), TRL_OK);
    assert_memory_equal(text, out, n);
    free(text);
    free(out);
    free(pack);
}

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/trl-input-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "p q\nr", 5), 5);
    close(fd);
    trl_input *in = NULL;
    trl_str s;
    bool more;
    assert_ok(trl_input_open(path, &in, &err));
    assert_string_equal(trl_input_name(in), path);
    assert_ok(trl_input_peek(in, &s, &err));
    assert_int_equal(s.n, 5);
    assert_memory_equal(s.p, "p q\nr", 5);
    assert_ok(trl_input_line(in, &s, &more, &err));
    assert_int_equal(s.n, 3);
    assert_ok(trl_input_line(in, &s, &more, &err));
    assert_int_equal(s.n, 1);
    assert_ok(trl_input_line(in, &s, &more, &err));
    assert_false(more);
    trl_input_free(in);
    unlink(path);
    assert_int_equal(trl_input_open(path, &in, &err), TRL_EIO);
    assert_string_equal(err.path, path);
    assert_int_equal(trl_input_open("/tmp", &in, &err), TRL_EIO);
    trl_input_free(NULL);
}

static bool has_lf(trl_str unread)
{
    return memchr(unread.p, '\n', unread.n) != NULL;
}

static bool never(trl_str unread)
{
    (void)unread;
    return false;
}

static void expect_line(trl_input *in, const char *want)
{
    trl_str s;
    bool more;
    assert_ok(trl_input_line(in, &s, &more, &err));
    assert_true(more && s.n == strlen(want));
    assert_memory_equal(s.p, want, s.n);
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* A pipe is ready when a line is there, and at its end; memory and files always are. */
static void test_ready(void **state)
{
    (void)state;
    char dir[] = "/tmp/trl-input-XXXXXX", path[64];
    trl_input *in = NULL;
    trl_str s;
    bool more;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    const int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_ok(trl_input_open(path, &in, &err));
    assert_false(trl_input_ready(in, has_lf));
    say(fd, "a\n"); /* too short for a byte order mark */
    assert_true(trl_input_ready(in, has_lf));
    expect_line(in, "a");
    assert_false(trl_input_ready(in, has_lf));
    say(fd, "half");
    assert_false(trl_input_ready(in, has_lf));
    say(fd, " a line\nb\nc");
    assert_true(trl_input_ready(in, has_lf));
    expect_line(in, "half a line");
    assert_true(trl_input_ready(in, has_lf));
    expect_line(in, "b");
    assert_false(trl_input_ready(in, has_lf));
    close(fd);
    assert_true(trl_input_ready(in, never));
    expect_line(in, "c");
    assert_ok(trl_input_line(in, &s, &more, &err));
    assert_false(more);
    trl_input_free(in);
    unlink(path);
    rmdir(dir);
    assert_ok(trl_input_memory("mem", "x", 1, &in, &err));
    assert_true(trl_input_ready(in, never));
    trl_input_free(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain), cmocka_unit_test(test_mark), cmocka_unit_test(test_packed),
        cmocka_unit_test(test_long),  cmocka_unit_test(test_file), cmocka_unit_test(test_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
