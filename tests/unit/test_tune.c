/* test_tune.c -- trl_tune: the grid, the choice, what it leaves behind. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <stdlib.h>
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

/* Sentences first, first + step, ... of one noisy text, or all others. */
static const char *write_part(const char *name, size_t first, size_t step, bool others)
{
    const char *path = in_folder(name);
    trl_rng rng = trl_rng_seed(11);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t s = 1; s <= 120; s++) {
        const bool on = (s >= first && (s - first) % step == 0) != others;
        size_t before = 0;
        for (size_t t = 0, n = 1 + trl_rng_below(&rng, 9); t < n; t++) {
            const size_t w = trl_rng_below(&rng, 40), noise = trl_rng_below(&rng, 4) == 0;
            static const char *const label[] = {"B-X", "I-X", "O", "B-Y"};
            if (on)
                fprintf(f, "w%zu p%zu %s\n", w, w % 3, label[(w + before / 20 + noise) % 4]);
            before = w;
        }
        if (on)
            fprintf(f, "\n");
    }
    assert_int_equal(fclose(f), 0);
    return path;
}

static const char template_text[] = "U:%x[0,0]\nU:%x[-1,0]/%x[0,0]\nU:%x[0,1]\nB\n";

#define MAX_RUNS 16

typedef struct setup {
    trl_tune_options o;
    trl_train_options t;
    const char *train[1];
    trl_tune_run run[MAX_RUNS], best;
    size_t n, stop_run, fail_run; /* 0: none */
    size_t runs_begun;
} setup;

static trl_status on_run(void *ctx, const trl_tune_run *run, trl_error *err)
{
    setup *s = ctx;
    (void)err;
    assert_true(s->n < MAX_RUNS);
    s->run[s->n++] = *run;
    return s->n == s->fail_run ? TRL_ECANCEL : TRL_OK;
}

static bool on_progress(void *ctx, const trl_progress *p)
{
    setup *s = ctx;
    s->runs_begun += strcmp(p->stage, "read") == 0;
    return strcmp(p->stage, "iteration") == 0 && p->iteration == 2 && s->runs_begun == s->stop_run;
}

static void setup_make(setup *s, const char *train, const char *dev)
{
    *s = (setup){.o = trl_tune_options_default(), .t = trl_train_options_default()};
    s->o.train = &s->t;
    s->train[0] = train;
    s->t.train = s->train;
    s->t.n_train = 1;
    s->t.dev = dev;
    s->t.model = in_folder("model");
    s->t.template_text = template_text;
    s->t.template_size = strlen(template_text);
    s->t.epsilon = 1e-7;
    s->t.delta = 0.0;
    s->t.progress = on_progress;
    s->t.progress_ctx = s;
    s->o.on_run = on_run;
    s->o.ctx = s;
}

static void assert_no_leftovers(void)
{
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tune-") || strstr(e->d_name, ".tmp-"))
            fail_msg("%s was left behind", e->d_name);
    closedir(d);
}

static bool same_files(const char *a, const char *b)
{
    trl_error err;
    trl_mapped x, y;
    assert_ok(trl_map_file(a, &x, &err));
    assert_ok(trl_map_file(b, &y, &err));
    const bool same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    trl_unmap(&x);
    trl_unmap(&y);
    return same;
}

static void test_default_grid(void **state)
{
    (void)state;
    double c[TRL_TUNE_DEFAULT];
    trl_tune_default_grid(c);
    assert_near(c[0], 0.1, 1e-15);
    assert_near(c[3], 1.0, 1e-15);
    assert_near(c[6], 10.0, 1e-14);
    for (int k = 1; k < 7; k++)
        assert_near(c[k] / c[k - 1], pow(10.0, 1.0 / 3.0), 1e-12);
    assert_true(isinf(c[7]));
}

