/* test_score.c -- counts and reports; conlleval's answers where at hand. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>

#include "base/rng.h"
#include "trellis/score.h"

typedef enum kind { BLOCK, LATEX, TOKENS, JSON } kind;

static char *report(const trl_score *s, kind k)
{
    trl_error err = {0};
    char *text = NULL;
    assert_ok(k == TOKENS ? trl_score_report_tokens(s, &text, &err)
              : k == JSON ? trl_score_report_json(s, &text, &err)
                          : trl_score_report_chunks(s, k == LATEX, &text, &err));
    return text;
}

static trl_score *new_score(const trl_score_options *o)
{
    trl_error err = {0};
    const trl_score_options plain = trl_score_options_default();
    trl_score *s = NULL;
    assert_ok(trl_score_new(o ? o : &plain, &s, &err));
    return s;
}

/* Writes n bytes to a new file, packed or not; its name is valid until the next call. */
static const char *put_file(const char *text, size_t n, bool gzip)
{
    static char path[64];
    strcpy(path, "/tmp/test_score-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    gzFile f = gzdopen(fd, gzip ? "wb" : "wbT");
    assert_non_null(f);
    assert_int_equal(gzwrite(f, text, (unsigned)n), (int)n);
    assert_int_equal(gzclose(f), Z_OK);
    return path;
}

static void expect_file(const char *text, const trl_score_options *o, kind k, const char *expected)
{
    trl_error err = {0};
    for (int gzip = 0; gzip < 2; gzip++) {
        trl_score *s = new_score(o);
        const char *path = put_file(text, strlen(text), gzip);
        assert_ok(trl_score_file(s, path, &err));
        unlink(path);
        char *got = report(s, k);
        assert_string_equal(got, expected);
        trl_text_free(got);
        trl_score_free(s);
    }
}

/* ---- reports ------------------------------------------------------------------------ */

static const char small[] =
    "He PRP B-NP B-NP\nsaw VBD B-VP B-VP\nthe DT B-NP B-NP\nold JJ I-NP B-NP\n"
    "man NN I-NP I-NP\n. . O O\n\n-X- ends a line\non IN B-PP B-PRT\nit PRP I-NP B-NP\n";

static void test_conlleval(void **state)
{
    (void)state;
    expect_file(small, NULL, BLOCK,
                "processed 8 tokens with 5 phrases; found: 6 phrases; correct: 3.\n"
                "accuracy:  62.50%; precision:  50.00%; recall:  60.00%; FB1:  54.55\n"
                "               NP: precision:  50.00%; recall:  66.67%; FB1:  57.14  4\n"
                "               PP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
                "              PRT: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
                "               VP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n");
    expect_file("", NULL, BLOCK,
                "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n");
    expect_file("a O O\n", NULL, BLOCK,
                "processed 1 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
                "accuracy: 100.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n");
    expect_file(small, NULL, LATEX,
                "        & Precision &  Recall  & F$_{\\beta=1} \\\\\\hline\n"
                "NP      &   50.00\\% &  66.67\\% &  57.14 \\\\\n"
                "PP      &    0.00\\% &   0.00\\% &   0.00 \\\\\n"
                "PRT     &    0.00\\% &   0.00\\% &   0.00 \\\\\n"
                "VP      &  100.00\\% & 100.00\\% & 100.00 \\\\\\hline\n"
                "Overall &   50.00\\% &  60.00\\% &  54.55 \\\\\\hline\n");
}

/* IOBES is told from gold: touching chunks are two then, and one for conlleval. */
static void test_iobes(void **state)
{
    (void)state;
    expect_file("Ann S-PER S-PER\nBob S-PER O\n\n", NULL, BLOCK,
                "processed 2 tokens with 2 phrases; found: 1 phrases; correct: 1.\n"
                "accuracy:  50.00%; precision: 100.00%; recall:  50.00%; FB1:  66.67\n"
                "              PER: precision: 100.00%; recall:  50.00%; FB1:  66.67  1\n");
    expect_file("a B-A B-A\nb E-A E-A\nc B-A S-A\nd E-A I-A", NULL, BLOCK,
                "processed 4 tokens with 2 phrases; found: 3 phrases; correct: 1.\n"
                "accuracy:  50.00%; precision:  33.33%; recall:  50.00%; FB1:  40.00\n"
                "                A: precision:  33.33%; recall:  50.00%; FB1:  40.00  3\n");
    /* A gold chunk that no E ends: not IOBES, so that conlleval's answer is given. */
    expect_file("a S-A S-A\nb S-A S-A\n\nc B-A B-A", NULL, BLOCK,
                "processed 3 tokens with 2 phrases; found: 2 phrases; correct: 2.\n"
                "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                "                A: precision: 100.00%; recall: 100.00%; FB1: 100.00  2\n");
}

/* The script's slips, each of them in what it prints. */
static void test_slips(void **state)
{
    (void)state;
    /* The type "" is listed twice; "0" is taken for it. */
    expect_file("B B\nB-0 B-\n", NULL, BLOCK,
                "processed 2 tokens with 2 phrases; found: 2 phrases; correct: 2.\n"
                "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  2\n"
                "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  2\n");
    /* A '.' inside a chunk hides its end; at the end of the file it counts nevertheless. */
    expect_file("B-A B-A\n.-A I-A\n", NULL, BLOCK,
                "processed 2 tokens with 1 phrases; found: 1 phrases; correct: 1.\n"
                "accuracy:  50.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
                "                A: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n");
    expect_file("B-A B-A\n.-A I-A\n\n", NULL, BLOCK,
                "processed 2 tokens with 1 phrases; found: 1 phrases; correct: 0.\n"
                "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
                "                A: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n");
}

static void test_options(void **state)
{
    (void)state;
    trl_score_options o = {' ', "X", true};
    expect_file("w N N\nw N-1 N\nw X O\nw 0 0\n", &o, BLOCK,
                "processed 4 tokens with 3 phrases; found: 3 phrases; correct: 2.\n"
                "accuracy:  75.00%; precision:  66.67%; recall:  66.67%; FB1:  66.67\n"
                "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
                "                 : precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
                "                N: precision:  50.00%; recall: 100.00%; FB1:  66.67  2\n"
                "              N-1: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n");
    static const char one[] =
        "processed 2 tokens with 1 phrases; found: 1 phrases; correct: 1.\n"
        "accuracy: 100.00%; precision: 100.00%; recall: 100.00%; FB1: 100.00\n"
        "                A: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n";
    o = (trl_score_options){' ', "B-A", false}; /* without raw, `outside` says nothing */
    expect_file("a\tB-A \t B-A\r\nb  I-A  I-A\r\n \t \r\n", &o, BLOCK, one);
    expect_file("a b B-A B-A\n b I-A I-A\n", &o, BLOCK, one); /* an empty first cell */
    o.delimiter = '|';
    expect_file("New York|B-A|B-A|\n|I-A|I-A\n||\n", &o, BLOCK, one);
}

static void test_tokens(void **state)
{
    static const char expected[] =
        "accuracy:           60.00%  (3 of 5 tokens)\n"
        "sequence accuracy:  50.00%  (1 of 2 sequences)\n"
        "\n"
        "label                  gold  predicted    correct  precision   recall       F1\n"
        "N                         4          2          2     100.00    50.00    66.67\n"
        "V                         1          2          1      50.00   100.00    66.67\n"
        "\xc3\xa9                         0          1          0       0.00     0.00"
        "     0.00\n"
        "macro average                                                            44.44\n"
        "weighted average                                                         66.67\n"
        "\n"
        "most frequent confusions, gold -> predicted\n"
        "N -> V  1\n"
        "N -> \xc3\xa9  1\n";
    (void)state;
    expect_file("N N\nN N\nN V\nN \xc3\xa9\n\nV V\n", NULL, TOKENS, expected);
    expect_file("", NULL, TOKENS,
                "accuracy:            0.00%  (0 of 0 tokens)\n"
                "sequence accuracy:   0.00%  (0 of 0 sequences)\n");
}

static void test_confusions_ranked(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_score *s = new_score(NULL);
    trl_rng r = trl_rng_seed(3);
    char names[6][2] = {"A", "B", "C", "D", "E", "F"};
    for (int i = 0; i < 500; i++) {
        const char *g = names[trl_rng_below(&r, 6)], *p = names[trl_rng_below(&r, 6)];
        assert_ok(trl_score_add(s, 1, &g, &p, &err));
    }
    trl_score_confusion all[30], some[30];
    assert_int_equal(trl_score_confusions(s, all, 30), 30);
    for (size_t i = 1; i < 30; i++)
        assert_true(all[i].count <= all[i - 1].count);
    for (size_t cap = 0; cap <= 30; cap++) {
        assert_int_equal(trl_score_confusions(s, some, cap), 30);
        assert_memory_equal(some, all, cap * sizeof *some);
    }
    trl_score_free(s);
}

/* ---- JSON --------------------------------------------------------------------------- */

static const char *json_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20 || (*p == '\\' && !strchr("\"\\u", p[1])))
            return NULL;
        if (*p == '\\' && *++p == 'u' && strspn(p + 1, "0123456789abcdef") < 4)
            return NULL;
    }
    return p + 1;
}

