/* test_reliability.c -- reliability: counts against plain sums, tagged files, spans of trees. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/rng.h"
#include "trellis/reliability.h"

static trl_error err;
static char folder[] = "/tmp/trellis-test-XXXXXX";

static const char *write_file(const char *name, const char *text)
{
    static char path[3][512];
    static int turn;
    char *p = path[turn++ % 3];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    FILE *f = fopen(p, "wb");
    assert_non_null(f);
    assert_true(fwrite(text, 1, strlen(text), f) == strlen(text));
    assert_int_equal(fclose(f), 0);
    return p;
}

/* The definitions, one answer after the other. */
static void test_counts(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(171);
    for (int round = 0; round < 50; round++) {
        const size_t bins = 1 + trl_rng_below(&rng, 20), n = trl_rng_below(&rng, 60);
        trl_reliability r = {.n_bins = bins};
        double p[64], brier = 0.0, ece = 0.0;
        bool right[64];
        for (size_t i = 0; i < n; i++) {
            p[i] = trl_rng_below(&rng, 10) == 0 ? 1.0 : trl_rng_unit(&rng);
            right[i] = trl_rng_unit(&rng) < p[i];
            trl_reliability_add(&r, p[i], right[i]);
            brier += (p[i] - right[i]) * (p[i] - right[i]);
        }
        for (size_t k = 0; k < bins; k++) {
            double sum = 0.0, good = 0.0, lo = (double)k / (double)bins;
            for (size_t i = 0; i < n; i++)
                if (p[i] >= lo && (p[i] < (double)(k + 1) / (double)bins || k + 1 == bins)) {
                    sum += p[i];
                    good += right[i];
                }
            ece += fabs(sum - good);
        }
        const trl_reliability_totals t = trl_reliability_get(&r);
        assert_int_equal(t.n, n);
        assert_near(t.brier, n ? brier / (double)n : 0.0, 1e-12);
        assert_near(t.ece, n ? ece / (double)n : 0.0, 1e-12);
        assert_true(t.largest >= t.ece - 1e-12);
    }
    trl_reliability one = {.n_bins = 10};
    trl_reliability_add(&one, nan(""), false);
    trl_reliability_add(&one, 7.0, true);
    trl_reliability_add(&one, -7.0, false);
    assert_near(trl_reliability_get(&one).brier, 0.0, 0.0);
    assert_int_equal(one.bin[0].n, 2);
    assert_int_equal(one.bin[9].n, 1);
}

/* Two sequences: a right name, a wrong type, a wrong end. */
static void test_confidence(void **state)
{
    (void)state;
    const char *path = write_file("sure", "# 0.5 entropy 1.25\n"
                                          "a B-X B-X 0.9 0.1 0.8 0.85\n"
                                          "b I-X I-X 0.7 0.1 0.8 0.85\n"
                                          "c O O 0.6 0.2 - -\n"
                                          "\n"
                                          "-DOCSTART- x x x x x x\n"
                                          "\n"
                                          "# 0.25 entropy 1\n"
                                          "d B-X B-Y 0.4 1 0.3 0.35\n"
                                          "e O B-Y 0.4 1 0.2 0.25\n"
                                          "f O I-Y 0.4 1 0.2 0.25");
    trl_reliability r[TRL_N_RELIABLE] = {
        {.n_bins = 10}, {.n_bins = 10}, {.n_bins = 10}, {.n_bins = 10}};
    assert_ok(trl_reliability_file(path, r, &err));
    const trl_reliability_totals tokens = trl_reliability_get(&r[TRL_RELIABLE_TOKENS]);
    const trl_reliability_totals spans = trl_reliability_get(&r[TRL_RELIABLE_SPANS]);
    const trl_reliability_totals ends = trl_reliability_get(&r[TRL_RELIABLE_BOUNDARIES]);
    const trl_reliability_totals whole = trl_reliability_get(&r[TRL_RELIABLE_SEQUENCES]);
    assert_true(tokens.n == 6 && tokens.right == 3);
    assert_near(tokens.confidence, (0.9 + 0.7 + 0.6 + 3 * 0.4) / 6, 1e-12);
    assert_true(spans.n == 3 && spans.right == 1);
    assert_near(spans.confidence, (0.8 + 0.3 + 0.2) / 3, 1e-12);
    assert_true(ends.n == 3 && ends.right == 2);
    assert_near(ends.brier, (0.15 * 0.15 + 0.65 * 0.65 + 0.25 * 0.25) / 3, 1e-12);
    assert_true(whole.n == 2 && whole.right == 1);
    assert_near(whole.confidence, 0.375, 1e-12);
}

