/* Training runs through trl_train: stopped anywhere and resumed; trees started from another model.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "base/mem.h"
#include "trellis/train.h"

static char folder[] = "/tmp/trellis-test-XXXXXX";
static char bank[64], more[64], turned[64], columns[64], whole[64], part[64], state[64];
static size_t n_trees;

static void place(char out[64], const char *name)
{
    snprintf(out, 64, "%s/%s", folder, name);
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 22, f);
    assert_true(*n > 0 && *n < 1 << 22);
    fclose(f);
    return bytes;
}

static bool same_file(const char *a, const char *b)
{
    size_t n, m;
    char *x = read_all(a, &n), *y = read_all(b, &m);
    const bool same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

/* ---- stopping ------------------------------------------------------------------------------- */

typedef struct watch {
    int iterations, stop_at; /* 0: never */
    double first;            /* objective after the first iteration */
    char note[200];          /* of the stage "init" */
} watch;

static bool on_progress(void *ctx, const trl_progress *p)
{
    watch *w = ctx;
    if (strcmp(p->stage, "init") == 0)
        snprintf(w->note, sizeof w->note, "%s", p->note);
    if (strcmp(p->stage, "iteration") != 0)
        return false;
    if (w->iterations++ == 0)
        w->first = p->objective;
    return w->iterations == w->stop_at;
}

static trl_train_options options(const char *const *train, const char *model, watch *w)
{
    trl_train_options o = trl_train_options_default();
    o.kind = "tree";
    o.annotate = "parents";
    o.pruner = "pcfg";
    o.train = train;
    o.n_train = 1;
    o.model = model;
    o.c2 = 0.1;
    o.epsilon = o.delta = 0.0;
    o.max_iter = 4;
    o.threads = 1;
    o.progress = on_progress;
    o.progress_ctx = w;
    return o;
}

/* Stopped after each iteration in turn, and resumed: the same model as without a stop, and no
 * iteration made twice. */
static void check_resume(trl_train_options o, watch *w, int expected)
{
    trl_error err;
    trl_train_result r;
    o.model = whole;
    *w = (watch){0};
    assert_ok(trl_train(&o, &r, &err));
    const int all = w->iterations;
    assert_int_equal(all, expected);
    for (int stop = 1; stop < all; stop++) {
        *w = (watch){.stop_at = stop};
        o.model = part;
        o.checkpoint = state;
        o.resume = false;
        assert_ok(trl_train(&o, &r, &err));
        assert_true(r.stopped && w->iterations == stop);
        *w = (watch){0};
        o.resume = true;
        assert_ok(trl_train(&o, &r, &err));
        assert_int_equal(w->iterations, all - stop);
        assert_true(same_file(whole, part));
    }
}

static void test_resume(void **unused)
{
    (void)unused;
    static const char *const objectives[] = {"likelihood", "pt-cfg", "pt-cfg", "mecfg"};
    static const char *const optimizers[] = {"adagrad", "adagrad", "lbfgs", "sgd"};
    const char *const train[] = {bank};
    for (size_t k = 0; k < 4; k++) {
        watch w;
        trl_train_options o = options(train, whole, &w);
        o.objective = objectives[k];
        o.optimizer = optimizers[k];
        o.nota = strcmp(o.objective, "pt-cfg") == 0 ? "score:15@3" : NULL;
        check_resume(o, &w, o.nota ? 7 : 4);
    }
}

/* Of chains, piecewise training chooses its instances between two stages. */
static void test_resume_chain(void **unused)
{
    (void)unused;
    static const char *const optimizers[] = {"lbfgs", "sgd"};
    const char *const train[] = {columns};
    for (size_t k = 0; k < 2; k++) {
        watch w;
        trl_train_options o = options(train, whole, &w);
        o.kind = "chain";
        o.annotate = trl_train_options_default().annotate;
        o.pruner = NULL;
        o.objective = "piecewise-nota";
        o.optimizer = optimizers[k];
        o.nota = "marginal:0.05@3";
        check_resume(o, &w, 7);
    }
}

/* The pruner's former name is accepted, and makes the same model. */
static void test_pruner_names(void **unused)
{
    (void)unused;
    const char *const train[] = {bank};
    watch w = {0};
    trl_error err;
    trl_train_options o = options(train, whole, &w);
    o.grade = "features";
    o.pruner = "spans";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_OK);
    o.model = part;
    o.pruner = "sieve";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_OK);
    assert_true(same_file(whole, part));
    o.pruner = "pcfg";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_OK);
    assert_false(same_file(whole, part));
    o.pruner = "span";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "use spans or pcfg"));
}

/* ---- starting from another model ---------------------------------------------------------------
 */

/* The objective of the weights that a run starts from: one pass with a gain of nothing. */
static double starting_value(const char *path, const char *grade, const char *init, watch *w)
{
    trl_error err;
    trl_train_result r;
    const char *const train[] = {path};
    *w = (watch){0};
    trl_train_options o = options(train, part, w);
    o.grade = grade;
    o.optimizer = "adagrad";
    o.eta = 1e-30;
    o.max_iter = 1;
    o.init = init;
    assert_ok(trl_train(&o, &r, &err));
    return w->first;
}