/* Skips one JSON value (no white space, which we do not write); NULL when it is none. */
static const char *json_value(const char *p)
{
    if (*p == '"')
        return json_string(p);
    if (*p != '{' && *p != '[')
        return *p >= '0' && *p <= '9' ? p + strspn(p, "0123456789.e-+") : NULL;
    const char close = *p == '{' ? '}' : ']';
    if (p[1] == close)
        return p + 2;
    do {
        p++;
        if (close == '}' && (!(p = json_string(p)) || *p++ != ':'))
            return NULL;
        p = json_value(p);
    } while (p && *p == ',');
    return p && *p == close ? p + 1 : NULL;
}

static void test_json(void **state)
{
    (void)state;
    const trl_score_options o = {.delimiter = ' ', .outside = "O", .raw = true};
    expect_file("\"\\ \x01\xed\xa0\x80\n", NULL, JSON,
                "{\"tokens\":1,\"accuracy\":0,\"sequences\":1,\"sequence_accuracy\":0,"
                "\"chunks\":{\"gold\":0,\"predicted\":0,\"correct\":0,\"precision\":0,"
                "\"recall\":0,\"f1\":0,\"types\":{}},\"labels\":{"
                "\"\\u0001\\ufffd\\ufffd\\ufffd\":{\"gold\":0,\"predicted\":1,\"correct\":0,"
                "\"precision\":0,\"recall\":0,\"f1\":0},"
                "\"\\\"\\\\\":{\"gold\":1,\"predicted\":0,\"correct\":0,"
                "\"precision\":0,\"recall\":0,\"f1\":0}},"
                "\"confusions\":[{\"gold\":\"\\\"\\\\\","
                "\"predicted\":\"\\u0001\\ufffd\\ufffd\\ufffd\",\"count\":1}]}\n");
    trl_error err = {0};
    trl_rng r = trl_rng_seed(11);
    for (int round = 0; round < 300; round++) {
        trl_score *s = new_score(&o);
        for (size_t i = trl_rng_below(&r, 8); i > 0; i--) {
            char tag[2][6] = {{0}};
            for (int k = 0; k < 10; k++)
                tag[k / 5][k % 5] = (char)trl_rng_below(&r, 256);
            const char *g = tag[0], *p = tag[trl_rng_below(&r, 2)];
            assert_ok(trl_score_add(s, 1, &g, &p, &err));
        }
        char *text = report(s, JSON);
        const char *end = json_value(text);
        assert_non_null(end);
        assert_string_equal(end, "\n");
        trl_text_free(text);
        trl_score_free(s);
    }
}