static void test_marginals(void **state)
{
    (void)state;
    const char *path =
        write_file("marginals", "a X X:0.75\nb Y X:0.5\n\n@probability\t0.5\na:b a:b:0.25\n");
    trl_reliability r[TRL_N_RELIABLE] = {
        {.n_bins = 4}, {.n_bins = 4}, {.n_bins = 4}, {.n_bins = 4}};
    assert_int_equal(trl_reliability_file(path, r, &err), TRL_EPARSE); /* 3 columns, then 2 */
    path = write_file("marginals",
                      "X X:0.75\nY X:0.5\n\n@probability\t0.5\n@entropy\t2\na:b a:b:0.25\n");
    memset(r, 0, sizeof r);
    for (size_t k = 0; k < TRL_N_RELIABLE; k++)
        r[k].n_bins = 4;
    assert_ok(trl_reliability_file(path, r, &err));
    assert_int_equal(trl_reliability_get(&r[TRL_RELIABLE_TOKENS]).right, 2);
    assert_int_equal(trl_reliability_get(&r[TRL_RELIABLE_TOKENS]).n, 3);
    assert_int_equal(trl_reliability_get(&r[TRL_RELIABLE_SPANS]).n, 0);
    assert_int_equal(trl_reliability_get(&r[TRL_RELIABLE_SEQUENCES]).right, 1);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"a\n",
                                      "a b\n",
                                      "a X:2\n",
                                      "a X:\n",
                                      "a :0.5\n",
                                      "a X X 0.5 0.5 0.5\n",
                                      "a X X 0.5 0.5 0.5 7\n"};
    trl_reliability r[TRL_N_RELIABLE] = {{.n_bins = 4}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(trl_reliability_file(write_file("bad", bad[k]), r, &err), TRL_EPARSE);
        assert_int_equal(err.row, 1);
    }
    assert_int_equal(trl_reliability_file("/nowhere/at/all", r, &err), TRL_EIO);
    assert_int_equal(trl_reliability_file(NULL, r, &err), TRL_EINVAL);
    assert_int_equal(trl_reliability_trees(NULL, "-", r, &err), TRL_EINVAL);
}

static void test_trees(void **state)
{
    (void)state;
    const char *gold = write_file("gold", "(TOP (S (NP-SBJ (A a) (B b)) (VP (C c))))\n(S (A a))\n");
    const char *spans =
        write_file("spans", "(S (A a) (B b) (C c))\n1-3 S 0.9\n1-2 NP 0.8\n1-1 NP 0.1\n\n"
                            "(S (A a))\n1-1 S 0.5\n\n");
    trl_reliability r = {.n_bins = 10};
    assert_ok(trl_reliability_trees(gold, spans, &r, &err));
    const trl_reliability_totals t = trl_reliability_get(&r);
    assert_true(t.n == 4 && t.right == 3);
    assert_near(t.brier, (0.01 + 0.04 + 0.01 + 0.25) / 4, 1e-12);
}

static trl_reliability_totals parsed(const char *text, trl_reliability_totals *spans)
{
    const char *gold = write_file("gold", "(TOP (S (NP-SBJ (A a) (B b)) (VP (C c))))\n(S (A a))\n");
    trl_reliability r = {.n_bins = 10}, trees = {.n_bins = 10};
    assert_ok(trl_reliability_parses(gold, write_file("parsed", text), &r, &trees, &err));
    *spans = trl_reliability_get(&r);
    return trl_reliability_get(&trees);
}

/* Trees one a line; lists; with constituents; simpler ones, which have no probability. */
static void test_whole_trees(void **state)
{
    (void)state;
    trl_reliability_totals spans;
    trl_reliability_totals t =
        parsed("0.9\t(S (NP (A a) (B b)) (VP (C c)))\n0.5\t(TOP (S (B a)))\n", &spans);
    assert_true(t.n == 2 && t.right == 1 && spans.n == 0);
    assert_near(t.brier, (0.01 + 0.25) / 2, 1e-12);
    t = parsed("0.6\t(TOP (S (NP (A a) (B b)) (VP (C c))))\n0.1\t(S (NP (A a)) (B b) (C c))\n\n"
               "1\t(TOP (S (A a)))\n0\t(S (S (A a)))\n\n",
               &spans);
    assert_true(t.n == 4 && t.right == 2);
    assert_near(t.brier, (0.16 + 0.01) / 4, 1e-12);
    t = parsed(
        "0.6\t(TOP (S (NP (A a) (B b)) (VP (C c))))\n1-2 NP 0.9\n\n-\t(S (A a))\n1-1 S 1\n\n",
        &spans);
    assert_true(t.n == 1 && t.right == 1 && spans.n == 2 && spans.right == 2);
    const char *gold = write_file("gold", "(S (A a))\n");
    trl_reliability r = {.n_bins = 10};
    assert_int_equal(
        trl_reliability_parses(gold, write_file("parsed", "0.5\t(S (A a))\n\n0.5\t(S (A a)\n\n"),
                               &r, &r, &err),
        TRL_EINVAL); /* more sentences */
    assert_int_equal(
        trl_reliability_parses(gold, write_file("parsed", "0.5\t(S (A a)\n\n"), &r, &r, &err),
        TRL_EPARSE);
    assert_int_equal(err.row, 1);
    assert_int_equal(trl_reliability_parses(gold, NULL, &r, &r, &err), TRL_EINVAL);
    static const char *const bad[] = {"x\t(S (A a))\n", "1.5\t(S (A a))\n", "\t(S (A a))\n",
                                      "-0.5\t(S (A a))\n", "0.5\t(S (A a) (B b))\n"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(trl_reliability_parses(gold, write_file("parsed", bad[k]), &r, &r, &err),
                         TRL_EPARSE);
        assert_int_equal(err.row, 1);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_marginals), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_trees),     cmocka_unit_test(test_whole_trees),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
