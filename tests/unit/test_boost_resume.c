/* test_boost_resume.c -- boosted trees killed, stopped, cancelled, and resumed to the same model.
 */
/* SPDX-License-Identifier: MIT */
#include "boost_problem.h"

#include <sys/wait.h>
#include <unistd.h>

static trl_error err;

static char folder[64];

typedef struct killer {
    int left;
} killer;

static bool die(void *ctx, const trl_boost_progress *now)
{
    (void)now;
    killer *k = ctx;
    if (k->left-- == 0)
        _exit(9); /* as a kill would: nothing is cleaned up */
    return false;
}

static void train_until_killed(const problem *p, const problem *held_out, trl_boost_options o,
                               int when)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        killer k = {when};
        trl_boost_model *m = NULL;
        o.progress = die;
        o.progress_ctx = &k;
        (void)trl_boost_train(p->data, held_out->data, &o, &m, NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 9);
}

static void test_resume(void **state)
{
    (void)state;
    char path[128];
    problem p = make_problem(11, 3000, (size_t)1 << 30), held_out = make_problem(12, 1000, 0);
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    for (size_t sample = 0; sample <= 500; sample += 500) {
        trl_boost_options o = quick();
        o.sample = sample;
        trl_boost_model *whole = train(&p, &held_out, o);
        o.checkpoint = path;
        o.checkpoint_every = 2;
        o.resume = true;
        unlink(path);
        for (int when = 5; when < 40; when += 13)
            train_until_killed(&p, &held_out, o, when);
        trl_boost_model *resumed = train(&p, &held_out, o);
        assert_same_models(whole, resumed);
        trl_boost_model *again = train(&p, &held_out, o); /* of what is finished */
        assert_same_models(whole, again);
        trl_boost_model_free(again);
        trl_boost_model_free(resumed);
        trl_boost_model_free(whole);
        o.min_gain = 0.2;
        trl_boost_model *none = NULL;
        assert_int_equal(trl_boost_train(p.data, held_out.data, &o, &none, &err), TRL_EMODEL);
        assert_non_null(strstr(err.msg, "other data or options"));
    }
    unlink(path);
    free_problem(&p);
    free_problem(&held_out);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static bool stop_at(void *ctx, const trl_boost_progress *now)
{
    (void)now;
    return --*(int *)ctx == 0;
}

static bool stop_later(void *ctx)
{
    return --*(int *)ctx <= 0;
}

/* After a tree, or while one grows: a model of the trees so far, and a checkpoint that goes on to
 * the model of a run that was never stopped. */
static void test_stopped(void **state)
{
    (void)state;
    char path[128];
    problem p = make_problem(21, 3000, (size_t)1 << 30), held_out = make_problem(22, 1000, 0);
    snprintf(path, sizeof path, "%s/stopped", folder);
    trl_boost_options o = quick();
    trl_boost_model *whole = train(&p, &held_out, o);
    o.checkpoint = path;
    o.resume = true;
    for (int growing = 0; growing < 2; growing++) {
        int steps = growing ? 40 : 7;
        trl_boost_options stopped = o;
        stopped.progress = growing ? NULL : stop_at;
        stopped.cancelled = growing ? stop_later : NULL;
        stopped.progress_ctx = stopped.cancelled_ctx = &steps;
        unlink(path);
        trl_boost_model *part = train(&p, &held_out, stopped);
        const trl_boost_classifier c = trl_boost_model_classifier(part, 0);
        assert_true(c.point[c.n_points - 1].trees < trl_boost_model_classifier(whole, 0).trees);
        assert_true(c.trees > 0);
        trl_boost_model *resumed = train(&p, &held_out, o);
        assert_same_models(whole, resumed);
        trl_boost_model_free(part);
        trl_boost_model_free(resumed);
    }
    trl_boost_model_free(whole);
    unlink(path);
    free_problem(&p);
    free_problem(&held_out);
}

static bool keep_note(void *ctx, const trl_boost_progress *now)
{
    if (now->note)
        snprintf(ctx, 200, "%s", now->note);
    return false;
}

/* A checkpoint that cannot be written does not end the run. */
static void test_no_room(void **state)
{
    (void)state;
    char note[200] = "";
    problem p = make_problem(23, 500, 0);
    trl_boost_options o = quick();
    o.checkpoint = "/nonexistent/folder/state";
    o.progress = keep_note;
    o.progress_ctx = note;
    trl_boost_model_free(train(&p, NULL, o));
    assert_non_null(strstr(note, "goes on without this checkpoint"));
    free_problem(&p);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/trellis-boost-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resume),
                                       cmocka_unit_test(test_stopped),
                                       cmocka_unit_test(test_no_room)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
