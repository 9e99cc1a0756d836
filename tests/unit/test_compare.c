/* test_compare.c -- tests of difference: textbook values, enumeration, and tagged files. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/rng.h"
#include "trellis/compare.h"
#include "trellis/score.h"

/* ---- McNemar ------------------------------------------------------------------------ */

static void test_mcnemar(void **state)
{
    (void)state;
    trl_test t = trl_mcnemar(150, 86);
    assert_false(t.exact);
    assert_near(t.statistic, 63.0 * 63.0 / 236.0, 1e-15);
    assert_near(t.p, erfc(sqrt(t.statistic / 2.0)), 1e-13);

    t = trl_mcnemar(2, 8); /* 2 (1 + 10 + 45) / 2^10 */
    assert_true(t.exact);
    assert_near(t.p, 112.0 / 1024.0, 1e-14);
    assert_near(trl_mcnemar(8, 2).p, t.p, 0.0);
    assert_near(trl_mcnemar(0, 0).p, 1.0, 0.0);
    assert_near(trl_mcnemar(5, 5).p, 1.0, 0.0);
    assert_near(trl_mcnemar(0, 5).p, 0.0625, 1e-14);
    assert_near(trl_mcnemar(30, 30).p, 1.0, 0.0);
    assert_true(trl_mcnemar(12, 12).exact);
    assert_false(trl_mcnemar(12, 13).exact);
}

/* ---- paired t ------------------------------------------------------------------------ */

/* Student's own data [Biometrika 6, 1908]: hours of sleep gained on two drugs; R's `sleep`. */
static const double drug1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static void test_paired_t(void **state)
{
    (void)state;
    const trl_test t = trl_paired_t(10, drug1, drug2), back = trl_paired_t(10, drug2, drug1);
    assert_near(t.statistic, 4.062128, 1e-6);
    assert_near(t.p, 0.002832890, 1e-9);
    assert_near(back.statistic, -t.statistic, 1e-15);
    assert_near(back.p, t.p, 1e-15);

    const double same[] = {1.0, 2.0, 3.0}, more[] = {2.0, 3.0, 4.0};
    assert_true(trl_paired_t(3, same, same).p == 1.0);
    assert_true(trl_paired_t(3, same, more).p == 0.0);
    assert_true(isnan(trl_paired_t(1, same, more).p));
    const double bad[] = {1.0, (double)NAN, 3.0};
    assert_true(isnan(trl_paired_t(3, same, bad).p));
}

/* ---- Wilcoxon ------------------------------------------------------------------------ */

static trl_test wilcoxon(size_t n, const double *a, const double *b)
{
    trl_error err = {0};
    trl_test t = {0};
    assert_ok(trl_wilcoxon(n, a, b, &t, &err));
    return t;
}

static void test_wilcoxon_known(void **state)
{
    (void)state;
    /* [Hollander, Wolfe, Nonparametric statistical methods, p. 29]; exact p from R. */
    const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    trl_test t = wilcoxon(9, after, before);
    assert_true(t.exact);
    assert_near(t.statistic, 40.0, 0.0);
    assert_near(t.p, 0.0390625, 1e-14);

    /* Student's data: one zero, ties; R's wilcox.test: V = 0, p-value = 0.009091. */
    t = wilcoxon(10, drug2, drug1);
    assert_false(t.exact);
    assert_int_equal(t.n, 9);
    assert_near(t.statistic, 0.0, 0.0);
    assert_near(t.p, 0.009091, 5e-7);

    /* All differ by a tenth, but for one by nothing: in doubles they differ. */
    const double from[] = {0.1, 0.2, 0.3, 0.8, 0.7, 0.1 + 0.2},
                 to[] = {0.2, 0.3, 0.2, 0.9, 0.8, 0.3}, none[6] = {0},
                 tenths[] = {1.0, 1.0, -1.0, 1.0, 1.0, 0.0};
    t = wilcoxon(6, from, to);
    assert_false(t.exact);
    assert_int_equal(t.n, 5);
    assert_near(t.p, wilcoxon(6, none, tenths).p, 0.0);

    assert_near(wilcoxon(3, drug1, drug1).p, 1.0, 0.0);
    trl_error err = {0};
    const double bad[] = {HUGE_VAL};
    assert_int_equal(trl_wilcoxon(1, drug1, bad, &t, &err), TRL_EINVAL);
}

