/* test_translation.c -- scores of translations: Turian's F against brute force, BLEU by hand. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/rng.h"
#include "trellis/translation.h"

static trl_error err;
static char path[3][64];

/* ---- brute force ----------------------------------------------------------------------------- */

enum { MOST = 7 };

/* All one-to-one matchings: to[i] is the reference word of candidate word i, or MOST for none. */
static double brute(const uint32_t *test, size_t n, const uint32_t *gold, size_t m, double e,
                    size_t i, size_t *to, bool *used)
{
    if (i == n) {
        double sum = 0.0;
        for (size_t k = 0, run = 0; k < n; k++) {
            if (to[k] == MOST)
                continue;
            run = k && to[k - 1] != MOST && to[k] == to[k - 1] + 1 ? run + 1 : 1;
            const bool ends = k + 1 == n || to[k + 1] == MOST || to[k + 1] != to[k] + 1;
            sum += ends ? pow((double)run, e) : 0.0;
        }
        return sum;
    }
    to[i] = MOST;
    double best = brute(test, n, gold, m, e, i + 1, to, used);
    for (size_t j = 0; j < m; j++) {
        if (used[j] || test[i] != gold[j])
            continue;
        used[j] = true;
        to[i] = j;
        best = fmax(best, brute(test, n, gold, m, e, i + 1, to, used));
        used[j] = false;
        to[i] = MOST;
    }
    return best;
}

static void test_brute_force(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(23);
    static const double exponents[] = {1.0, 1.5, 2.0, 3.0};
    size_t beyond_greedy = 0;
    for (int round = 0; round < 4000; round++) {
        uint32_t test[MOST], gold[MOST];
        const size_t n = trl_rng_below(&r, MOST + 1), m = trl_rng_below(&r, MOST + 1);
        const size_t words = 1 + trl_rng_below(&r, 4);
        size_t to[MOST];
        bool used[MOST] = {false}, exact;
        for (size_t i = 0; i < n; i++)
            test[i] = (uint32_t)trl_rng_below(&r, words);
        for (size_t j = 0; j < m; j++)
            gold[j] = (uint32_t)trl_rng_below(&r, words);
        const double e = exponents[round % 4];
        double size;
        assert_ok(
            trl_turian_size(&(trl_turian_pair){.test = test, .n = n, .gold = gold, .m = m, .e = e},
                            &size, &exact, &err));
        assert_true(exact);
        assert_near(size, brute(test, n, gold, m, e, 0, to, used), 1e-12);
        beyond_greedy += size > 0.0;
    }
    assert_true(beyond_greedy > 2000);
}

/* Longest runs first: 2345, 1, 6.  For e = 1.5 two runs of 3 are larger, for e = 3 they are not. */
static void test_not_greedy(void **state)
{
    (void)state;
    const uint32_t test[] = {1, 2, 3, 4, 5, 6}, gold[] = {2, 3, 4, 5, 9, 1, 2, 3, 9, 4, 5, 6};
    double size;
    bool exact;
    assert_ok(
        trl_turian_size(&(trl_turian_pair){.test = test, .n = 6, .gold = gold, .m = 12, .e = 1.5},
                        &size, &exact, &err));
    assert_near(size, 2.0 * pow(3.0, 1.5), 1e-12);
    assert_true(size > pow(4.0, 1.5) + 2.0);
    assert_ok(
        trl_turian_size(&(trl_turian_pair){.test = test, .n = 6, .gold = gold, .m = 12, .e = 3.0},
                        &size, &exact, &err));
    assert_near(size, 64.0 + 2.0, 1e-12);
}

