/* test_train.c -- trl_train from files to a model file: formats, dev sets, warm starts, stops,
 * checkpoints, and everything that can be wrong with options, data and paths. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "train_setup.h"

/* ---- what it makes ----------------------------------------------------------------------- */

static void test_columns(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    const char *data = write_columns("data", 1, 200);
    setup_make(&s, data);
    s.o.c2 = 0.1;
    assert_ok(trl_train(&s.o, &s.result, &err));
    assert_true(score_of(s.o.model, data) > 80.0);
    assert_true(s.result.n_features > 100 && s.result.n_active <= s.result.n_features);
    assert_true(isnan(s.result.dev_score) && !s.result.stopped && s.result.ending[0]);
    trl_model *m = NULL;
    assert_ok(trl_model_open(s.o.model, &m, &err));
    const trl_model_info info = trl_model_get_info(m);
    assert_int_equal(info.n_columns, 3);
    assert_int_equal(info.n_labels, 4);
    assert_int_equal(info.format, TRL_FORMAT_COLUMNS);
    assert_true(info.is_probability && info.order == 1);
    assert_string_equal(info.objective, "likelihood");
    assert_int_equal(trl_model_template(m).n, strlen(template_text));
    trl_model_free(m);
    assert_no_leftovers();
}

static void test_default_template(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    const char *data = write_columns("data", 1, 150);
    setup_make(&s, data);
    s.o.template_name = s.o.template_text = NULL;
    s.o.template_size = 0;
    assert_ok(trl_train(&s.o, &s.result, &err));
    assert_true(score_of(s.o.model, data) > 80.0);
    /* words alone: the template without tags */
    setup_make(&s, write_file("words", "the D\ncat N\n\na D\ndog N\n"));
    s.o.template_name = s.o.template_text = NULL;
    assert_ok(trl_train(&s.o, &s.result, &err));
    trl_model *m = NULL;
    assert_ok(trl_model_open(s.o.model, &m, &err));
    assert_true(trl_model_template(m).n > 20);
    trl_model_free(m);
}

/* Values and weights: a sequence of weight 2 counts as two, a value of 0.5 as half. */
static void test_items(void **state)
{
    (void)state;
    trl_error err;
    setup a, b;
    setup_make(&a, write_file("twice", "A\tx:2\ty\nB\ty:0.5\n\nA\tx:2\ty\nB\ty:0.5\n\nB\tz\n"));
    setup_make(&b, write_file("weighted", "@weight:2\nA\tx:2\ty\nB\ty:0.5\n\nB\tz\n"));
    a.o.template_name = a.o.template_text = b.o.template_name = b.o.template_text = NULL;
    a.o.epsilon = b.o.epsilon = 1e-9;
    a.o.delta = b.o.delta = 0.0;
    b.o.model = in_folder("model2");
    assert_ok(trl_train(&a.o, &a.result, &err));
    assert_ok(trl_train(&b.o, &b.result, &err));
    assert_near(a.result.objective, b.result.objective, 1e-9);
    assert_int_equal(a.result.n_features, b.result.n_features);
    /* without the weight it is another problem */
    setup_make(&a, write_file("plain", "A\tx:2\ty\nB\ty:0.5\n\nB\tz\n"));
    a.o.template_name = a.o.template_text = NULL;
    assert_ok(trl_train(&a.o, &a.result, &err));
    assert_true(fabs(a.result.objective - b.result.objective) > 0.1);
}

static void test_orders(void **state)
{
    (void)state;
    trl_error err;
    for (int order = 1; order <= 2; order++) {
        setup s;
        trl_model *m = NULL;
        setup_make(&s, write_columns("data", 2, 100));
        s.o.order = order;
        assert_ok(trl_train(&s.o, &s.result, &err));
        assert_ok(trl_model_open(s.o.model, &m, &err));
        assert_int_equal(trl_model_get_info(m).order, order);
        trl_model_free(m);
    }
}

/* ---- dev set, warm start, stop ----------------------------------------------------------- */

typedef struct watcher {
    uint64_t stop_at, iterations;
    double best;
} watcher;