/* The best run is the one of the best score, and its model is what training alone makes. */
static void test_choice(void **state)
{
    (void)state;
    trl_error err;
    setup s;
    const double grid[] = {INFINITY, 20.0, 0.02, 1.0};
    setup_make(&s, write_part("train", 3, 3, true), write_part("dev", 3, 3, false));
    s.o.grid = grid;
    s.o.n_grid = 4;
    s.o.cold = true;
    assert_ok(trl_tune(&s.o, &s.best, &err));
    assert_int_equal(s.n, 4);
    double top = -1.0;
    for (size_t k = 0; k < 4; k++) {
        assert_true(k == 0 || s.run[k].c > s.run[k - 1].c);
        assert_near(s.run[k].c2, isinf(s.run[k].c) ? 0.0 : 0.5 / s.run[k].c, 1e-15);
        assert_true(s.run[k].best == (s.run[k].score > top));
        top = fmax(top, s.run[k].score);
        assert_true(s.run[k].chunks && s.run[k].score == s.run[k].held_out.f1);
    }
    assert_true(s.best.score == top && s.run[0].score != s.run[2].score);
    trl_train_options alone = s.t;
    trl_train_result result;
    alone.dev = NULL;
    alone.progress = NULL;
    alone.c2 = s.best.c2;
    alone.model = in_folder("alone");
    assert_ok(trl_train(&alone, &result, &err));
    assert_true(same_files(alone.model, s.t.model));
    assert_no_leftovers();
}

/* Warm starts reach the same optimum in fewer iterations. */
static void test_warm(void **state)
{
    (void)state;
    trl_error err;
    setup cold, warm;
    const double grid[] = {1.0, 1.05, 1.1};
    const char *train = write_part("train", 3, 3, true), *dev = write_part("dev", 3, 3, false);
    setup_make(&cold, train, dev);
    setup_make(&warm, train, dev);
    cold.o.cold = true;
    cold.o.grid = warm.o.grid = grid;
    cold.o.n_grid = warm.o.n_grid = 3;
    assert_ok(trl_tune(&cold.o, &cold.best, &err));
    assert_ok(trl_tune(&warm.o, &warm.best, &err));
    uint64_t n[2] = {0, 0};
    for (size_t k = 1; k < 3; k++) {
        const double f = cold.run[k].result.objective;
        assert_near(warm.run[k].result.objective, f, 1e-6 * f);
        n[0] += cold.run[k].result.iterations;
        n[1] += warm.run[k].result.iterations;
    }
    assert_true(n[1] < n[0]);
}

/* Holding out one sequence in N is the same as two files; refit sees them all. */
static void test_hold_out(void **state)
{
    (void)state;
    trl_error err;
    setup one, two;
    const double grid[] = {0.5, 5.0};
    const char *all = write_part("all", 1, 1, false);
    setup_make(&two, write_part("train", 5, 5, true), write_part("dev", 5, 5, false));
    setup_make(&one, all, NULL);
    one.o.hold_out = 5;
    one.o.grid = two.o.grid = grid;
    one.o.n_grid = two.o.n_grid = 2;
    two.t.model = in_folder("model2");
    assert_ok(trl_tune(&one.o, &one.best, &err));
    assert_ok(trl_tune(&two.o, &two.best, &err));
    assert_true(one.best.score == two.best.score && one.best.c == two.best.c);
    assert_int_equal(one.best.held_out.sequences, 24);
    assert_true(same_files(one.t.model, two.t.model));

    setup again;
    setup_make(&again, all, NULL);
    again.o.hold_out = 5;
    again.o.grid = grid;
    again.o.n_grid = 2;
    again.o.cold = again.o.refit = true;
    assert_ok(trl_tune(&again.o, &again.best, &err));
    assert_int_equal(again.n, 3);
    assert_true(again.run[2].refit && isnan(again.run[2].score));
    trl_train_options alone = again.t;
    alone.progress = NULL;
    alone.c2 = again.best.c2;
    alone.model = in_folder("alone");
    trl_train_result result;
    assert_ok(trl_train(&alone, &result, &err));
    assert_true(same_files(alone.model, again.t.model));
}

