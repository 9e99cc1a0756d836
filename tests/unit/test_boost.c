/* test_boost.c -- boosted trees: against the naive learner, with threads, sampled. */
/* SPDX-License-Identifier: MIT */
#include "boost_problem.h"
#include "naive_boost.h"

#include <unistd.h>

#include "base/file.h"
#include "boost/data.h"
#include "boost/loss.h"
#include "boost/trainer.h"

static trl_error err;

/* ---- against the naive learner -------------------------------------------------------------- */

static uint32_t number_of(const trl_boost_model *m, uint32_t feature)
{
    char text[24];
    const trl_str s = trl_strview_get(&m->names, feature);
    snprintf(text, sizeof text, "%.*s", (int)s.n, s.p);
    return (uint32_t)strtoul(text, NULL, 10);
}

static void compare_trees(const naive *s, const trl_boost_model *m)
{
    const trl_boost_part *p = &m->part[0];
    assert_int_equal(p->n_trees, s->n_trees);
    for (size_t k = 0; k < s->n_trees; k++)
        assert_int_equal(p->tree_end[k], s->tree_end[k]);
    for (size_t x = 0; x < s->n_nodes; x++) {
        const trl_boost_node *a = &p->node[x], *b = &s->node[x];
        assert_int_equal(a->feature == TRL_NO_ID, b->feature == TRL_NO_ID);
        if (a->feature == TRL_NO_ID) {
            assert_near(a->value, b->value, 1e-6);
        } else {
            assert_int_equal(number_of(m, a->feature), b->feature);
            assert_int_equal(a->off, b->off);
        }
    }
}

static void check_path(uint64_t seed, trl_boost_options o, bool equal_values, size_t *splits)
{
    static naive s;
    double objective[200], h[NAIVE_N];
    trl_boost_model *m = NULL;
    memset(&s, 0, sizeof s);
    naive_random(&s, seed, equal_values);
    trl_boost_data *d = naive_data(&s);
    assert_ok(trl_boost_train(d, NULL, &o, &m, &err));
    const size_t n = naive_path(&s, &o, objective, 200);
    compare_trees(&s, m);
    const trl_boost_classifier c = trl_boost_model_classifier(m, 0);
    assert_int_equal(c.n_points, n);
    for (size_t k = 0; k < n; k++)
        assert_near(c.point[k].objective, objective[k], 1e-9);
    size_t live = 0;
    for (size_t k = 0; k < s.n_terms; k++)
        live += s.term[k].theta != 0.0;
    assert_int_equal(c.point[n - 1].compound, live);
    assert_ok(trl_boost_predict(m, 0, d, h, &err));
    for (size_t i = 0; i < s.n; i++)
        if (s.value[i] > 0.0)
            assert_near(h[i], s.h[i], 1e-6);
    *splits += s.n_nodes;
    trl_boost_model_free(m);
    trl_boost_data_free(d);
}

static void test_naive(void **state)
{
    (void)state;
    size_t splits = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trl_boost_options o = trl_boost_options_default();
        o.lambda_end = 0.05;
        o.min_gain = seed % 3 == 0 ? 0.43 : 0.05;
        o.depth = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 3 : 0;
        o.no_intercept = seed % 5 == 0;
        o.rate = seed % 6 == 0 ? 0.3 : 1.0;
        o.threads = 1 + seed % 2;
        o.trees = 300;
        check_path(seed, o, seed % 7 == 0, &splits);
    }
    assert_true(splits > 3000); /* it was about something */
}

/* ---- larger problems ------------------------------------------------------------------------ */

static void test_threads(void **state)
{
    (void)state;
    problem p = make_problem(5, 40000, 0), held_out = make_problem(6, 5000, (size_t)1 << 30);
    assert_true(trl_boost_data_get_info(p.data).in_file > 0);
    for (size_t sample = 0; sample <= 2000; sample += 2000) {
        trl_boost_options o = quick();
        o.sample = sample;
        trl_boost_model *one = train(&p, &held_out, o);
        for (size_t threads = 2; threads <= 5; threads += 3) {
            o.threads = threads;
            trl_boost_model *many = train(&p, &held_out, o);
            assert_same_models(one, many);
            trl_boost_model_free(many);
        }
        trl_boost_model_free(one);
    }
    free_problem(&p);
    free_problem(&held_out);
}

static double best_loss(const trl_boost_model *m)
{
    const trl_boost_classifier c = trl_boost_model_classifier(m, 0);
    return c.point[c.best].held_out;
}

