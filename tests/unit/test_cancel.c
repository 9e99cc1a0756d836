/* Runs that are cancelled in the middle of their work: what is kept, and what a resumed run makes
 * of it. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdatomic.h>
#include <time.h>

#include "base/pool.h"
#include "train_setup.h"

/* ---- the pool -------------------------------------------------------------------------------- */

typedef struct counting {
    atomic_int done;
    int most; /* jobs until the run is cancelled */
} counting;

static bool enough(void *ctx)
{
    const counting *c = ctx;
    return atomic_load(&c->done) >= c->most;
}

static trl_status count_job(void *ctx, size_t job, size_t worker, trl_error *err)
{
    (void)job, (void)worker, (void)err;
    counting *c = ctx;
    atomic_fetch_add(&c->done, 1);
    return TRL_OK;
}

static void test_pool(void **unused)
{
    (void)unused;
    trl_error err;
    for (size_t threads = 1; threads <= 4; threads++) {
        counting c = {.most = 10};
        trl_cancel cancel = {enough, &c, false};
        trl_pool *pool = trl_pool_new(threads);
        assert_non_null(pool);
        trl_pool_cancel_by(pool, &cancel);
        assert_int_equal(trl_pool_run(pool, 1000, count_job, &c, &err), TRL_ECANCEL);
        assert_in_range(c.done, 10, 10 + threads - 1); /* those begun are finished */
        assert_int_equal(trl_pool_check(pool, &err), TRL_ECANCEL);
        c.done = 0;
        trl_pool_run_all(pool, 1000, count_job, &c);
        assert_int_equal(c.done, 1000);
        cancel.held = true;
        assert_ok(trl_pool_run(pool, 1000, count_job, &c, &err));
        assert_int_equal(c.done, 2000);
        assert_ok(trl_pool_check(pool, &err));
        trl_pool_free(pool);
    }
}

static char model_path[80], whole_path[80], state_path[80], train_path[80], dev_path[80];

/* in_folder gives few names at a time. */
static const char *keep_name(char out[80], const char *path)
{
    snprintf(out, 80, "%s", path);
    return out;
}

/* ---- training -------------------------------------------------------------------------------- */

typedef struct plan {
    uint64_t slow;       /* the iteration after which cancelling begins; 0: before the first */
    const char *stage;   /* or after this stage, where not NULL */
    int delay;           /* questions that are still answered with no */
    bool armed, refused; /* refused: an iteration was reported after the answer was yes */
    atomic_int asked;    /* since armed */
    uint64_t iterations;
} plan;

/* Iterations under 0.2 s are finished rather than thrown away: this one seems to take longer. */
static bool on_progress(void *ctx, const trl_progress *p)
{
    plan *x = ctx;
    const bool iteration = strcmp(p->stage, "iteration") == 0;
    x->iterations += iteration;
    x->refused = x->refused || (iteration && atomic_load(&x->asked) > x->delay);
    if (x->stage ? strcmp(p->stage, x->stage) == 0 : iteration && p->iteration == x->slow) {
        const struct timespec quarter = {0, 250000000};
        nanosleep(&quarter, NULL);
        x->armed = true;
    }
    return false;
}

static bool is_cancelled(void *ctx)
{
    plan *x = ctx;
    return x->armed && atomic_fetch_add(&x->asked, 1) >= x->delay;
}

static void use(trl_train_options *o, plan *x)
{
    o->progress = on_progress;
    o->progress_ctx = x;
    o->cancelled = is_cancelled;
    o->cancelled_ctx = x;
}

static void remove_files(void)
{
    remove(model_path);
    remove(state_path);
}

/* Cancelled within the iteration after `after`: the model and the checkpoint of `after` are there;
 * resumed, it gives the model of a run that nobody cancelled. */
static void check_within(trl_train_options o, uint64_t after, int delay)
{
    trl_error err;
    trl_train_result r;
    plan x = {.slow = after, .delay = delay};
    remove_files();
    o.checkpoint = state_path;
    o.checkpoint_every = 0;
    use(&o, &x);
    assert_ok(trl_train(&o, &r, &err));
    assert_true(r.stopped && x.armed && !x.refused);
    assert_int_equal(r.iterations, after);
    assert_true(exists(model_path) && exists(state_path));
    plan rest = {.slow = UINT64_MAX};
    use(&o, &rest);
    o.resume = true;
    assert_ok(trl_train(&o, &r, &err));
    assert_false(r.stopped);
    assert_same_files(model_path, whole_path);
    assert_no_leftovers();
}

