/* test_train_errors.c -- trl_train with wrong options, bad data and paths that cannot be used:
 * always a sentence that helps, never a model. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trellis/train.h"

static char folder[64];
static const char *train[1];

static const char *in_folder(const char *name)
{
    static char path[8][512];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static const char *write_bytes(const char *name, const char *text, size_t n)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char *write_file(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

static trl_train_options options(void)
{
    trl_train_options o = trl_train_options_default();
    unlink(in_folder("model"));
    train[0] = write_file("good", "a x A\nb y B\n\nb x B\na y A\n");
    o.train = train;
    o.n_train = 1;
    o.model = in_folder("model");
    o.max_iter = 5;
    return o;
}

/* Fails with this status, a message with all of these words (separated by '|'), and nothing is
 * written. */
static void expect_at(const trl_train_options *o, trl_status want, const char *words, int line)
{
    trl_error err = {0};
    trl_train_result result;
    char text[1200], word[200];
    const trl_status st = trl_train(o, &result, &err);
    trl_error_text(&err, text, sizeof text);
    if (st != want) {
        print_error("line %d: status %d, not %d: %s\n", line, st, want, text);
        fail();
    }
    for (const char *p = words; *p;) {
        const size_t n = strcspn(p, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, p);
        if (!strstr(text, word)) {
            print_error("line %d: '%s' does not say '%s'\n", line, text, word);
            fail();
        }
        p += n + (p[n] == '|');
    }
    assert_int_equal(err.code, want);
    assert_true(o->model == NULL || access(o->model, F_OK) != 0);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        assert_null(strstr(e->d_name, ".tmp-"));
    closedir(d);
}

#define expect(o, status, words) expect_at((o), (status), (words), __LINE__)

/* ---- options ----------------------------------------------------------------------------- */

static void test_names(void **state)
{
    (void)state;
    trl_train_options o = options();
    o.kind = "forest";
    expect(&o, TRL_EINVAL, "forest|chain");
    o = options();
    o.objective = "best";
    expect(&o, TRL_EINVAL, "best|likelihood|perceptron|memm|piecewise|m-estimation|hmm");
    o = options();
    o.optimizer = "best";
    expect(&o, TRL_EINVAL, "best|lbfgs|owlqn|sag|sdca|sgd|asgd|perceptron");
    o = options();
    o.precision = "half";
    expect(&o, TRL_EINVAL, "half|single|double");
}

static void test_ranges(void **state)
{
    (void)state;
    trl_train_options o = options();
    o.order = 3;
    expect(&o, TRL_EINVAL, "1 or 2|3");
    o.order = -1;
    expect(&o, TRL_EINVAL, "1 or 2|-1");
    const double bad[] = {-1.0, nan(""), HUGE_VAL};
    for (int k = 0; k < 3; k++) {
        o = options();
        o.c1 = bad[k];
        expect(&o, TRL_EINVAL, "c1|not negative");
        o = options();
        o.c2 = bad[k];
        expect(&o, TRL_EINVAL, "c2|not negative");
        o = options();
        o.eta = bad[k];
        expect(&o, TRL_EINVAL, "eta|not negative");
    }
    for (int k = 0; k < 2; k++) {
        o = options();
        o.epsilon = bad[k];
        expect(&o, TRL_EINVAL, "epsilon|not be negative");
        o = options();
        o.delta = bad[k];
        expect(&o, TRL_EINVAL, "delta|not be negative");
    }
    o = options();
    o.period = 61;
    expect(&o, TRL_EINVAL, "period|0 to 60");
    o = options();
    o.memory = 0;
    expect(&o, TRL_EINVAL, "1 to 32|0");
    o.memory = 33;
    expect(&o, TRL_EINVAL, "1 to 32|33");
    o = options();
    o.batch = 65;
    expect(&o, TRL_EINVAL, "batch|1 to 64");
}

static void test_generative(void **state)
{
    (void)state;
    trl_train_options o = options();
    o.objective = "mest";
    o.q0 = "best";
    expect(&o, TRL_EINVAL, "best|hmm, lu, emp");
    o = options();
    o.q0 = "hmm";
    expect(&o, TRL_EINVAL, "q0|m-estimation|likelihood");
    o = options();
    o.q0_cache = "file";
    expect(&o, TRL_EINVAL, "q0-cache|m-estimation");
    o = options();
    o.q0_mask = true;
    expect(&o, TRL_EINVAL, "q0-mask|m-estimation");
    o = options();
    o.q0_samples = 10;
    expect(&o, TRL_EINVAL, "q0-samples|m-estimation");
    static const char *const others[] = {"sag", "sgd", "asgd", "perceptron"};
    for (int k = 0; k < 4; k++) {
        o = options();
        o.objective = "mest";
        o.optimizer = others[k];
        expect(&o, TRL_EINVAL, "m-estimation|dual|lbfgs|owlqn");
    }
    o = options();
    o.optimizer = "dual";
    expect(&o, TRL_EINVAL, "dual|objective likelihood|lbfgs");
    o.objective = "mest";
    o.c2 = 0.0;
    expect(&o, TRL_EINVAL, "dual|c2");
    o.c2 = -1.0;
    o.optimizer = NULL;
    expect(&o, TRL_EINVAL, "c2|not negative");
    o = options();
    o.objective = "hmm";
    o.optimizer = "lbfgs";
    expect(&o, TRL_EINVAL, "optimizer|hmm|counted");
    o.optimizer = NULL;
    o.init = "model";
    expect(&o, TRL_EINVAL, "init|hmm|counted");
    o.init = NULL;
    o.checkpoint = in_folder("checkpoint");
    expect(&o, TRL_EINVAL, "checkpoint|hmm|counted");
    o = options();
    o.decode = "best";
    expect(&o, TRL_EINVAL, "best|local|global");
    o = options();
    o.calibrate = true;
    expect(&o, TRL_EINVAL, "calibrate|piecewise-nota|memm|likelihood");
}