static bool on_progress(void *ctx, const trl_progress *p)
{
    watcher *w = ctx;
    if (strcmp(p->stage, "iteration") != 0)
        return false;
    w->iterations = p->iteration;
    if (!isnan(p->dev_score) && !(p->dev_score <= w->best))
        w->best = p->dev_score;
    assert_true(isnan(p->dev_best) || p->dev_best == w->best);
    assert_true((p->dev == NULL) == (isnan(p->dev_score) != 0));
    if (p->dev) {
        const trl_score_totals t = trl_score_get(p->dev);
        assert_true(p->dev_score == t.f1 || p->dev_score == t.accuracy);
    }
    assert_true(p->norm > 0.0 && p->n_active > 0 && p->n_active <= p->n_features);
    return p->iteration == w->stop_at;
}

static void test_dev(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"lbfgs", "asgd"};
    for (int k = 0; k < 2; k++) {
        trl_error err;
        setup s;
        watcher w = {.best = NAN};
        const char *dev = write_columns("dev", 12, 40);
        setup_make(&s, write_columns("data", 11, 60));
        s.o.dev = dev;
        s.o.c2 = 0.01;
        s.o.patience = 5;
        s.o.max_iter = 200;
        s.o.delta = s.o.epsilon = 0.0;
        s.o.optimizer = optimizers[k];
        s.o.progress = on_progress;
        s.o.progress_ctx = &w;
        assert_ok(trl_train(&s.o, &s.result, &err));
        assert_true(s.result.iterations < 200); /* patience ended it */
        assert_false(s.result.stopped);
        assert_true(s.result.dev_score == w.best);
        assert_near(score_of(s.o.model, dev), w.best, 1e-9); /* and that one was written */
    }
}

/* From the optimum nothing moves; from there in few steps with a little more data. */
static void test_init(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    setup_make(&s, write_columns("data", 21, 120));
    s.o.epsilon = 1e-6;
    s.o.delta = 0.0;
    assert_ok(trl_train(&s.o, &s.result, &err));
    const trl_train_result cold = s.result;
    s.o.init = in_folder("first");
    assert_int_equal(rename(s.o.model, s.o.init), 0);
    assert_ok(trl_train(&s.o, &s.result, &err));
    assert_true(s.result.iterations <= 3 && cold.iterations > 15);
    assert_near(s.result.objective, cold.objective, 1e-8);
    /* a model of other features and labels gives what it has */
    setup_make(&s, write_file("other", "w1 p1 B-X\nw2 p2 NEW\n\nw3 p0 NEW\n"));
    s.o.init = in_folder("first");
    assert_ok(trl_train(&s.o, &s.result, &err));
    /* not a model */
    s.o.init = s.train[0];
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EMODEL);
    assert_string_equal(err.path, s.train[0]);
    s.o.init = in_folder("nothing");
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EIO);
}

static void test_stop(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"lbfgs", "sag", "sdca", "sgd", "asgd"};
    for (int k = 0; k < 5; k++) {
        trl_error err;
        setup s;
        watcher w = {.stop_at = 3, .best = NAN};
        const char *data = write_columns("data", 31, 100);
        setup_make(&s, data);
        s.o.optimizer = optimizers[k];
        s.o.progress = on_progress;
        s.o.progress_ctx = &w;
        assert_ok(trl_train(&s.o, &s.result, &err));
        assert_true(s.result.stopped);
        assert_int_equal(s.result.iterations, 3);
        assert_true(score_of(s.o.model, data) > 20.0);
    }
}

/* ---- checkpoints ------------------------------------------------------------------------- */

/* Stands still as soon as there is a checkpoint: now the signal may come. */
static bool wait_for_signal(void *ctx, const trl_progress *p)
{
    (void)p;
    while (exists(ctx))
        pause();
    return false;
}

/* Trains in another process and kills it once a checkpoint is there. */
static void train_and_kill(const setup *s)
{
    char checkpoint[512];
    snprintf(checkpoint, sizeof checkpoint, "%s", s->o.checkpoint);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        trl_error err;
        trl_train_result result;
        trl_train_options o = s->o;
        o.progress = wait_for_signal;
        o.progress_ctx = checkpoint;
        _exit(trl_train(&o, &result, &err) == TRL_OK ? 0 : 1);
    }
    for (int k = 0; k < 60000 && !exists(s->o.checkpoint); k++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int status;
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(exists(s->o.checkpoint));
    assert_false(exists(s->o.model));
}