/* A sample of at least all examples changes nothing; a small one finds nearly as good a model, and
 * R, with all examples in it, never rises. */
static void test_sample(void **state)
{
    (void)state;
    problem p = make_problem(7, 20000, (size_t)1 << 30), held_out = make_problem(8, 5000, 0);
    trl_boost_options o = quick();
    trl_boost_model *exact = train(&p, &held_out, o);
    o.sample = p.n;
    trl_boost_model *all = train(&p, &held_out, o);
    o.sample = 1000;
    trl_boost_model *sampled = train(&p, &held_out, o);
    assert_same_models(exact, all);
    assert_true(best_loss(exact) < 0.35);
    assert_true(best_loss(sampled) < 1.03 * best_loss(exact));
    const trl_boost_classifier c = trl_boost_model_classifier(sampled, 0);
    for (size_t k = 1; k < c.n_points; k++)
        assert_true(c.point[k].objective <= c.point[k - 1].objective * (1.0 + 1e-12));
    trl_boost_model_free(exact);
    trl_boost_model_free(all);
    trl_boost_model_free(sampled);
    free_problem(&p);
    free_problem(&held_out);
}

/* Classifiers over the same examples, trained side by side, are those trained alone. */
static void test_many(void **state)
{
    (void)state;
    problem p = make_problem(9, 5000, (size_t)1 << 30);
    signed char *other = malloc(p.n);
    double *value = malloc(p.n * sizeof *value);
    for (size_t i = 0; i < p.n; i++) {
        other[i] = p.end[i] % 3 == 0 ? 1 : -1;
        value[i] = i % 2 ? 0.5 : 0.0;
    }
    trl_boost_options o = quick();
    trl_boost_model *alone = train(&p, NULL, o);
    assert_ok(trl_boost_data_answer(p.data, "other", other, value, &err));
    o.threads = 2;
    trl_boost_model *both = train(&p, NULL, o);
    assert_int_equal(trl_boost_model_classifiers(both), 2);
    assert_string_equal(trl_boost_model_classifier(both, 1).name, "other");
    double *a = malloc(p.n * sizeof *a), *b = malloc(p.n * sizeof *b);
    assert_ok(trl_boost_predict(alone, 0, p.data, a, &err));
    assert_ok(trl_boost_predict(both, 0, p.data, b, &err));
    assert_memory_equal(a, b, p.n * sizeof *a);
    trl_boost_model_free(alone);
    const double first[2] = {trl_boost_model_classifier(both, 0).point[0].lambda,
                             trl_boost_model_classifier(both, 1).point[0].lambda};
    trl_boost_model_free(both);
    o.lambda_end = 1e-9;
    o.lambda_least = 0.5 * fmin(first[0], first[1]);
    both = train(&p, NULL, o);
    for (size_t k = 0; k < 2; k++) { /* each ends there */
        const trl_boost_classifier c = trl_boost_model_classifier(both, k);
        assert_true(c.n_points > 1);
        assert_true(c.point[c.n_points - 1].lambda >= o.lambda_least);
    }
    trl_boost_model_free(both);
    free(a);
    free(b);
    free(other);
    free(value);
    free_problem(&p);
}

/* Three classifiers, one of which goes on when the others are done, and is helped then. */
static void test_helpers(void **state)
{
    (void)state;
    problem p = make_problem(11, 30000, (size_t)1 << 30);
    signed char *rare = malloc(p.n), *rarer = malloc(p.n);
    for (size_t i = 0; i < p.n; i++) {
        rare[i] = p.y[i] > 0 && i % 50 == 0 ? 1 : -1;
        rarer[i] = p.y[i] > 0 && i % 300 == 0 ? 1 : -1;
    }
    assert_ok(trl_boost_data_answer(p.data, "rare", rare, NULL, &err));
    assert_ok(trl_boost_data_answer(p.data, "rarer", rarer, NULL, &err));
    for (size_t sample = 0; sample <= 1000; sample += 1000) {
        trl_boost_options o = quick();
        o.sample = sample;
        o.trees = 40;
        o.threads = 1;
        trl_boost_model *one = train(&p, NULL, o);
        for (size_t threads = 2; threads <= 4; threads++) {
            o.threads = threads;
            trl_boost_model *many = train(&p, NULL, o);
            assert_same_models(one, many);
            trl_boost_model_free(many);
        }
        trl_boost_model_free(one);
    }
    free(rare);
    free(rarer);
    free_problem(&p);
}