/* ---- refusals, and what outside programs say ----------------------------------------- */

#define ONE "only one column, where a gold and a predicted tag are needed"

static void test_bad_input(void **state)
{
    static const struct {
        const char *text, *says;
        uint64_t row, col;
        char delimiter;
    } cases[] = {
        {"a B B\nword\n", ONE, 2, 5, ' '},
        {"a\tB\tB\n", ONE, 1, 6, '|'},
        {"a B B\n\na B\n", "2 columns, where the lines before have 3", 3, 4, ' '},
        {"a B B\nb  B\n", "2 columns, where the lines before have 3", 2, 5, ' '},
        {"a B B\na b  c d", "4 columns, where the lines before have 3", 2, 8, ' '},
        {"a|B|B\na|B|\n", "2 columns, where the lines before have 3", 2, 5, '|'},
        {"a|B|B\na|||B\n", "4 columns, where the lines before have 3", 2, 5, '|'},
        {"a B \1\n", "a tag holds a NUL byte", 1, 5, ' '}, /* \1: made a NUL */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_error err = {0};
        const trl_score_options o = {cases[i].delimiter, "O", false};
        trl_score *s = new_score(&o);
        char bytes[64], text[1200], expected[1200];
        const size_t n = strlen(cases[i].text);
        for (size_t k = 0; k < n; k++)
            bytes[k] = cases[i].text[k] == '\1' ? '\0' : cases[i].text[k];
        const char *path = put_file(bytes, n, false);
        assert_int_equal(trl_score_file(s, path, &err), TRL_EPARSE);
        unlink(path);
        trl_error_text(&err, text, sizeof text);
        snprintf(expected, sizeof expected, "%s:%d:%d: %s", path, (int)cases[i].row,
                 (int)cases[i].col, cases[i].says);
        assert_string_equal(text, expected);
        assert_int_equal(trl_score_get(s).tokens, cases[i].row > 1);
        trl_score_free(s);
    }
}

