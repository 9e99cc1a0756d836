/* test_compare_trees.c -- two parsers compared: counts by hand, and those of the scorer. */
/* SPDX-License-Identifier: MIT */
#include "scoring.h"

#include <unistd.h>

#include "base/rng.h"
#include "trellis/compare.h"

static const char *put_file(const char *text)
{
    static char path[4][64];
    static int turn;
    char *name = path[turn++ % 4];
    strcpy(name, "/tmp/test_compare_trees-XXXXXX");
    const int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return name;
}

static trl_status compare(trl_compare *c, const char *gold, const char *a, const char *b,
                          uint64_t *left_out, trl_error *err)
{
    const trl_parseval_options o = trl_parseval_options_default();
    const char *x = put_file(gold), *y = put_file(a), *z = put_file(b);
    const trl_status st = trl_compare_trees(c, &o, &(trl_compare_paths){x, y, z}, left_out, err);
    unlink(x);
    unlink(y);
    unlink(z);
    return st;
}

static void test_by_hand(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_compare *c = NULL;
    uint64_t left_out;
    assert_ok(trl_compare_new(&c, &err));
    /* line 2: no parse in A; line 3: another word in B; line 4 is not a tree in A */
    assert_ok(compare(c,
                      "(S (NP (NN a) (NN b)) (VP (VB c)))\n(S (NN a))\n(S (NN a))\n(S (NN a))\n"
                      "(S (NP (NN a)) (. .))\n",
                      "(S (NN a) (VP (NN b) (VB c)))\n\n(S (NN a))\n(S (NN a)\n"
                      "(S (NP (NN a)) (. .))\n",
                      "(S (NP (NN a) (JJ b)) (VP (VB c)))\n(S (NN a))\n(S (NN b))\n(S (NN a))\n"
                      "(X (NP (NP (NN a))) (. .))\n",
                      &left_out, &err));
    assert_int_equal(left_out, 3);
    assert_int_equal(trl_compare_sentences(c), 2);
    const double *a = trl_compare_errors(c, 0), *b = trl_compare_errors(c, 1);
    assert_true(a[0] == 3.0 && a[1] == 0.0 && b[0] == 0.0 && b[1] == 3.0);
    trl_comparison r;
    trl_bootstrap_options o = trl_bootstrap_options_default();
    o.resamples = 100;
    assert_ok(trl_compare_run(c, &o, &r, &err));
    assert_true(r.chunk_tags);
    assert_int_equal(r.sentences, 2);
    assert_int_equal(r.tokens, 4);
    assert_int_equal(r.chunks, 5);
    assert_int_equal(r.only_a, 1);
    assert_int_equal(r.only_b, 1);
    assert_near(r.errors[0], 1.5, 0.0);
    assert_near(r.score[0][TRL_ACCURACY], 100.0, 0.0);
    assert_near(r.score[1][TRL_ACCURACY], 75.0, 0.0);
    assert_near(r.score[0][TRL_PRECISION], 75.0, 0.0);
    assert_near(r.score[0][TRL_RECALL], 60.0, 0.0);
    assert_near(r.score[1][TRL_PRECISION], 100.0 * 4 / 6, 1e-15);
    assert_near(r.score[1][TRL_RECALL], 80.0, 0.0);
    assert_near(r.score[1][TRL_F1], 100.0 * 8 / 11, 1e-15);
    trl_compare_free(c);
}

/* One word a sentence under a chain of labels, drawn anew by each system: the scores are the
 * scorer's, and the sign of every difference turns with the systems. */
static void test_as_scorer(void **state)
{
    (void)state;
    enum { N = 60 };
    trl_error err = {0};
    trl_rng rng = trl_rng_seed(3);
    char text[3][N * 40] = {"", "", ""};
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) {
            char line[40];
            snprintf(line, sizeof line, "(S (%s (%s (NN a)) (NN b)))\n",
                     trl_rng_below(&rng, 3 + (size_t)k) ? "NP" : "VP",
                     trl_rng_below(&rng, 3) ? "X" : "Y");
            strcat(text[k], line);
        }
    trl_bootstrap_options o = trl_bootstrap_options_default();
    o.resamples = 500;
    trl_comparison r[2];
    for (int turned = 0; turned < 2; turned++) {
        trl_compare *c = NULL;
        uint64_t left_out;
        assert_ok(trl_compare_new(&c, &err));
        assert_ok(compare(c, text[0], text[1 + turned], text[2 - turned], &left_out, &err));
        assert_int_equal(left_out, 0);
        assert_ok(trl_compare_run(c, &o, &r[turned], &err));
        trl_compare_free(c);
    }
    for (int s = 0; s < 2; s++) {
        trl_parseval *p = new_scorer("collins", false);
        const char *x = put_file(text[0]), *y = put_file(text[1 + s]);
        assert_ok(trl_parseval_files(p, x, y, &err));
        unlink(x);
        unlink(y);
        const trl_parseval_totals t = trl_parseval_get(p, UINT64_MAX);
        assert_int_equal(t.valid, N);
        assert_near(r[0].score[s][TRL_PRECISION], t.precision, 1e-14);
        assert_near(r[0].score[s][TRL_RECALL], t.recall, 1e-14);
        assert_near(r[0].score[s][TRL_F1], t.f1, 1e-14);
        assert_near(r[0].score[s][TRL_SENTENCES], t.exact, 1e-14);
        assert_near(r[0].score[s][TRL_ACCURACY], t.tagging, 1e-14);
        trl_parseval_free(p);
    }
    for (int k = 0; k < TRL_MEASURES; k++) {
        assert_near(r[0].difference[k].difference, -r[1].difference[k].difference, 1e-15);
        assert_near(r[0].difference[k].p, r[1].difference[k].p, 1e-15);
    }
    assert_near(r[0].t.statistic, -r[1].t.statistic, 1e-12);
    assert_near(r[0].wilcoxon.p, r[1].wilcoxon.p, 1e-12);
}

static void expect_failure(const char *a, const char *b, const char *message, uint64_t row)
{
    trl_error err = {0};
    trl_compare *c = NULL;
    uint64_t left_out;
    char got[600];
    assert_ok(trl_compare_new(&c, &err));
    assert_int_equal(compare(c, "(S (NN a))\n(S (NN a))\n", a, b, &left_out, &err), TRL_EPARSE);
    snprintf(got, sizeof got, "%.17s", err.msg);
    assert_string_equal(got, message);
    assert_int_equal(err.row, row);
    trl_compare_free(c);
}

static void test_other_lengths(void **state)
{
    (void)state;
    const char *two = "(S (NN a))\n(S (NN a))\n";
    expect_failure("(S (NN a))\n", two, "a line more than ", 2);
    expect_failure(two, "(S (NN a))\n(S (NN a))\n\n", "a line more than ", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_as_scorer),
        cmocka_unit_test(test_other_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