/* A classifier without positive examples is refused before the others are learnt. */
static bool no_progress(void *ctx, const trl_boost_progress *now)
{
    (void)now;
    *(bool *)ctx = true;
    return false;
}

static void test_refused_early(void **state)
{
    (void)state;
    problem p = make_problem(12, 1000, (size_t)1 << 30);
    signed char *none = malloc(p.n);
    memset(none, -1, p.n);
    assert_ok(trl_boost_data_answer(p.data, "none", none, NULL, &err));
    trl_boost_options o = quick();
    trl_boost_model *m = NULL;
    bool learnt = false;
    o.progress = no_progress;
    o.progress_ctx = &learnt;
    for (o.threads = 1; o.threads <= 2; o.threads++) {
        assert_int_equal(trl_boost_train(p.data, NULL, &o, &m, &err), TRL_EINVAL);
        assert_non_null(strstr(err.msg, "classifier none: no example that counts is positive"));
        assert_false(learnt);
    }
    free(none);
    free_problem(&p);
}

static char folder[64];

static void test_model_file(void **state)
{
    (void)state;
    char path[128], copy[128];
    problem p = make_problem(13, 2000, (size_t)1 << 30);
    trl_boost_model *m = train(&p, NULL, quick()), *back = NULL;
    snprintf(path, sizeof path, "%s/model", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    assert_ok(trl_boost_model_save(m, path, &err));
    assert_ok(trl_boost_model_open(path, &back, &err));
    assert_same_models(m, back);
    assert_ok(trl_boost_model_save(back, copy, &err));
    trl_mapped a, b;
    assert_ok(trl_map_file(path, &a, &err));
    assert_ok(trl_map_file(copy, &b, &err));
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    trl_unmap(&a);
    trl_unmap(&b);
    trl_boost_model_free(back);
    trl_boost_model_free(m);
    unlink(path);
    unlink(copy);
    free_problem(&p);
}

/* ---- kernels and refusals ------------------------------------------------------------------- */

/* The slope is the derivative of the loss, by central differences; vectors and scalars agree. */
static void test_slope(void **state)
{
    (void)state;
    trl_rng r = trl_rng_seed(3);
    double v[37], odds[37], plus[37], minus[37];
    for (size_t n = 1; n <= 37; n++) {
        double positive = 0.0;
        const double x = 4.0 * trl_rng_unit(&r) - 2.0, e = 1e-5;
        for (size_t i = 0; i < n; i++) {
            v[i] = 2.0 * trl_rng_unit(&r) - 1.0;
            odds[i] = exp(8.0 * trl_rng_unit(&r) - 4.0);
            plus[i] = odds[i] * exp(x + e);
            minus[i] = odds[i] * exp(x - e);
            positive += v[i] > 0.0 ? v[i] : 0.0;
        }
        const trl_slope s = trl_loss_slope(n, v, odds, exp(x));
        const double up = trl_loss_value(n, v, plus), down = trl_loss_value(n, v, minus);
        assert_near(s.first - positive, (up - down) / (2.0 * e), 1e-8);
        const trl_slope above = trl_loss_slope(n, v, odds, exp(x + e));
        const trl_slope below = trl_loss_slope(n, v, odds, exp(x - e));
        assert_near(s.second, (above.first - below.first) / (2.0 * e), 1e-8);
    }
}

/* The intercept is the log odds for any counts of the two answers; Newton's last step may be below
 * rounding while no value on the other side of the minimum has been seen.  It is all that a
 * feature of every example leaves to learn: the run ends. */
static void test_intercepts(void **state)
{
    (void)state;
    size_t end[150];
    uint32_t feature[150] = {0};
    signed char y[150];
    for (size_t k = 0; k < 150; k++)
        end[k] = k + 1;
    for (size_t n = 2; n <= 150; n += 7)
        for (size_t positive = 1; positive < n; positive++) {
            const trl_boost_examples x = {n, 1, end, feature};
            trl_boost_options o = trl_boost_options_default();
            trl_boost_data *d = NULL;
            trl_boost_model *m = NULL;
            double h[150];
            for (size_t k = 0; k < n; k++)
                y[k] = k < positive ? 1 : -1;
            o.threads = 1;
            o.trees = 50; /* in case it does not */
            assert_ok(trl_boost_data_new(&x, 1 << 20, &d, &err));
            assert_ok(trl_boost_data_answer(d, "", y, NULL, &err));
            assert_ok(trl_boost_train(d, NULL, &o, &m, &err));
            assert_ok(trl_boost_predict(m, 0, d, h, &err));
            assert_true(m->part[0].n_trees < 10);
            assert_near(h[0], log((double)positive / (double)(n - positive)), 1e-9);
            trl_boost_model_free(m);
            trl_boost_data_free(d);
        }
}

static void test_null(void **state)
{
    (void)state;
    trl_boost_data *d = NULL;
    trl_boost_model *m = NULL;
    const trl_boost_options o = quick();
    const trl_boost_read_options r = trl_boost_read_options_default();
    double h;
    assert_int_equal(trl_boost_read(NULL, 1, &r, &d, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_data_new(&(trl_boost_examples){1, 1, NULL, NULL}, 0, &d, &err),
                     TRL_EINVAL);
    assert_int_equal(trl_boost_data_answer(NULL, "x", NULL, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_data_save(NULL, "x", &err), TRL_EINVAL);
    assert_int_equal(trl_boost_train(NULL, NULL, &o, &m, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_model_save(NULL, "x", &err), TRL_EINVAL);
    assert_int_equal(trl_boost_model_open(NULL, &m, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_predict(NULL, 0, NULL, &h, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_dump(NULL, 0, NULL, NULL, &err), TRL_EINVAL);
    trl_boost_data_free(NULL);
    trl_boost_model_free(NULL);
}

static void test_refusals(void **state)
{
    (void)state;
    const size_t end[] = {1, 2};
    const uint32_t feature[] = {0, 1}, twice[] = {1, 1};
    const size_t both[] = {2, 2};
    const signed char y[] = {1, 1}, bad[] = {1, 0};
    const double value[] = {1.0, -1.0}, nan[] = {1.0, NAN}, one_sided[] = {1.0, 0.0};
    const signed char mixed[] = {1, -1};
    trl_boost_data *d = NULL;
    trl_boost_model *m = NULL;
    trl_boost_options o = quick();
    assert_int_equal(trl_boost_data_new(&(trl_boost_examples){2, 1, end, feature}, 0, &d, &err),
                     TRL_EINVAL);
    assert_non_null(strstr(err.msg, "out of range"));
    assert_int_equal(trl_boost_data_new(&(trl_boost_examples){2, 2, both, twice}, 0, &d, &err),
                     TRL_EINVAL);
    assert_non_null(strstr(err.msg, "twice"));
    assert_int_equal(trl_boost_data_new(&(trl_boost_examples){0, 2, end, feature}, 0, &d, &err),
                     TRL_EINVAL);
    assert_ok(trl_boost_data_new(&(trl_boost_examples){2, 2, end, feature}, 0, &d, &err));
    assert_int_equal(trl_boost_train(d, NULL, &o, &m, &err), TRL_EINVAL); /* no answers */
    assert_int_equal(trl_boost_data_answer(d, "x", bad, NULL, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_data_answer(d, "x", mixed, value, &err), TRL_EINVAL);
    assert_int_equal(trl_boost_data_answer(d, "x", mixed, nan, &err), TRL_EINVAL);
    assert_ok(trl_boost_data_answer(d, "x", y, NULL, &err));
    assert_int_equal(trl_boost_train(d, NULL, &o, &m, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "no example that counts is negative"));
    d->answers[0].y = mixed;
    d->answers[0].value = one_sided;
    assert_int_equal(trl_boost_train(d, NULL, &o, &m, &err), TRL_EINVAL);
    d->answers[0].value = NULL;
    assert_ok(trl_boost_train(d, NULL, &o, &m, &err));
    trl_boost_model_free(m);
    const trl_boost_options wrong[] = {
        {.decay = 1.0},
        {.decay = 0.5, .lambda_end = 2.0},
        {.decay = 0.5, .lambda_end = 0.1, .min_gain = -1.0},
        {.decay = 0.5, .lambda_end = 0.1, .min_gain = 0.1, .rate = 2.0},
        {.decay = 0.5, .lambda_end = 0.1, .rate = 1.0}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(trl_boost_train(d, NULL, &wrong[k], &m, &err), TRL_EINVAL);
    trl_boost_data_free(d);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/trellis-boost-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_naive),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_sample),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_helpers),    cmocka_unit_test(test_refused_early),
        cmocka_unit_test(test_model_file), cmocka_unit_test(test_slope),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_null),
        cmocka_unit_test(test_intercepts),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
