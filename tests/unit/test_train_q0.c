/* test_train_q0.c -- trl_train without inference in the loop: hidden Markov models and
 * M-estimation, from files to tags. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/mem.h"
#include "mest/q0.h"
#include "train_notes.h"

static const char second[] = "*w:%x[0,0]\nU:%x[-1,0]/%x[0,0]\n*p:%x[0,1]\nB\nT\n";

/* ---- what is scored in training is what the tagger does --------------------------------- */

static void test_dev_is_tagger(void **state)
{
    (void)state;
    static const struct {
        const char *objective, *q0, *decode;
        bool mask, calibrate;
    } run[] = {{"hmm", NULL, NULL, false, false},    {"hmm", NULL, "local", false, false},
               {"mest", "hmm", NULL, false, false},  {"mest", "hmm", NULL, true, false},
               {"mest", "lu", NULL, false, false},   {"mest", "emp", "local", false, false},
               {"memm", NULL, NULL, false, false},   {"memm", NULL, "global", false, false},
               {"crf", NULL, "local", false, false}, {"nota", NULL, NULL, false, false},
               {"nota", NULL, NULL, false, true},    {"nota", NULL, "local", false, true},
               {"pw", NULL, NULL, false, true}};
    for (int order = 1; order <= 2; order++)
        for (int wide = 0; wide < 2; wide++)
            for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
                setup s;
                notes n = {0};
                setup_make(&s, write_columns("data", 41, 60));
                s.o.dev = write_columns("dev", 42, 60);
                s.o.order = order;
                s.o.objective = run[k].objective;
                s.o.q0 = run[k].q0;
                s.o.decode = run[k].decode;
                s.o.q0_mask = run[k].mask;
                s.o.calibrate = run[k].calibrate;
                s.o.max_iter = 8;
                s.o.c2 = 0.3;
                if (wide)
                    use_template(&s, order == 2 ? second : "*w:%x[0,0]\nU:%x[0,1]\n");
                train(&s, &n);
                const double f1 = score_of(s.o.model, s.o.dev);
                if (fabs(f1 - s.result.dev_score) > 1e-9)
                    fail_msg("%s, order %d, run %zu: %g in training, %g by the tagger",
                             run[k].objective, order, k, s.result.dev_score, f1);
                assert_true(f1 > 5.0);
            }
    assert_no_leftovers();
}

/* ---- answers ----------------------------------------------------------------------------- */

/* With all weights at 0 M-estimation is q0. */
static void test_zero_is_q0(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        setup s;
        notes n = {0};
        answers hmm, mest;
        const char *dev = write_columns("dev", 52, 30);
        setup_make(&s, write_columns("data", 51, 80));
        s.o.order = order;
        s.o.objective = "hmm";
        train(&s, &n);
        assert_int_equal(s.result.iterations, 0);
        assert_true(isfinite(s.result.objective) && s.result.objective > 0.0);
        ask(s.o.model, dev, TRL_DECODE_MODEL, &hmm);
        s.o.objective = "m-estimation";
        s.o.c2 = 1e15;
        train(&s, &n);
        ask(s.o.model, dev, TRL_DECODE_MODEL, &mest);
        assert_near(mest.log_z, hmm.log_z, 1e-9);
        assert_near(mest.best, hmm.best, 1e-9);
        assert_memory_equal(mest.y, hmm.y, hmm.n * sizeof *hmm.y);
        for (size_t k = 0; k < hmm.n * hmm.L; k++)
            assert_near(mest.p[k], hmm.p[k], 1e-9);
        s.o.c2 = 0.1; /* and with weights it is not */
        train(&s, &n);
        ask(s.o.model, dev, TRL_DECODE_MODEL, &mest);
        assert_true(fabs(mest.log_z - hmm.log_z) > 1e-3);
    }
}

