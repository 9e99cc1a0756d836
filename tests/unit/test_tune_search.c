/* test_tune_search.c -- trl_tune over several lists, by folds, by halving; of trees. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "trellis/tune.h"

static char folder[64]; /* of this run, removed at its end */

static const char *in_folder(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static const char *write_data(const char *name, bool trees)
{
    const char *path = in_folder(name);
    trl_rng rng = trl_rng_seed(5);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t s = 0; s < 40; s++) {
        if (trees) {
            fprintf(f, "(S (NP (D the%zu) (N w%zu)) (VP (V v%zu)%s))\n", trl_rng_below(&rng, 3),
                    trl_rng_below(&rng, 5), trl_rng_below(&rng, 4), s % 3 ? "" : " (NP (N x))");
            continue;
        }
        for (size_t t = 0, n = 1 + trl_rng_below(&rng, 9); t < n; t++) {
            static const char *const label[] = {"B-X", "I-X", "O", "B-Y"};
            const size_t w = trl_rng_below(&rng, 30), noise = trl_rng_below(&rng, 4) == 0;
            fprintf(f, "w%zu p%zu %s\n", w, w % 3, label[(w + noise) % 4]);
        }
        fprintf(f, "\n");
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char template_a[] = "U:%x[0,0]\nB\n", template_b[] = "U:%x[0,1]\nU:%x[-1,0]\nB\n";
static const trl_tune_template templates[] = {{"a", template_a, sizeof template_a - 1},
                                              {"b", template_b, sizeof template_b - 1}};

#define MAX_RUNS 80

typedef struct setup {
    trl_tune_options o;
    trl_train_options t;
    const char *train[1];
    trl_tune_run run[MAX_RUNS], best;
    size_t n;
} setup;

static trl_status on_run(void *ctx, const trl_tune_run *run, trl_error *err)
{
    setup *s = ctx;
    (void)err;
    assert_true(s->n < MAX_RUNS);
    s->run[s->n++] = *run;
    return TRL_OK;
}

static void setup_make(setup *s, const char *data)
{
    *s = (setup){.o = trl_tune_options_default(), .t = trl_train_options_default()};
    s->o.train = &s->t;
    s->train[0] = data;
    s->t.train = s->train;
    s->t.n_train = 1;
    s->t.model = in_folder("model");
    s->t.template_text = template_a;
    s->t.template_size = strlen(template_a);
    s->t.threads = 1;
    s->o.on_run = on_run;
    s->o.ctx = s;
    unlink(s->t.model);
}

/* The same with a grid of c. */
static void setup_grid(setup *s, const char *data, const double *values, size_t n)
{
    setup_make(s, data);
    s->o.grid = values;
    s->o.n_grid = n;
}

/* The model file is what trl_train makes with these options. */
static void assert_model(const char *path, trl_train_options o)
{
    trl_error err = {0};
    trl_mapped file;
    trl_buf model = {0};
    o.model = NULL;
    o.model_out = &model;
    o.progress = NULL;
    assert_ok(trl_train(&o, NULL, &err));
    assert_ok(trl_map_file(path, &file, &err));
    assert_int_equal(file.size, model.len);
    assert_memory_equal(file.data, model.data, model.len);
    trl_unmap(&file);
    trl_buf_fini(&model);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const double grid[] = {3.0, 0.3, (double)INFINITY}, c1[] = {0.5, 0.0};
static const char *const objectives[] = {"likelihood", "memm"};

/* Every combination once, in order; scores are those of a run of its own; so is the model. */
static void test_product(void **state)
{
    (void)state;
    trl_error err = {0};
    setup s;
    setup_grid(&s, write_data("data", false), grid, 3);
    s.o.c1 = c1;
    s.o.n_c1 = 2;
    s.o.objectives = objectives;
    s.o.n_objectives = 2;
    s.o.templates = templates;
    s.o.n_templates = 2;
    s.o.cold = true;
    s.o.hold_out = 4;
    assert_int_equal(trl_tune_settings(&s.o), 24);
    assert_ok(trl_tune(&s.o, &s.best, &err));
    assert_int_equal(s.n, 24);
    size_t best = 0;
    for (size_t k = 0; k < s.n; k++) {
        static const double sorted[] = {0.3, 3.0, (double)INFINITY};
        const trl_tune_run *r = &s.run[k];
        assert_true(r->c == sorted[k % 3] && r->c1 == (k / 3 % 2 ? 0.5 : 0.0));
        assert_string_equal(r->objective, objectives[k / 6 % 2]);
        assert_string_equal(r->template_name, templates[k / 12].name);
        assert_true(isnan(r->deviation));
        best = r->score > s.run[best].score ? k : best;
    }
    assert_true(s.best.c == s.run[best].c && s.best.c1 == s.run[best].c1);
    assert_true(s.best.objective == s.run[best].objective && isnan(s.best.simple_c));
    trl_train_options o = s.t;
    o.template_name = s.best.template_name;
    o.template_text = templates[best / 12].text;
    o.template_size = templates[best / 12].size;
    o.objective = s.best.objective;
    o.c1 = s.best.c1;
    o.c2 = s.best.c2;
    o.hold_out = 4;
    assert_model(s.t.model, o);
}

/* With folds, mean and deviation are those of trl_cv, and the model is of all data. */
static void test_folds(void **state)
{
    (void)state;
    trl_error err = {0};
    setup s;
    setup_grid(&s, write_data("data", false), grid, 3);
    s.o.c1 = c1;
    s.o.n_c1 = 2;
    s.o.cold = true;
    s.o.folds = 4;
    assert_ok(trl_tune(&s.o, &s.best, &err));
    assert_int_equal(s.n, 7);
    assert_true(s.run[6].refit && isnan(s.run[6].score));
    double simple = (double)NAN;
    for (size_t k = 0; k < 6; k++) {
        const trl_tune_run *r = &s.run[k];
        trl_train_options t = s.t;
        trl_cv_options o = trl_cv_options_default();
        trl_cv_result v;
        t.model = NULL;
        t.c1 = r->c1;
        t.c2 = r->c2;
        o.train = &t;
        o.folds = 4;
        assert_ok(trl_cv(&o, &v, &err));
        assert_string_equal(v.measure[4].name, "f1");
        assert_true(v.measure[4].mean == r->score && v.measure[4].deviation == r->deviation);
        for (size_t m = 0; m < v.n_measures; m++)
            assert_true(v.measure[m].all == r->measure[m].all &&
                        v.measure[m].mean == r->measure[m].mean);
        if (r->score >= s.best.score - s.best.deviation / 2.0 &&
            !(r->c > simple)) /* the smallest c; its largest c1 comes last */
            simple = r->c;
    }
    assert_true(s.best.simple_c == simple && s.best.simple_score <= s.best.score);
    trl_train_options o = s.t;
    o.c1 = s.best.c1;
    o.c2 = s.best.c2;
    assert_model(s.t.model, o);
    /* without a model nothing is trained again, and nothing is written */
    unlink(in_folder("model"));
    s.n = 0;
    s.t.model = NULL;
    assert_ok(trl_tune(&s.o, NULL, &err));
    assert_int_equal(s.n, 6);
    assert_int_not_equal(access(in_folder("model"), F_OK), 0);
}

/* Along c, each fold starts from its own model of the c before: the optimum is the same. */
static void test_warm_folds(void **state)
{
    (void)state;
    trl_error err = {0};
    setup warm, cold;
    char data[512];
    snprintf(data, sizeof data, "%s", write_data("data", false));
    for (int k = 0; k < 2; k++) {
        setup *s = k ? &cold : &warm;
        setup_make(s, data);
        s->t.epsilon = 1e-9;
        s->t.delta = 0.0;
        s->t.model = NULL;
        s->o.grid = grid;
        s->o.n_grid = 2;
        s->o.folds = 3;
        s->o.cold = k;
        assert_ok(trl_tune(&s->o, &s->best, &err));
    }
    for (size_t k = 0; k < 2; k++) {
        assert_near(warm.run[k].score, cold.run[k].score, 1e-9);
        assert_near(warm.run[k].result.objective, cold.run[k].result.objective, 1e-7);
    }
    assert_true(warm.run[1].result.iterations < cold.run[1].result.iterations);
}

static void test_halving(void **state)
{
    (void)state;
    trl_error err = {0};
    setup s;
    double many[20];
    for (size_t k = 0; k < 20; k++)
        many[k] = pow(2.0, (double)k - 10.0);
    for (uint64_t folds = 0; folds <= 2; folds += 2) {
        setup_grid(&s, write_data("data", false), many, 20);
        s.o.halving = true;
        s.o.folds = folds;
        assert_ok(trl_tune(&s.o, &s.best, &err));
        /* 20, the best 7, the best 3 to their end; with folds all data, too */
        assert_int_equal(s.n, 20 + 7 + 3 + (folds > 0));
        double worst_kept = 100.0;
        for (size_t k = 0; k < 30; k++) {
            assert_int_equal(s.run[k].round, k < 20 ? 0 : k < 27 ? 1 : 2);
            assert_true(k >= 27 || (!s.run[k].best && s.run[k].result.iterations <= 30));
        }
        for (size_t k = 20; k < 27; k++) /* by their scores of the first round */
            for (size_t i = 0; i < 20; i++)
                if (s.run[i].c == s.run[k].c)
                    worst_kept = fmin(worst_kept, s.run[i].score);
        size_t better = 0;
        for (size_t i = 0; i < 20; i++)
            better += s.run[i].score > worst_kept;
        assert_true(better < 7);
        for (size_t k = 27; k < 30; k++)
            assert_true(s.run[k].score <= s.best.score);
        assert_int_equal(access(s.t.model, F_OK), 0);
    }
}

/* Trees: penalties and passes; F1 is the score. */
static void test_trees(void **state)
{
    (void)state;
    trl_error err = {0};
    static const uint64_t passes[] = {1, 4};
    setup s;
    setup_make(&s, write_data("trees", true));
    s.t.kind = "tree";
    s.t.grade = "discriminative";
    s.t.clusters = "none";
    s.t.template_text = NULL;
    s.t.template_size = 0;
    s.o.grid = grid;
    s.o.n_grid = 2;
    s.o.passes = passes;
    s.o.n_passes = 2;
    s.o.folds = 2;
    assert_ok(trl_tune(&s.o, &s.best, &err));
    assert_int_equal(s.n, 5);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(s.run[k].passes, passes[k / 2]);
        assert_string_equal(s.run[k].measure[2].name, "f1");
        assert_true(s.run[k].score == s.run[k].measure[2].mean && s.run[k].score > 0.0);
    }
    trl_train_options o = s.t;
    o.c2 = s.best.c2;
    o.max_iter = s.best.passes;
    assert_model(s.t.model, o);
}

/* Variants change the options of training, and the best one's model is that of a run of its own. */
static void test_variants(void **state)
{
    (void)state;
    trl_error err = {0};
    static const char *const variants[] = {"", "markov=1  strict", "max-iter=1 annotate=none"};
    setup s;
    setup_make(&s, write_data("trees", true));
    s.t.kind = "tree";
    s.t.grade = "discriminative";
    s.t.clusters = "none";
    s.t.template_text = NULL;
    s.t.template_size = 0;
    s.t.max_iter = 4;
    s.o.grid = grid;
    s.o.n_grid = 2;
    s.o.variants = variants;
    s.o.n_variants = 3;
    s.o.folds = 2;
    assert_int_equal(trl_tune_settings(&s.o), 6);
    assert_ok(trl_tune(&s.o, &s.best, &err));
    assert_int_equal(s.n, 7);
    for (size_t k = 0; k < 6; k++) {
        assert_ptr_equal(s.run[k].variant, variants[k / 2]);
        assert_int_equal(s.run[k].passes, k / 2 == 2 ? 1 : 4);
    }
    assert_true(s.run[0].result.n_features > s.run[4].result.n_features);
    trl_train_options o = s.t;
    o.c2 = s.best.c2;
    o.max_iter = s.best.passes;
    o.markov = s.best.variant == variants[1];
    o.strict = s.best.variant == variants[1];
    if (s.best.variant == variants[2])
        o.annotate = "none";
    assert_model(s.t.model, o);
}

static void test_refusals(void **state)
{
    (void)state;
    char data[512];
    snprintf(data, sizeof data, "%s", write_data("data", false));
    setup s;
#define WRONG(change, status, word)                                                                \
    do {                                                                                           \
        trl_error err = {0};                                                                       \
        setup_grid(&s, data, grid, 1);                                                             \
        change;                                                                                    \
        assert_int_equal(trl_tune(&s.o, NULL, &err), status);                                      \
        if (!strstr(err.msg, word))                                                                \
            fail_msg("'%s' does not say '%s'", err.msg, word);                                     \
        assert_int_not_equal(access(in_folder("model"), F_OK), 0);                                 \
    } while (0)
    static const double bad[] = {-1.0};
    static const uint64_t none[] = {0};
    static const char *const wrong[] = {"likelihood", "best"};
    WRONG((s.o.c1 = bad, s.o.n_c1 = 1), TRL_EINVAL, "c1 must be 0 or more");
    WRONG((s.o.c1 = bad, s.o.n_c1 = 0), TRL_EINVAL, "empty");
    WRONG((s.o.passes = none, s.o.n_passes = 1), TRL_EINVAL, "1 or more");
    WRONG((s.o.objectives = wrong, s.o.n_objectives = 2), TRL_EINVAL, "not known");
    WRONG((s.o.folds = 2, s.t.dev = data), TRL_EINVAL, "not on both");
    WRONG(s.o.folds = 1, TRL_EINVAL, "at least 2");
    WRONG(s.o.folds = 41, TRL_EPARSE, "40 sequences are too few for 41 folds");
    WRONG(s.o.documents = true, TRL_EINVAL, "go with folds");
    WRONG((s.o.folds = 2, s.o.documents = true), TRL_EPARSE, "1 documents are too few");
    WRONG(s.t.model = NULL, TRL_EINVAL, "no model file");
    static const char *const unknown[] = {"", "markov=0 foo=1"}, *const penalty[] = {"c2=1"};
    WRONG((s.o.variants = unknown, s.o.n_variants = 2), TRL_EINVAL, "foo");
    WRONG((s.o.variants = penalty, s.o.n_variants = 1), TRL_EINVAL, "c2");
    WRONG(s.o.variants = unknown, TRL_EINVAL, "empty");
    WRONG(s.t.n_train = 0, TRL_EINVAL, "no training file");
    WRONG(s.t.partial = true, TRL_EINVAL, "partial");
    WRONG(s.o.size = 8, TRL_EINVAL, "no size");
    WRONG(s.t.model = in_folder("no/model"), TRL_EIO, "");
#undef WRONG
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),    cmocka_unit_test(test_folds),
        cmocka_unit_test(test_warm_folds), cmocka_unit_test(test_halving),
        cmocka_unit_test(test_trees),      cmocka_unit_test(test_variants),
        cmocka_unit_test(test_refusals),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-search-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = {"data", "trees", "model"};
    for (size_t k = 0; k < 3; k++)
        unlink(in_folder(names[k]));
    return rmdir(folder) != 0 || failed;
}