static void test_measures(void **state)
{
    (void)state;
    trl_error err;
    const double grid[] = {1.0};
    const char *train = write_part("train", 3, 3, true), *dev = write_part("dev", 3, 3, false);
    for (int m = TRL_TUNE_GUESS; m <= TRL_TUNE_ACCURACY; m++) {
        setup s;
        setup_make(&s, train, dev);
        s.o.grid = grid;
        s.o.n_grid = 1;
        s.o.measure = (trl_tune_measure)m;
        assert_ok(trl_tune(&s.o, &s.best, &err));
        const trl_score_totals *h = &s.best.held_out;
        const double want[] = {h->f1, h->f1, h->precision, h->recall, h->accuracy};
        assert_true(s.best.score == want[m]);
        assert_true(h->accuracy != h->f1 && h->precision != h->recall);
    }
}

/* Stopped in the third run: the best of the first two; in the first: that one. */
static void test_stop(void **state)
{
    (void)state;
    trl_error err;
    for (size_t at = 1; at <= 3; at += 2) {
        setup s;
        setup_make(&s, write_part("all", 1, 1, false), NULL);
        s.stop_run = at;
        unlink(s.t.model);
        assert_ok(trl_tune(&s.o, &s.best, &err));
        assert_int_equal(s.n, at);
        assert_true(s.best.result.stopped && access(s.t.model, F_OK) == 0);
        assert_true(s.best.c == s.run[at == 1 || s.run[0].score >= s.run[1].score ? 0 : 1].c);
        assert_no_leftovers();
    }
}

static void expect(setup *s, trl_status want, const char *word)
{
    trl_error err = {0};
    unlink(s->t.model);
    assert_int_equal(trl_tune(&s->o, &s->best, &err), want);
    if (!strstr(err.msg, word))
        fail_msg("'%s' does not say '%s'", err.msg, word);
    assert_int_not_equal(access(s->t.model, F_OK), 0);
    assert_no_leftovers();
}

static void test_refusals(void **state)
{
    (void)state;
    setup s;
    char all[512];
    snprintf(all, sizeof all, "%s", write_part("all", 1, 1, false));
#define WRONG(change, status, word)                                                                \
    do {                                                                                           \
        setup_make(&s, all, NULL);                                                                 \
        change;                                                                                    \
        expect(&s, status, word);                                                                  \
    } while (0)
    const double zero[] = {1.0, 0.0}, nan[] = {(double)NAN};
    WRONG((s.o.grid = zero, s.o.n_grid = 2), TRL_EINVAL, "above 0");
    WRONG((s.o.grid = nan, s.o.n_grid = 1), TRL_EINVAL, "above 0");
    WRONG((s.o.grid = zero, s.o.n_grid = 0), TRL_EINVAL, "empty");
    WRONG(s.o.hold_out = 1, TRL_EINVAL, "hold-out 1 is out of range: at least 2");
    WRONG(s.o.hold_out = 1000, TRL_EPARSE, "not enough sequences");
    WRONG(s.train[0] = "-", TRL_EINVAL, "standard input");
    WRONG(s.t.dev = "-", TRL_EINVAL, "standard input");
    WRONG(s.t.patience = 2, TRL_EINVAL, "patience");
    WRONG(s.t.objective = "best", TRL_EINVAL, "not known");
    WRONG(s.t.dev = in_folder("missing"), TRL_EIO, "");
    WRONG(s.fail_run = 2, TRL_ECANCEL, "");
#undef WRONG
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_grid), cmocka_unit_test(test_choice),
        cmocka_unit_test(test_warm),         cmocka_unit_test(test_hold_out),
        cmocka_unit_test(test_measures),     cmocka_unit_test(test_stop),
        cmocka_unit_test(test_refusals),
    };
    snprintf(folder, sizeof folder, "/tmp/trellis-tune-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failed;
}