static void remove_leftovers(void) /* SIGKILL may leave a temporary file */
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tmp-"))
            unlink(in_folder(e->d_name));
    closedir(d);
}

static void test_resume(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"lbfgs", "owlqn",      "sag",  "sgd",
                                             "asgd",  "perceptron", "sdca", "asgd-owlqn"};
    for (int k = 0; k < 8; k++)
        for (int with_dev = 0; with_dev < 2; with_dev++) {
            trl_error err;
            setup s;
            setup_make(&s, write_columns("data", 41, 80));
            s.o.optimizer = optimizers[k];
            s.o.objective = k == 5 ? "perceptron" : "likelihood";
            s.o.c1 = strstr(optimizers[k], "owlqn") ? 0.1 : 0.0;
            s.o.max_iter = 25;
            s.o.epsilon = 0.0;
            s.o.period = 0;
            s.o.dev = with_dev ? write_columns("dev", 42, 20) : NULL;
            s.o.model = in_folder("whole");
            assert_ok(trl_train(&s.o, &s.result, &err));
            const trl_train_result whole = s.result;
            s.o.model = in_folder("resumed");
            s.o.checkpoint = in_folder("checkpoint");
            s.o.checkpoint_every = 4;
            unlink(s.o.model);
            unlink(s.o.checkpoint);
            train_and_kill(&s);
            s.o.resume = true;
            assert_ok(trl_train(&s.o, &s.result, &err));
            assert_int_equal(s.result.iterations, whole.iterations);
            assert_true(s.result.objective == whole.objective);
            assert_true(!with_dev || s.result.dev_score == whole.dev_score);
            assert_same_files(in_folder("whole"), s.o.model);
            remove_leftovers();
        }
}

static void expect_refused(setup *s, const char *word)
{
    trl_error err = {0};
    unlink(s->o.model);
    assert_int_equal(trl_train(&s->o, &s->result, &err), TRL_EMODEL);
    assert_string_equal(err.path, s->o.checkpoint);
    if (!strstr(err.msg, word))
        fail_msg("'%s' does not say '%s'", err.msg, word);
    assert_false(exists(s->o.model));
}

static void test_wrong_checkpoint(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    const char *data = write_columns("data", 51, 60);
    setup_make(&s, data);
    s.o.checkpoint = in_folder("checkpoint");
    s.o.checkpoint_every = 2;
    s.o.max_iter = 6;
    assert_ok(trl_train(&s.o, &s.result, &err));
    s.o.resume = true;
    s.o.max_iter = 8;
    assert_ok(trl_train(&s.o, &s.result, &err));

    trl_train_options right = s.o;
    s.o.c2 = 0.3;
    expect_refused(&s, "other data or options");
    s.o = right;
    s.o.seed = 9;
    expect_refused(&s, "other data or options");
    s.o = right;
    s.o.optimizer = "sag";
    expect_refused(&s, "other data or options");
    s.o = right;
    s.o.precision = "double";
    expect_refused(&s, "other data or options");
    s.o = right;
    s.train[0] = write_columns("data2", 52, 60);
    expect_refused(&s, "other data or options");
    /* the same shape, other names of labels */
    s.train[0] = data;
    char command[512];
    snprintf(command, sizeof command, "sed 's/B-Y/B-Z/' %s >%s", data, in_folder("renamed"));
    assert_int_equal(system(command), 0);
    s.train[0] = in_folder("renamed");
    expect_refused(&s, "other data or options");

    s.train[0] = data;
    s.o.dev = write_columns("dev", 53, 10);
    expect_refused(&s, "other data or options");
    s.o.dev = NULL;
    assert_int_equal(truncate(s.o.checkpoint, 700), 0);
    expect_refused(&s, "");
    s.o.resume = false;
    s.o.checkpoint = NULL;
    assert_ok(trl_train(&s.o, &s.result, &err));
    s.o.checkpoint = s.o.model; /* a model is not a checkpoint */
    s.o.model = in_folder("none");
    s.o.resume = true;
    expect_refused(&s, "");
    s.o.checkpoint = in_folder("missing");
    assert_int_equal(trl_train(&s.o, &s.result, &err), TRL_EIO);
    assert_no_leftovers();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_default_template),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_dev),
        cmocka_unit_test(test_init),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_wrong_checkpoint),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-train-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