static void test_bad_options(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_score *s = NULL;
    const trl_score_options no_outside = {' ', NULL, false}, line_end = {'\n', "O", false};
    assert_int_equal(trl_score_new(&no_outside, &s, &err), TRL_EINVAL);
    assert_int_equal(trl_score_new(&line_end, &s, &err), TRL_EINVAL);
    assert_null(s);
    s = new_score(NULL);
    assert_int_equal(trl_score_file(s, "/nowhere/at/all", &err), TRL_EIO);
    assert_ok(trl_score_add(s, 0, NULL, NULL, &err));
    assert_int_equal(trl_score_get(s).sequences, 0);
    trl_score_free(s);
}

static void test_oracles(void **state)
{
    static const char *const names[] = {"chunks", "iob-any", "iobes", "ioe", "latex", "raw-tags"};
    (void)state;
    const char *dir = test_folder("TRELLIS_ORACLES", "../shared/oracles");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        trl_error err = {0};
        char path[600], expected[4096] = "";
        const trl_score_options o = {' ', "O", strcmp(names[i], "raw-tags") == 0};
        trl_score *s = new_score(&o);
        snprintf(path, sizeof path, "%s/conlleval/%s.txt", dir, names[i]);
        assert_ok(trl_score_file(s, path, &err));
        snprintf(path, sizeof path, "%s/conlleval/%s.expected", dir, names[i]);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        assert_true(fread(expected, 1, sizeof expected - 1, f) > 0);
        fclose(f);
        char *got = report(s, strcmp(names[i], "latex") == 0 ? LATEX : BLOCK);
        assert_string_equal(got, expected);
        trl_text_free(got);
        trl_score_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conlleval),
        cmocka_unit_test(test_iobes),
        cmocka_unit_test(test_slips),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_confusions_ranked),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_oracles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