/* All 2^n sign patterns, for n up to 12. */
static void test_wilcoxon_enumerated(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(5);
    const double zero[12] = {0};
    for (size_t n = 1; n <= 12; n++)
        for (int round = 0; round < 10; round++) {
            double d[12], w = 0.0;
            for (size_t i = 0; i < n; i++) { /* sizes are a permutation: rank = size */
                const size_t k = trl_rng_below(&rng, i + 1);
                d[i] = d[k];
                d[k] = (double)(i + 1);
            }
            for (size_t i = 0; i < n; i++) {
                if (trl_rng_u64(&rng) % 2)
                    d[i] = -d[i];
                w += d[i] > 0.0 ? d[i] : 0.0;
            }
            const double middle = (double)(n * (n + 1)) / 4.0;
            size_t extreme = 0;
            for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
                double v = 0.0;
                for (size_t i = 0; i < n; i++)
                    v += signs >> i & 1 ? (double)(i + 1) : 0.0;
                extreme += fabs(v - middle) >= fabs(w - middle);
            }
            const trl_test t = wilcoxon(n, zero, d);
            assert_true(t.exact);
            assert_near(t.statistic, w, 0.0);
            assert_near(t.p, ldexp((double)extreme, -(int)n), 1e-14);
        }
}

/* A tie of two differences of the same sign changes the method but hardly the answer. */
static void test_wilcoxon_tie(void **state)
{
    (void)state;
    enum { N = TRL_WILCOXON_EXACT };
    double zero[N] = {0}, d[N], p[2];
    for (int i = 0; i < N; i++)
        d[i] = i % 3 == 0 ? -(i + 1) : i + 1;
    for (int k = 0; k < 2; k++) {
        const trl_test t = wilcoxon(N, zero, d);
        assert_int_equal(t.exact, k == 0);
        p[k] = t.p;
        d[2] = d[1];
    }
    assert_near(p[1], p[0], 0.002);
}

/* ---- bootstrap ----------------------------------------------------------------------- */

static void test_bootstrap(void **state)
{
    (void)state;
    enum { N = 400 };
    trl_error err = {0};
    trl_rng rng = trl_rng_seed(3);
    double a[N], b[N];
    for (int i = 0; i < N; i++) {
        a[i] = trl_rng_unit(&rng);
        b[i] = a[i] + 0.02 + 0.4 * (trl_rng_unit(&rng) - 0.5);
    }
    trl_bootstrap_options o = trl_bootstrap_options_default();
    trl_bootstrap r, again;
    assert_ok(trl_bootstrap_mean(N, a, b, &o, &r, &err));
    assert_ok(trl_bootstrap_mean(N, a, b, &o, &again, &err));
    assert_memory_equal(&r, &again, sizeof r);

    /* A mean of many is normal: the interval is d +- 1.96 standard errors, p is the t-test's.
     * 10000 resamples leave 1 % of noise in the quantiles. */
    const trl_test t = trl_paired_t(N, a, b);
    const double error = r.difference / t.statistic;
    assert_near(r.low, r.difference - 1.96 * error, 0.05 * error);
    assert_near(r.high, r.difference + 1.96 * error, 0.05 * error);
    assert_true(fabs(r.p - t.p) < 0.01);

    o.seed = 2;
    assert_ok(trl_bootstrap_mean(N, a, b, &o, &again, &err));
    assert_true(again.low != r.low);
    assert_ok(trl_bootstrap_mean(N, a, a, &o, &r, &err));
    assert_near(r.p, 1.0, 0.0);

    o.resamples = 0;
    assert_int_equal(trl_bootstrap_mean(N, a, b, &o, &r, &err), TRL_EINVAL);
    o.resamples = 10;
    o.confidence = 1.0;
    assert_int_equal(trl_bootstrap_mean(N, a, b, &o, &r, &err), TRL_EINVAL);
    o.confidence = 0.9;
    assert_int_equal(trl_bootstrap_mean(0, a, b, &o, &r, &err), TRL_EINVAL);
    o.resamples = UINT64_MAX; /* more than memory can hold */
    assert_int_equal(trl_bootstrap_mean(N, a, b, &o, &r, &err), TRL_ENOMEM);
}

/* ---- taggings ------------------------------------------------------------------------ */

static trl_compare *new_compare(void)
{
    trl_error err = {0};
    trl_compare *c = NULL;
    assert_ok(trl_compare_new(&c, &err));
    return c;
}