static void test_generative_items(void **state)
{
    (void)state;
    trl_train_options o = options();
    train[0] = write_file("items", "A\tx\nB\ty\n");
    o.format = TRL_FORMAT_CRFSUITE;
    o.objective = "hmm";
    expect(&o, TRL_EINVAL, "columns|items");
    o.objective = "mest";
    o.q0 = "lu";
    expect(&o, TRL_EINVAL, "columns|items|emp");
    o.q0 = NULL;
    o.q0_mask = true;
    expect(&o, TRL_EINVAL, "q0-mask|items");
}

static void test_combinations(void **state)
{
    (void)state;
    trl_train_options o = options();
    o.n_train = 0;
    expect(&o, TRL_EINVAL, "no training file");
    o = options();
    o.model = NULL;
    expect(&o, TRL_EINVAL, "no model file");
    o = options();
    o.optimizer = "sag";
    o.c1 = 1.0;
    expect(&o, TRL_EINVAL, "c1|lbfgs|sag");
    o = options();
    o.optimizer = "sdca";
    o.c2 = 0.0;
    expect(&o, TRL_EINVAL, "c2|sdca");
    o = options();
    o.optimizer = "owlqn";
    expect(&o, TRL_EINVAL, "c1 > 0|lbfgs");
    o = options();
    o.optimizer = "perceptron";
    expect(&o, TRL_EINVAL, "perceptron|objective likelihood|lbfgs");
    static const char *const smooth[] = {"lbfgs", "sag", "sdca"};
    for (int k = 0; k < 3; k++) {
        o = options();
        o.objective = "perceptron";
        o.optimizer = smooth[k];
        expect(&o, TRL_EINVAL, "perceptron|sgd");
    }
    o = options();
    o.resume = true;
    expect(&o, TRL_EINVAL, "checkpoint");
    o = options();
    o.patience = 3;
    expect(&o, TRL_EINVAL, "dev");
    o = options();
    o.format = TRL_FORMAT_CRFSUITE;
    o.template_text = "U:%x[0,0]\n";
    o.template_size = strlen(o.template_text);
    expect(&o, TRL_EINVAL, "template|columns");
    o = options();
    o.template_text = "U:%x[0,0]\nT\n";
    o.template_size = strlen(o.template_text);
    o.order = 1;
    expect(&o, TRL_EINVAL, "triples|order 2");
}

/* ---- data -------------------------------------------------------------------------------- */

static void expect_data(const char *text, trl_format format, const char *words, int line)
{
    trl_train_options o = options();
    o.format = format;
    train[0] = write_file("data", text);
    expect_at(&o, TRL_EPARSE, words, line);
}

#define bad_data(text, words) expect_data((text), TRL_FORMAT_GUESS, (words), __LINE__)
#define bad_items(text, words) expect_data((text), TRL_FORMAT_CRFSUITE, (words), __LINE__)

static void test_data(void **state)
{
    (void)state;
    bad_data("", "data|no sequences");
    bad_data("\n \n\t\n\n", "data|no sequences");
    bad_data("a B\nb\n", "data:2:2|1 column|line 1");
    bad_data("a x B\nb y\n", "data:2:4|2 columns|line 1");
    bad_data("a x B\n\nb y C D\n", "data:3:7|4 columns|line 1");
    bad_items("B\tx:nan\n", "data:1:5|nan|not finite");
    bad_items("B\tx:1\n\nB\ty:-inf\n", "data:3:5|not finite");
    bad_items("@weight:-2\nB\tx:1\n", "data:1:9|negative");
    trl_train_options o = options();
    train[0] = write_bytes("data", "a x\0y B\n", 8);
    o.format = TRL_FORMAT_COLUMNS;
    trl_error err;
    assert_true(trl_train(&o, NULL, &err) != TRL_EINVAL); /* taken or refused, not crashed */
    unlink(o.model);
}

