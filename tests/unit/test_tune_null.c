/* test_tune_null.c -- what leaving a word out costs: tuned on held-out pairs, kept in the model. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <math.h>
#include <unistd.h>

#include "base/rng.h"
#include "trellis/translate.h"
#include "trellis/translation.h"

#define PAIRS 400
#define HELD 100

static const char *const names[] = {"tune_null.source", "tune_null.target", "tune_null.links",
                                    "tune_null.trees", "tune_null.model"};
static char path[5][1024];
static uint32_t target_of[PAIRS][2];

/* Every `a` is x (number 0); a `b` becomes any of 60 words, which nothing can foresee. */
static void write_corpus(void)
{
    const char *dir = getenv("TMPDIR");
    trl_rng rng = trl_rng_seed(11);
    FILE *f[4];
    for (int k = 0; k < 5; k++)
        snprintf(path[k], sizeof path[k], "%s/%s.%ld", dir && *dir ? dir : "/tmp", names[k],
                 (long)getpid());
    for (int k = 0; k < 4; k++)
        assert_non_null(f[k] = fopen(path[k], "w"));
    for (size_t i = 0; i < PAIRS; i++) {
        target_of[i][0] = 0;
        target_of[i][1] = 1 + (uint32_t)trl_rng_below(&rng, 60);
        fprintf(f[0], "a b\n");
        fprintf(f[1], "x y%u\n", (unsigned)target_of[i][1]);
        fprintf(f[2], "0-0 1-1\n");
        fprintf(f[3], "(TOP (S (A a) (B b)))\n");
    }
    for (int k = 0; k < 4; k++)
        assert_int_equal(fclose(f[k]), 0);
}

static trl_translate_result train(trl_translate_words words, size_t tune_null)
{
    const trl_translate_data data = {path[0], path[1], path[2], path[3], NULL, NULL};
    trl_translate_options o = trl_translate_options_default();
    trl_translate_result r;
    trl_error err;
    o.words = words;
    o.tune = HELD;
    o.tune_null = tune_null;
    o.threads = 2;
    assert_ok(trl_translate_train(&data, &o, path[4], &r, &err));
    return r;
}

/* "x" and "yN" as numbers. */
static size_t numbers(trl_str text, uint32_t out[2])
{
    size_t n = 0;
    for (size_t k = 0; k < text.n; k++)
        if (text.p[k] == 'x')
            out[n++] = 0;
        else if (text.p[k] == 'y')
            out[n++] = (uint32_t)strtoul(text.p + k + 1, NULL, 10);
    return n;
}

/* The translation of the one sentence there is, by the model file; F of it over the held-out
 * pairs. */
static size_t translate(double f[2])
{
    trl_translate_model *m;
    trl_translator *t;
    trl_translations out;
    trl_treebank *bank;
    trl_tree tree;
    trl_error err;
    bool more;
    uint32_t test[2];
    double size[2] = {0.0, 0.0}, words = 0.0;
    const trl_translate_limits l = trl_translate_limits_default();
    assert_ok(trl_translate_model_open(path[4], &m, &err));
    assert_ok(trl_translator_new(m, &l, &t, &err));
    assert_ok(trl_treebank_open(path[3], NULL, false, &bank, &err));
    assert_ok(trl_treebank_next(bank, &tree, &more, &err));
    assert_ok(trl_translate_tree(t, &tree, &out, &err));
    const size_t n = numbers(out.best[0].text, test);
    for (size_t i = 0; i < PAIRS; i++) {
        if ((i + 1) * HELD / PAIRS == i * HELD / PAIRS)
            continue; /* trained on */
        for (int e = 0; e < 2; e++) {
            double s;
            const trl_turian_pair p = {test, n, target_of[i], 2, e + 1.0};
            assert_ok(trl_turian_size(&p, &s, NULL, &err));
            size[e] += pow(s, 1.0 / (e + 1.0));
        }
        words += (double)n + 2.0;
    }
    for (int e = 0; e < 2; e++)
        f[e] = 200.0 * size[e] / words;
    trl_treebank_free(bank);
    trl_translator_free(t);
    trl_translate_model_free(m);
    return n;
}

static void check(trl_translate_words words)
{
    double plain[2], tuned[2];
    trl_translate_result r = train(words, 0);
    assert_true(isnan(r.tune_f[0]) && r.null_add == 0.0 && r.null_most == 0.0);
    translate(plain);
    r = train(words, HELD + 1); /* too few pairs */
    assert_true(isnan(r.tune_f[0]));
    r = train(words, HELD);
    assert_int_equal(translate(tuned), 1);
    for (int e = 0; e < 2; e++)
        assert_true(fabs(tuned[e] - r.tune_f[e]) < 1e-9);
    assert_true(tuned[0] + tuned[1] >= plain[0] + plain[1]);
}

static void test_boosted(void **state)
{
    (void)state;
    double f[2];
    check(TRL_WORDS_BOOSTED);
    train(TRL_WORDS_BOOSTED, 0);
    assert_int_equal(translate(f), 2); /* without tuning its most frequent translation stays */
}

static void test_generative(void **state)
{
    (void)state;
    check(TRL_WORDS_GENERATIVE);
}

static int finish(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++)
        remove(path[k]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boosted),
                                       cmocka_unit_test(test_generative)};
    write_corpus();
    return cmocka_run_group_tests(tests, NULL, finish);
}