/* Random tags: scores must be the scorer's, errors and sentences those counted by hand. */
static void check_scores(const char *const tags[5], size_t n_gold, bool iobes)
{
    enum { T = 7, SENTENCES = 60 };
    trl_error err = {0};
    trl_rng rng = trl_rng_seed(8);
    const trl_score_options plain = trl_score_options_default();
    trl_compare *c = new_compare();
    trl_score *score[2] = {NULL, NULL};
    for (int s = 0; s < 2; s++)
        assert_ok(trl_score_new(&plain, &score[s], &err));
    uint64_t only[2] = {0, 0};
    for (size_t i = 0; i < SENTENCES; i++) {
        const char *gold[T], *tagged[2][T];
        size_t wrong[2] = {0, 0};
        for (size_t t = 0; t < T; t++) {
            gold[t] = tags[trl_rng_below(&rng, n_gold)];
            for (int s = 0; s < 2; s++) {
                tagged[s][t] = trl_rng_below(&rng, 8) ? gold[t] : tags[trl_rng_below(&rng, 5)];
                wrong[s] += tagged[s][t] != gold[t];
            }
        }
        assert_ok(trl_compare_add(c, T, gold, tagged[0], tagged[1], &err));
        for (int s = 0; s < 2; s++) {
            assert_ok(trl_score_add(score[s], T, gold, tagged[s], &err));
            assert_near(trl_compare_errors(c, s)[i], (double)wrong[s], 0.0);
            only[s] += wrong[s] == 0 && wrong[1 - s] > 0;
        }
    }
    trl_bootstrap_options o = trl_bootstrap_options_default();
    o.resamples = 2000;
    trl_comparison r;
    assert_ok(trl_compare_run(c, &o, &r, &err));
    assert_int_equal(trl_compare_sentences(c), SENTENCES);
    assert_int_equal(r.tokens, SENTENCES * T);
    assert_true(r.chunk_tags);
    assert_int_equal(r.only_a, only[0]);
    assert_int_equal(r.only_b, only[1]);
    for (int s = 0; s < 2; s++) {
        const trl_score_totals t = trl_score_get(score[s]);
        assert_int_equal(t.iobes, iobes);
        assert_int_equal(r.chunks, t.gold);
        assert_near(r.score[s][TRL_ACCURACY], t.accuracy, 1e-14);
        assert_near(r.score[s][TRL_SENTENCES], t.sequence_accuracy, 1e-14);
        assert_near(r.score[s][TRL_PRECISION], t.precision, 1e-14);
        assert_near(r.score[s][TRL_RECALL], t.recall, 1e-14);
        assert_near(r.score[s][TRL_F1], t.f1, 1e-14);
        assert_int_equal(r.chunks, t.gold);
        trl_score_free(score[s]);
    }
    for (int k = 0; k < TRL_MEASURES; k++) {
        const trl_bootstrap *d = &r.difference[k];
        assert_near(d->difference, r.score[1][k] - r.score[0][k], 1e-13);
        assert_true(d->low < d->difference && d->difference < d->high);
        assert_true(d->p > 0.0 && d->p <= 1.0);
    }

    /* Accuracy over sentences of one length is a mean: both bootstraps draw the same sentences. */
    trl_bootstrap mean;
    assert_ok(trl_bootstrap_mean(SENTENCES, trl_compare_errors(c, 0), trl_compare_errors(c, 1), &o,
                                 &mean, &err));
    const trl_bootstrap *acc = &r.difference[TRL_ACCURACY];
    assert_near(acc->low, -100.0 * mean.high / T, 1e-12);
    assert_near(acc->high, -100.0 * mean.low / T, 1e-12);
    trl_compare_free(c);
}

static void test_scores(void **state)
{
    (void)state;
    static const char *const iob[] = {"O", "B-X", "I-X", "B-Y", "I-Y"};
    static const char *const iobes[] = {"O", "S-X", "S-Y", "B-X", "E-X"};
    check_scores(iob, 5, false);
    check_scores(iobes, 3, true);
    check_scores(iobes, 5, false);
}

static void test_kind_of_tags(void **state)
{
    (void)state;
    static const char *const tags[][2] = {
        {"O", "B-NP"}, {"O", "O"}, {"NN", "-LRB-"}, {"S-PER", "L-0x"}, {"X-A", "B-NP"}};
    static const bool chunky[] = {true, false, false, true, false};
    const trl_bootstrap_options o = {.resamples = 10, .seed = 1, .confidence = 0.5};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        trl_error err = {0};
        trl_comparison r;
        trl_compare *c = new_compare();
        assert_int_equal(trl_compare_run(c, &o, &r, &err), TRL_EINVAL);
        assert_ok(trl_compare_add(c, 2, tags[i], tags[i], tags[i], &err));
        assert_ok(trl_compare_run(c, &o, &r, &err));
        assert_int_equal(r.chunk_tags, chunky[i]);
        assert_near(r.score[1][TRL_ACCURACY], 100.0, 0.0);
        assert_near(r.mcnemar.p, 1.0, 0.0);
        trl_compare_free(c);
    }
}

/* ---- files --------------------------------------------------------------------------- */