static void test_budget(void **state)
{
    (void)state;
    uint32_t test[60], gold[60];
    trl_rng r = trl_rng_seed(4);
    double size;
    bool exact;
    for (size_t i = 0; i < 60; i++) {
        test[i] = (uint32_t)trl_rng_below(&r, 2);
        gold[i] = (uint32_t)trl_rng_below(&r, 2);
    }
    assert_ok(
        trl_turian_size(&(trl_turian_pair){.test = test, .n = 60, .gold = gold, .m = 60, .e = 2.0},
                        &size, &exact, &err));
    assert_false(exact); /* two words in any order: it ends, and says so */
    assert_true(size > 100.0 && size <= 3600.0);
    assert_int_equal(
        trl_turian_size(&(trl_turian_pair){.test = test, .n = 60, .gold = gold, .m = 60, .e = 0.5},
                        &size, &exact, &err),
        TRL_EINVAL);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void write_to(size_t k, const char *text)
{
    FILE *f = fopen(path[k], "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static trl_translation *score(const char *gold, const char *test)
{
    trl_translation *t = NULL;
    write_to(0, gold);
    write_to(1, test);
    assert_ok(trl_translation_files(path[0], path[1], &t, &err));
    return t;
}

/* "the the the the the the the" against "the cat is on the mat": 2 of 7, Papineni's example; then
 * one that is worked out: "it is a guide to action" against "it is a guide to action that works".
 */
static void test_bleu(void **state)
{
    (void)state;
    trl_translation *t = score("the cat is on the mat\n", "the the the the the the the\n");
    size_t n;
    const trl_translation_sentence *s = trl_translation_sentences(t, &n);
    assert_int_equal(n, 1);
    assert_int_equal(s[0].match[0], 2);
    assert_int_equal(s[0].possible[0], 7);
    assert_near(trl_translation_get_totals(t).bleu, 0.0, 1e-12);
    trl_translation_free(t);
    t = score("it is a guide to action that works\n", "it is a guide to action\n");
    trl_translation_totals x = trl_translation_get_totals(t);
    assert_near(x.bleu, 100.0 * exp(1.0 - 8.0 / 6.0), 1e-12); /* all n-grams match, too short */
    assert_near(x.brevity, exp(1.0 - 8.0 / 6.0), 1e-12);
    trl_translation_free(t);
    /* over a corpus: 1-grams 7/9, 2-grams 4/7, 3-grams 2/5, 4-grams 1/3; 9 words against 9 */
    t = score("a b c d e\nf g h i\n", "a b c d x\nf x h g\n");
    x = trl_translation_get_totals(t);
    s = trl_translation_sentences(t, &n);
    assert_int_equal(s[0].match[3], 1);
    const double want = pow(7.0 / 9.0 * (3.0 / 7.0) * (2.0 / 5.0) * (1.0 / 3.0), 0.25);
    assert_near(x.bleu, 100.0 * want, 1e-12);
    assert_near(x.precision[0], 100.0 * 7.0 / 9.0, 1e-12);
    assert_near(x.f[1], 100.0 * (4.0 + sqrt(3.0)) / 9.0, 1e-12); /* one run of 4; three of 1 */
    /* of a sentence: matches and n-grams of 2 and more words have 1 added */
    assert_near(s[1].bleu, 100.0 * pow(3.0 / 4.0 * (1.0 / 4.0) * (1.0 / 3.0) * (1.0 / 2.0), 0.25),
                1e-12);
    trl_translation_free(t);
}

static void test_refusals(void **state)
{
    (void)state;
    trl_translation *t = NULL;
    assert_int_equal(trl_translation_files(NULL, NULL, &t, &err), TRL_EINVAL);
    assert_int_equal(trl_translation_compare(NULL, NULL, NULL, NULL, &err), TRL_EINVAL);
    write_to(0, "a b\nc\n");
    write_to(1, "a\n");
    assert_int_equal(trl_translation_files(path[0], path[1], &t, &err), TRL_EPARSE);
    assert_int_equal(err.row, 2);
    assert_string_equal(err.path, path[0]);
    assert_int_equal(trl_translation_files(path[1], path[0], &t, &err), TRL_EPARSE);
    assert_string_equal(err.path, path[0]);
    write_to(0, "");
    assert_int_equal(trl_translation_files(path[0], path[0], &t, &err), TRL_EINVAL);
    t = score("a b\n\nc\n", "\n\n\n"); /* nothing translated, nothing to translate */
    const trl_translation_totals x = trl_translation_get_totals(t);
    assert_true(x.bleu == 0.0 && x.f[0] == 0.0 && x.f[1] == 0.0 && x.sentences == 3);
    trl_translation_free(t);
}

static void test_compare(void **state)
{
    (void)state;
    char gold[4000] = "", a[4000] = "", b[4000] = "";
    trl_bootstrap_options o = trl_bootstrap_options_default();
    trl_translation_comparison r;
    trl_rng rng = trl_rng_seed(6);
    for (int k = 0; k < 40; k++) {
        strcat(gold, "the cat sat on the mat today\n");
        strcat(a, trl_rng_below(&rng, 2) ? "the cat on mat\n" : "cat the mat sat\n");
        strcat(b,
               trl_rng_below(&rng, 2) ? "the cat sat on the mat\n" : "the cat on the mat today\n");
    }
    trl_translation *x = score(gold, a), *y = NULL;
    write_to(2, b);
    assert_ok(trl_translation_files(path[0], path[2], &y, &err));
    o.resamples = 500;
    assert_ok(trl_translation_compare(x, y, &o, &r, &err));
    for (int k = 0; k < TRL_TRANSLATION_MEASURES; k++) {
        assert_near(r.difference[k].difference, r.score[1][k] - r.score[0][k], 1e-12);
        assert_true(r.difference[k].difference > 0.0 && r.difference[k].low > 0.0);
        assert_true(r.difference[k].p < 0.01 && r.wilcoxon[k].p < 0.001);
    }
    assert_near(r.score[0][TRL_F_1], trl_translation_get_totals(x).f[0], 1e-12);
    assert_near(r.score[1][TRL_BLEU], trl_translation_get_totals(y).bleu, 1e-12);
    assert_ok(trl_translation_compare(x, x, &o, &r, &err));
    assert_near(r.difference[0].p, 1.0, 1e-12);
    assert_near(r.wilcoxon[1].p, 1.0, 1e-12);
    trl_translation_free(y);
    y = score("a\n", "a\n");
    assert_int_equal(trl_translation_compare(x, y, &o, &r, &err), TRL_EINVAL);
    trl_translation_free(x);
    trl_translation_free(y);
}

int main(void)
{
    for (int k = 0; k < 3; k++)
        snprintf(path[k], sizeof path[k], "/tmp/trellis-translation-%d-%d", (int)getpid(), k);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_not_greedy),
        cmocka_unit_test(test_budget),      cmocka_unit_test(test_bleu),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_compare),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < 3; k++)
        unlink(path[k]);
    return failed;
}