/* A treebank in another order gives everything another number: the weights find their places.  (Of
 * features not to the last digit: words with two equally usual tags have the one that came first.)
 */
static void test_init(void **unused)
{
    (void)unused;
    static const char *const grades[] = {"discriminative", "features"};
    const char *const train[] = {bank};
    char knows[60];
    for (int k = 0; k < 2; k++) {
        trl_error err;
        trl_train_result r;
        watch w = {0};
        trl_train_options o = options(train, whole, &w);
        o.grade = grades[k];
        o.max_iter = 10;
        assert_ok(trl_train(&o, &r, &err));
        const double cold = starting_value(bank, o.grade, NULL, &w);
        const double warm = starting_value(bank, o.grade, whole, &w);
        assert_true(warm < 0.5 * cold);
        snprintf(knows, sizeof knows, "knows %zu of %zu trees", n_trees, n_trees);
        assert_non_null(strstr(w.note, knows));
        assert_near(starting_value(turned, o.grade, whole, &w), warm, k == 0 ? 1e-9 : 0.05);
        assert_non_null(strstr(w.note, knows));
        const double another = starting_value(more, o.grade, whole, &w);
        snprintf(knows, sizeof knows, "knows %zu of %zu trees", n_trees, n_trees + 1);
        assert_non_null(strstr(w.note, knows));
        assert_true(another < starting_value(more, o.grade, NULL, &w) - 0.8 * (cold - warm));
    }
}

static void test_init_refused(void **unused)
{
    (void)unused;
    trl_error err;
    watch w = {0};
    const char *const train[] = {bank};
    trl_train_options o = options(train, part, &w);
    o.init = whole;
    o.annotate = "none";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "annotated"));
    o.annotate = "parents";
    o.grade = "discriminative";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "template"));
    o.grade = "generative";
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
    o.init = NULL;
    assert_ok(trl_train(&o, NULL, &err));
    o.grade = "features";
    o.init = part;
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EINVAL);
    assert_non_null(strstr(err.msg, "no weights"));
    o.init = bank;
    assert_int_equal(trl_train(&o, NULL, &err), TRL_EMODEL);
}

/* What one kind of model has no use for is not ignored. */
static void test_options_of_chains(void **unused)
{
    (void)unused;
    trl_error err;
    watch w = {0};
    const char *const train[] = {bank};
    const trl_train_options o = options(train, part, &w);
    for (int k = 0; k < 5; k++) {
        trl_train_options x = o;
        x.order = k == 0 ? 2 : 0;
        x.q0_cache = k == 1 ? "cache" : NULL;
        x.min_count = k == 2 ? 3 : 0;
        x.calibrate = k == 3;
        x.kind = k == 4 ? "chain" : "tree";
        x.annotate = k == 4 ? trl_train_options_default().annotate : x.annotate;
        x.pruner = k == 4 ? NULL : x.pruner;
        x.relaxed = k == 4;
        assert_int_equal(trl_train(&x, NULL, &err), TRL_EINVAL);
        assert_non_null(strstr(err.msg, "goes with models of"));
    }
}

/* ---- data ------------------------------------------------------------------------------ */

#define MOST 60

/* Short trees of the sample; the same and one more; the same backwards. */
static void make_banks(void)
{
    static char line[MOST][200];
    const char *dir = getenv("TRELLIS_CORPUS");
    char path[1024];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/sample.mrg", dir && *dir ? dir : "corpus");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = NULL;
    size_t cap = 0;
    while (n < MOST && getline(&text, &cap, f) > 0)
        if (strlen(text) < 150)
            strcpy(line[n++], text);
    free(text);
    fclose(f);
    assert_true(n > 30);
    n_trees = n;
    FILE *one = fopen(bank, "w"), *two = fopen(more, "w"), *three = fopen(turned, "w");
    assert_true(one && two && three);
    for (size_t k = 0; k < n; k++) {
        fputs(line[k], one);
        fputs(line[k], two);
        fputs(line[n - 1 - k], three);
    }
    fputs("(TOP (ODD (ODDER yes) (ODDER yes) (. .)))\n", two);
    FILE *four = fopen(columns, "w");
    assert_non_null(four);
    for (int k = 0; k < 300; k++)
        fprintf(four, "%c%d %c%s", 'a' + k * 7 % 11, k % 3, 'A' + (k * 7 % 11 + k / 4) % 4,
                k % 6 == 5 ? "\n\n" : "\n");
    fclose(four);
    fclose(one);
    fclose(two);
    fclose(three);
}

static int set_up(void **unused)
{
    (void)unused;
    assert_non_null(mkdtemp(folder));
    place(bank, "bank.mrg");
    place(more, "more.mrg");
    place(turned, "turned.mrg");
    place(columns, "columns.txt");
    place(whole, "whole.trl");
    place(part, "part.trl");
    place(state, "state");
    make_banks();
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    const char *const all[] = {bank, more, turned, columns, whole, part, state};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        unlink(all[k]);
    rmdir(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume),       cmocka_unit_test(test_resume_chain),
        cmocka_unit_test(test_pruner_names), cmocka_unit_test(test_init),
        cmocka_unit_test(test_init_refused), cmocka_unit_test(test_options_of_chains),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