/* And at once after resuming: still the model of the checkpoint. */
static void check_resumed(trl_train_options o, uint64_t after)
{
    trl_error err;
    trl_train_result r;
    plan x = {.slow = after};
    remove_files();
    o.checkpoint = state_path;
    use(&o, &x);
    assert_ok(trl_train(&o, &r, &err));
    plan at_once = {.stage = "compiled", .delay = 1}; /* what asks next is the first iteration */
    remove(model_path);
    use(&o, &at_once);
    o.resume = true;
    assert_ok(trl_train(&o, &r, &err));
    assert_true(r.stopped && at_once.iterations == 0);
    assert_int_equal(r.iterations, after);
    assert_true(exists(model_path));
}

/* Cancelled before an iteration was finished: TRL_ECANCEL, and there is no file. */
static void check_before(trl_train_options o, const char *stage)
{
    trl_error err;
    plan x = {.stage = stage, .delay = 3};
    remove_files();
    o.checkpoint = state_path;
    use(&o, &x);
    assert_int_equal(trl_train(&o, NULL, &err), TRL_ECANCEL);
    assert_non_null(strstr(err.msg, "no model was written"));
    assert_true(x.armed && x.iterations == 0);
    assert_false(exists(model_path) || exists(state_path));
    assert_no_leftovers();
}

static void check_all(trl_train_options o)
{
    trl_error err;
    o.model = whole_path;
    o.threads = 2;
    assert_ok(trl_train(&o, NULL, &err));
    o.model = model_path;
    check_within(o, 1, 0);
    check_within(o, 2, 7);
    check_before(o, "compiled");
}

static void test_chain_optimizers(void **unused)
{
    (void)unused;
    static const char *const optimizers[] = {"lbfgs", "sag", "sdca", "sgd", "asgd"};
    setup s;
    setup_make(&s, keep_name(train_path, write_columns("train", 1, 60)));
    s.o.model = model_path;
    s.o.max_iter = 4;
    s.o.epsilon = s.o.delta = 0.0;
    for (size_t k = 0; k < sizeof optimizers / sizeof *optimizers; k++) {
        s.o.optimizer = optimizers[k];
        check_all(s.o);
    }
    check_resumed(s.o, 2);
    s.o.optimizer = "lbfgs";
    check_resumed(s.o, 2);
    s.o.c1 = 0.1;
    check_all(s.o);
    s.o.c1 = 0.0;
    s.o.optimizer = NULL;
    s.o.objective = "perceptron";
    check_all(s.o);
}

/* Cancelled while the dev set is scored: the iteration does not count. */
static void test_dev(void **unused)
{
    (void)unused;
    setup s;
    setup_make(&s, keep_name(train_path, write_columns("train", 1, 60)));
    s.o.model = model_path;
    s.o.dev = keep_name(dev_path, write_columns("dev", 2, 400));
    s.o.max_iter = 4;
    s.o.epsilon = s.o.delta = 0.0;
    check_all(s.o);
}

static void test_stages(void **unused)
{
    (void)unused;
    setup s;
    setup_make(&s, keep_name(train_path, write_columns("train", 1, 60)));
    s.o.model = model_path;
    s.o.objective = "piecewise-nota";
    s.o.nota = "marginal:0.2@3";
    s.o.max_iter = 4;
    s.o.epsilon = s.o.delta = 0.0;
    check_all(s.o);

    /* in the first iteration of the second stage: the weights of the first stage are kept */
    trl_error err;
    trl_train_result r;
    plan x = {.stage = "nota"};
    remove_files();
    s.o.checkpoint = state_path;
    use(&s.o, &x);
    assert_ok(trl_train(&s.o, &r, &err));
    assert_true(r.stopped && r.iterations == 3 && exists(s.o.model));
    plan rest = {.slow = UINT64_MAX};
    use(&s.o, &rest);
    s.o.resume = true;
    assert_ok(trl_train(&s.o, &r, &err));
    assert_same_files(s.o.model, whole_path);
}

static void test_calibration(void **unused)
{
    (void)unused;
    trl_error err;
    trl_train_result r;
    plan x = {.stage = "calibrating", .delay = 2};
    setup s;
    setup_make(&s, keep_name(train_path, write_columns("train", 1, 60)));
    s.o.model = model_path;
    s.o.objective = "memm";
    s.o.calibrate = true;
    s.o.max_iter = 4;
    remove_files();
    use(&s.o, &x);
    assert_ok(trl_train(&s.o, &r, &err));
    assert_true(r.stopped && exists(s.o.model));
    remove_files();
    x = (plan){.slow = 4, .delay = 2};
    use(&s.o, &x);
    assert_ok(trl_train(&s.o, &r, &err));
    assert_true(r.stopped && r.iterations == 4 && exists(s.o.model));
}