/* The score of a labelling is log q(x, y). */
static void test_hmm_score(void **state)
{
    (void)state;
    trl_error err;
    for (int order = 1; order <= 2; order++) {
        setup s;
        notes n = {0};
        trl_model *m = NULL;
        trl_tagger *t = NULL;
        trl_reader *r = NULL;
        trl_column_values columns = {0};
        trl_hmm h;
        const char *data = write_columns("data", 61, 50);
        setup_make(&s, data);
        s.o.objective = "hmm";
        s.o.order = order;
        train(&s, &n);
        assert_ok(trl_model_open(s.o.model, &m, &err));
        assert_ok(trl_tagger_new(m, &t, &err));
        uint32_t label[1000], *value = NULL;
        trl_rows seq;
        for (int pass = 0; pass < 2; pass++) {
            size_t at = 0;
            double total = 0.0;
            assert_ok(trl_reader_open(data, TRL_FORMAT_COLUMNS, &r, &err));
            for (bool more = true;; at += seq.n_tokens) {
                assert_ok(trl_reader_rows(r, &seq, &more, &err));
                if (!more)
                    break;
                if (pass == 0) {
                    assert_ok(trl_column_values_add_rows(&columns, &seq, &err));
                    assert_true(at + seq.n_tokens <= 1000);
                    for (size_t k = 0; k < seq.n_tokens; k++)
                        label[at + k] = trl_model_find_label(m, seq.cell[3 * k + 2]);
                } else {
                    double score;
                    assert_ok(trl_tagger_set_rows(t, &seq, &err));
                    assert_ok(trl_tagger_score(t, label + at, &score, &err));
                    const double want =
                        trl_hmm_log_p(&h, seq.n_tokens, label + at, value + at * h.n_columns);
                    assert_near(score, want, 1e-9);
                    total -= want;
                }
            }
            trl_reader_free(r);
            if (pass == 0) {
                assert_ok(
                    trl_q0_train(&h, TRL_Q0_HMM, order, &(trl_q0_data){&columns, label, 4}, &err));
                assert_ok(trl_hmm_number(&h, &columns, &value, &err));
            } else {
                assert_near(s.result.objective, total, 1e-6);
            }
        }
        trl_free(value);
        trl_hmm_fini(&h);
        trl_column_values_fini(&columns);
        trl_tagger_free(t);
        trl_model_free(m);
    }
}

/* ---- the cache of expectations ----------------------------------------------------------- */

static void test_cache(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    notes n = {0};
    unlink(in_folder("cache"));
    setup_make(&s, write_columns("data", 81, 60));
    s.o.objective = "mest";
    s.o.q0_cache = in_folder("cache");
    train(&s, &n);
    assert_non_null(strstr(n.text, "expectations under q0 = hmm"));
    assert_true(exists(s.o.q0_cache));
    rename(s.o.model, in_folder("first"));
    train(&s, &n); /* the same again */
    assert_non_null(strstr(n.text, "read from the cache"));
    assert_null(strstr(n.text, " s\n"));
    assert_same_files(s.o.model, in_folder("first"));
    s.o.c2 = 0.2; /* only c changes: the cache serves */
    train(&s, &n);
    assert_non_null(strstr(n.text, "read from the cache"));
    rename(s.o.model, in_folder("first"));
    s.o.q0_cache = NULL;
    train(&s, &n);
    assert_same_files(s.o.model, in_folder("first"));

    s.o.q0_cache = in_folder("cache");
    static const char *const q0[] = {"lu", "emp", "hmm"};
    for (int k = 0; k < 3; k++) { /* anything else: anew, with a word */
        s.o.q0 = q0[k];
        train(&s, &n);
        assert_non_null(strstr(n.text, "computed anew"));
    }
    s.o.q0_mask = true;
    train(&s, &n);
    assert_non_null(strstr(n.text, "computed anew"));
    setup_make(&s, write_columns("data", 82, 60));
    s.o.objective = "mest";
    s.o.q0_cache = in_folder("cache");
    train(&s, &n);
    assert_non_null(strstr(n.text, "computed anew"));

    s.o.q0_cache = write_file("text", "not a cache\n"); /* is not overwritten */
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EMODEL);
    char line[40];
    FILE *f = fopen(in_folder("text"), "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_string_equal(line, "not a cache\n");
}

/* The cache of items knows which attributes are where. */
static void test_cache_of_items(void **state)
{
    (void)state;
    setup s;
    notes n = {0};
    unlink(in_folder("cache"));
    setup_make(&s, write_file("one", "A\tx\ty\nB\ty\n\nB\tx\n"));
    use_template(&s, NULL);
    s.o.objective = "mest";
    s.o.q0_cache = in_folder("cache");
    train(&s, &n);
    assert_non_null(strstr(n.text, "q0 = emp"));
    train(&s, &n);
    assert_non_null(strstr(n.text, "read from the cache"));
    static const char *const others[] = {"A\ty\tx\nB\tx\n\nB\ty\n",
                                         "A\tx\ty\nB\ty\n\n@weight:3\nB\tx\n",
                                         "A\tx\ty:2\nB\ty\n\nB\tx\n"};
    for (int k = 0; k < 3; k++) {
        s.train[0] = write_file("other", others[k]);
        train(&s, &n);
        if (!strstr(n.text, "computed anew"))
            fail_msg("items %d: %s", k, n.text);
    }
}