static void put_file(const char *text, char path[32])
{
    strcpy(path, "/tmp/test_compare-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* The place of the error in B as "row:col", or "ok". */
static void expect_files(const char *gold, const char *b, const char *expected)
{
    char g[32], x[32], got[60] = "ok";
    trl_error err = {0};
    trl_compare *c = new_compare();
    put_file(gold, g);
    put_file(b, x);
    const trl_status st = trl_compare_files(c, &(trl_compare_paths){g, g, x}, &err);
    if (st != TRL_OK) {
        assert_int_equal(st, TRL_EPARSE);
        assert_string_equal(err.path, x);
        snprintf(got, sizeof got, "%d:%d", (int)err.row, (int)err.col);
    }
    assert_string_equal(got, expected);
    unlink(g);
    unlink(x);
    trl_compare_free(c);
}

static void test_files(void **state)
{
    (void)state;
    static const char gold[] = "He PRP B\nran VBD O\n\nYes UH O\n";
    expect_files(gold, "He PRP B O\nran VBD O O\n\n\nYes UH O B\n", "ok");
    expect_files(gold, "He B\nran O\n\nYes O", "ok");
    expect_files(gold, "B\nO\n\nO\n", "ok"); /* tags alone */
    expect_files(gold, "He B\n ran O\n\nNo O\n", "4:1");
    expect_files(gold, "He B\n runs O\n\nYes O\n", "2:2");
    expect_files(gold, "He B\n\nran O\n\nYes O\n", "2:1");
    expect_files(gold, "He B\nran O\nYes O\n", "3:1");
    expect_files(gold, "He B\nran O\n", "0:0");
    expect_files(gold, "He B\nran O\n\nYes O\n\nNo O\n", "6:1");
    expect_files(gold, "", "0:0");
    expect_files("", "", "ok");

    trl_error err = {0};
    trl_compare *c = new_compare();
    assert_int_equal(trl_compare_files(c, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_compare_files(c, &(trl_compare_paths){.gold = "x"}, &err), TRL_EINVAL);
    assert_int_equal(
        trl_compare_files(c, &(trl_compare_paths){"/dev/null", "/nowhere/x", "/dev/null"}, &err),
        TRL_EIO);
    assert_string_equal(err.path, "/nowhere/x");
    trl_compare_free(c);
}

/* ---- Holm ----------------------------------------------------------------------------------- */

/* A hypothesis falls at a level when all with smaller or equal p-values fall, in order: the
 * smallest level at which it does, by trying all that matter. */
static double holm_by_definition(size_t n, const double *p, size_t which)
{
    double least = 1.0;
    for (size_t c = 0; c < n * n; c++) { /* the levels (n - k) p_i at which anything changes */
        const double level = (double)(c % n + 1) * p[c / n];
        bool gone[8] = {false}, falls = true;
        for (size_t k = 0; k < n && falls && !gone[which]; k++) {
            size_t best = n;
            for (size_t i = 0; i < n; i++)
                if (!gone[i] && (best == n || p[i] < p[best]))
                    best = i;
            falls = (double)(n - k) * p[best] <= level;
            gone[best] = falls;
        }
        if (gone[which] && level < least)
            least = level;
    }
    return least;
}

static void test_holm(void **state)
{
    (void)state;
    trl_error err;
    trl_rng rng = trl_rng_seed(5);
    double p[8] = {0.01, 0.04, 0.03, 0.005}, q[8];
    assert_ok(trl_holm(4, p, q, &err));
    assert_near(q[0], 0.03, 1e-15);
    assert_near(q[1], 0.06, 1e-15);
    assert_near(q[2], 0.06, 1e-15);
    assert_near(q[3], 0.02, 1e-15);
    for (int round = 0; round < 500; round++) {
        const size_t n = 1 + (size_t)round % 8;
        for (size_t i = 0; i < n; i++)
            p[i] = round % 3 ? trl_rng_unit(&rng) / 4.0 : (double)(i % 3) / 20.0;
        assert_ok(trl_holm(n, p, q, &err));
        for (size_t i = 0; i < n; i++)
            assert_near(q[i], holm_by_definition(n, p, i), 1e-14);
    }
    p[0] = NAN;
    p[1] = 0.02;
    assert_ok(trl_holm(2, p, p, &err));
    assert_true(isnan(p[0]));
    assert_near(p[1], 0.04, 1e-15);
    assert_ok(trl_holm(0, NULL, NULL, &err));
    assert_int_equal(trl_holm(1, NULL, q, &err), TRL_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mcnemar),        cmocka_unit_test(test_paired_t),
        cmocka_unit_test(test_wilcoxon_known), cmocka_unit_test(test_wilcoxon_enumerated),
        cmocka_unit_test(test_wilcoxon_tie),   cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_scores),         cmocka_unit_test(test_kind_of_tags),
        cmocka_unit_test(test_files),          cmocka_unit_test(test_holm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