static void test_m_estimation(void **unused)
{
    (void)unused;
    static const char *const q0[] = {"hmm", "emp", "lu"};
    setup s;
    setup_make(&s, keep_name(train_path, write_columns("train", 1, 60)));
    s.o.model = model_path;
    s.o.objective = "m-estimation";
    s.o.max_iter = 4;
    s.o.epsilon = s.o.delta = 0.0;
    for (size_t k = 0; k < 3; k++) { /* "compiled": while the expectations are made */
        s.o.q0 = q0[k];
        check_all(s.o);
    }
    s.o.optimizer = "dual";
    check_all(s.o);
    static const char sampled[] = "U:%x[0,0]\nU:%m[0,0,\"w1.*\"]\nB\n";
    s.o.template_text = sampled;
    s.o.template_size = strlen(sampled);
    s.o.q0 = "hmm";
    check_before(s.o, "compiled");
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Of the prepositional phrases some belong to the noun, some to the verb. */
static const char *write_trees(const char *name, size_t n)
{
    const char *path = in_folder(name);
    trl_rng rng = trl_rng_seed(3);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t k = 0; k < n; k++) {
        const size_t a = trl_rng_below(&rng, 9), b = trl_rng_below(&rng, 5);
        static const char *const phrase = "(PP (IN of) (NP (NN x)))";
        fprintf(f, "(S (NP (DT the) (NN n%zu)) (VP (VBD v%zu) ", a, b);
        if (trl_rng_below(&rng, 2))
            fprintf(f, "(NP (NP (NN n%zu)) %s)) (. .))\n", a, phrase);
        else
            fprintf(f, "(NP (NN n%zu)) %s) (. .))\n", a, phrase);
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

static void test_trees(void **unused)
{
    (void)unused;
    static const char *const objectives[] = {"likelihood",   "likelihood", "likelihood",
                                             "m-estimation", "pt-cfg",     "perceptron"};
    static const char *const optimizers[] = {"adagrad", "sgd", "lbfgs", NULL, "lbfgs", NULL};
    setup s;
    setup_make(&s, keep_name(train_path, write_trees("trees", 60)));
    s.o.model = model_path;
    s.o.kind = "tree";
    s.o.template_text = NULL;
    s.o.nota = NULL;
    s.o.max_iter = 4;
    s.o.epsilon = s.o.delta = 0.0;
    for (size_t k = 0; k < 6; k++) {
        s.o.objective = objectives[k];
        s.o.optimizer = optimizers[k];
        check_all(s.o);
    }
    s.o.objective = "likelihood";
    s.o.optimizer = NULL;
    check_before(s.o, "read");   /* while the pruner learns, */
    check_before(s.o, "pruner"); /* and after its first pass */
    check_resumed(s.o, 2);
}

static int make_folder(void **unused)
{
    (void)unused;
    snprintf(folder, sizeof folder, "/tmp/trellis-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    keep_name(model_path, in_folder("model"));
    keep_name(whole_path, in_folder("whole"));
    keep_name(state_path, in_folder("state"));
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    static const char *const names[] = {"train", "dev", "trees", "model", "whole", "state"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        remove(in_folder(names[k]));
    return rmdir(folder);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool third_time(void *ctx)
{
    return ++*(int *)ctx >= 3;
}

static void test_reading(void **unused)
{
    (void)unused;
    trl_error err;
    trl_train_result r;
    setup s;
    for (int trees = 0; trees < 2; trees++) {
        setup_make(&s, keep_name(train_path,
                                 trees ? write_trees("trees", 9) : write_columns("train", 1, 60)));
        int asked = 0;
        s.o.model = model_path;
        s.o.kind = trees ? "tree" : "chain";
        if (trees)
            s.o.template_text = s.o.nota = NULL;
        s.o.cancelled = third_time;
        s.o.cancelled_ctx = &asked;
        remove_files();
        assert_int_equal(trl_train(&s.o, &r, &err), TRL_ECANCEL);
        assert_int_equal(asked, 3); /* not asked again: the third sequence was not read */
        assert_non_null(strstr(err.msg, trees ? "treebank" : "the data"));
        assert_false(exists(model_path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),        cmocka_unit_test(test_chain_optimizers),
        cmocka_unit_test(test_dev),         cmocka_unit_test(test_stages),
        cmocka_unit_test(test_calibration), cmocka_unit_test(test_m_estimation),
        cmocka_unit_test(test_trees),       cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