/* Lines without a window are sampled: the more samples, the nearer. */
static void test_samples(void **state)
{
    (void)state;
    setup s;
    notes n = {0};
    setup_make(&s, write_columns("data", 91, 60));
    use_template(&s, "U:%x[0,0]\nU:%x[@1,0]\nB\n");
    s.o.objective = "mest";
    s.o.q0_samples = 2000;
    train(&s, &n);
    assert_non_null(strstr(n.text, "1 line of the template by 2000 samples"));
    const double few = s.result.objective;
    s.o.q0_samples = 100000;
    train(&s, &n);
    const double many = s.result.objective;
    s.o.seed = 5;
    train(&s, &n);
    assert_true(many != s.result.objective);
    assert_true(fabs(many - s.result.objective) < 0.02);
    assert_true(fabs(few - many) < 0.2);
}

/* ---- ends -------------------------------------------------------------------------------- */

static void test_stop_and_resume(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"dual", "lbfgs", "owlqn"};
    for (int k = 0; k < 3; k++) {
        setup s;
        notes n = {0};
        setup_make(&s, write_columns("data", 101, 80));
        s.o.objective = "mest";
        s.o.optimizer = optimizers[k];
        s.o.c1 = k == 2 ? 0.001 : 0.0;
        s.o.c2 = 0.01;
        s.o.delta = s.o.epsilon = 1e-9;
        s.o.max_iter = 12;
        s.o.threads = 1;
        s.o.dev = write_columns("dev", 102, 30);
        train(&s, &n);
        assert_int_equal(s.result.iterations, 12);
        rename(s.o.model, in_folder("whole"));
        s.o.threads = 3;
        train(&s, &n);
        assert_same_files(s.o.model, in_folder("whole"));
        n.stop_at = 5;
        s.o.checkpoint = in_folder("checkpoint");
        train(&s, &n);
        assert_true(s.result.stopped);
        assert_int_equal(s.result.iterations, 5);
        assert_true(score_of(s.o.model, s.train[0]) > 20.0);
        n.stop_at = 0;
        s.o.resume = true;
        train(&s, &n);
        assert_int_equal(s.result.iterations, 12);
        assert_same_files(s.o.model, in_folder("whole"));
        trl_error err;
        s.o.q0 = "lu"; /* another problem */
        assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EMODEL);
    }
    setup s; /* before the first iteration: there is nothing to write */
    notes n = {.stop_at_q0 = true};
    trl_error err;
    setup_make(&s, write_columns("data", 101, 80));
    s.o.objective = "mest";
    s.o.progress = note;
    s.o.progress_ctx = &n;
    remove(s.o.model);
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_ECANCEL);
    assert_false(exists(s.o.model));
}

/* Dual and primal find the same optimum. */
static void test_same_optimum(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        setup s;
        notes n = {0};
        setup_make(&s, write_columns("data", 111, 80));
        s.o.objective = "mest";
        s.o.order = order;
        s.o.delta = s.o.epsilon = 1e-10;
        s.o.c2 = 0.05;
        train(&s, &n);
        const double dual = s.result.objective;
        s.o.optimizer = "lbfgs";
        s.o.delta = 0.0;
        s.o.epsilon = 1e-8;
        train(&s, &n);
        assert_near(s.result.objective, dual, 1e-8);
    }
}

static void test_bottomless(void **state)
{
    (void)state;
    setup s;
    notes n = {0};
    setup_make(&s, write_columns("data", 121, 20));
    s.o.objective = "mest";
    s.o.c2 = 0.0;
    train(&s, &n);
    assert_non_null(strstr(n.text, "may have no minimum"));
    assert_non_null(strstr(s.result.ending, "no minimum"));
    assert_false(s.result.stopped);
    assert_true(exists(s.o.model));
    s.o.c2 = 0.5; /* as usual */
    train(&s, &n);
    assert_null(strstr(n.text, "minimum"));
    assert_string_equal(s.result.ending, "converged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dev_is_tagger),   cmocka_unit_test(test_zero_is_q0),
        cmocka_unit_test(test_hmm_score),       cmocka_unit_test(test_cache),
        cmocka_unit_test(test_cache_of_items),  cmocka_unit_test(test_samples),
        cmocka_unit_test(test_stop_and_resume), cmocka_unit_test(test_same_optimum),
        cmocka_unit_test(test_bottomless),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-q0-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