static void test_columns_disagree(void **state)
{
    (void)state;
    trl_train_options o = options();
    const char *two[2];
    two[0] = write_file("one", "a x A\n");
    two[1] = write_file("two", "\na A\n");
    o.train = two;
    o.n_train = 2;
    expect(&o, TRL_EPARSE, "two:2|2 columns|3"); /* files of one run */
    o = options();
    o.dev = write_file("two", "a A\n");
    expect(&o, TRL_EPARSE, "two:1|2 columns|3");
    o.dev = write_file("two", "A\tx:1\ty:1\tz:2\n");
    expect(&o, TRL_EPARSE, "two|CRFsuite items|columns");
    o.dev = write_file("two", "\n\n");
    expect(&o, TRL_EPARSE, "two|no sequences");
    o.dev = in_folder("nowhere");
    expect(&o, TRL_EIO, "nowhere");
}

static void test_template(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {{"U:%x[0,0]\nU:%x[0,7]\n", "mine:2:3|column 7|3 columns"},
               {"U:%x[0,2]\n", "mine:1:3|column 2|the label"},
               {"U:%x[0\n", "mine:1"},
               {"Q what\n", "mine:1"},
               {"u:%m[0,0,\"a\n", "mine:1"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        trl_train_options o = options();
        o.template_name = "mine";
        o.template_text = bad[k].text;
        o.template_size = strlen(bad[k].text);
        expect(&o, TRL_EPARSE, bad[k].words);
    }
}

/* ---- paths ------------------------------------------------------------------------------- */

static void test_paths(void **state)
{
    (void)state;
    trl_train_options o = options();
    train[0] = in_folder("nowhere");
    expect(&o, TRL_EIO, "nowhere|No such file");
    train[0] = folder;
    expect(&o, TRL_EIO, folder);
    o = options();
    o.model = in_folder("no/such/folder");
    expect(&o, TRL_EIO, "no/such/folder|No such file");
    o = options();
    o.model = "/proc/trellis-model"; /* not even for root */
    expect(&o, TRL_EIO, "/proc/trellis-model");
    o = options();
    o.checkpoint = in_folder("no/such/folder");
    expect(&o, TRL_EIO, "no/such/folder");
}

/* A model path that cannot be written is found before the data are read. */
static bool count_calls(void *ctx, const trl_progress *p)
{
    (void)p;
    ++*(int *)ctx;
    return false;
}

static void test_model_path_first(void **state)
{
    (void)state;
    trl_train_options o = options();
    int calls = 0;
    o.model = in_folder("no/such/folder");
    o.progress = count_calls;
    o.progress_ctx = &calls;
    expect(&o, TRL_EIO, "no/such/folder");
    assert_int_equal(calls, 0);
}

static void test_permissions(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        print_message("root may read and write everything\n");
        skip();
    }
    trl_train_options o = options();
    const char *dir = in_folder("closed");
    assert_int_equal(mkdir(dir, 0500), 0);
    o.model = in_folder("closed/model");
    expect(&o, TRL_EIO, "closed/model|denied");
    o = options();
    train[0] = write_file("secret", "a x A\n");
    assert_int_equal(chmod(train[0], 0), 0);
    expect(&o, TRL_EIO, "secret|denied");
}

static bool keep_warning(void *ctx, const trl_progress *p)
{
    if (strcmp(p->stage, "warning") == 0)
        snprintf(ctx, 200, "%s", p->note);
    return false;
}

static void test_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        print_message("no /dev/full\n");
        skip();
    }
    trl_error err;
    trl_train_options o = options();
    o.model = "/dev/full";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EIO);
    assert_string_equal(err.path, "/dev/full");
    assert_non_null(strstr(err.msg, "No space left"));
    o = options();
    char warning[200] = "";
    o.checkpoint = "/dev/full"; /* no reason to lose the model */
    o.checkpoint_every = 1;
    o.progress = keep_warning;
    o.progress_ctx = warning;
    assert_int_equal(trl_train(&o, NULL, &err), TRL_OK);
    assert_string_equal(warning,
                        "/dev/full: cannot write: No space left on device: training goes on "
                        "without this checkpoint");
    assert_int_equal(access(o.model, R_OK), 0);
    o.progress = NULL;
    assert_int_equal(trl_train(&o, NULL, &err), TRL_OK);
}

/* An older model survives a run that fails. */
static void test_old_model_stays(void **state)
{
    (void)state;
    trl_error err;
    trl_train_options o = options();
    o.model = write_file("old", "what was there");
    train[0] = write_file("data", "a B\nb\n");
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EPARSE);
    char text[32] = {0};
    FILE *f = fopen(o.model, "r");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof text, f), strlen("what was there"));
    assert_string_equal(text, "what was there");
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_generative),
        cmocka_unit_test(test_generative_items),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_columns_disagree),
        cmocka_unit_test(test_template),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_model_path_first),
        cmocka_unit_test(test_permissions),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_old_model_stays),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-errors-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", folder, folder);
    return system(command) != 0 || failed;
}
