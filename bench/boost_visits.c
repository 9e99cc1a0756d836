/* boost_visits.c -- how fast boosting visits the features of examples, and what the machine allows.
 *
 *     build/bench/boost_visits FILE TREES
 *
 * FILE: examples as `trellis boost` reads them.  Grows TREES trees exactly and by samples, from the
 * same lambda, and prints a Markdown table: processor seconds a tree, features of rows visited a
 * tree and a second; then the limits: the same additions for all rows in their order, and reading
 * the rows alone.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "boost/trainer.h"

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "boost_visits: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Trees from where nothing can be split downwards; lambda decays as in a run. */
static void grow_trees(const trl_boost_data *d, uint64_t sample, size_t trees)
{
    trl_error err = {0};
    trl_boost_options o = trl_boost_options_default();
    trl_trainer t;
    o.sample = sample;
    must(trl_trainer_init(&t, d, 0, &o, &err) == TRL_OK, err.msg);
    trl_trainer_weigh(&t);
    must(trl_fit_intercept(&t, &err) == TRL_OK, err.msg);
    trl_trainer_set_lambda(&t, trl_trainer_largest_gain(&t) * o.decay);
    t.visited = 0;
    const double started = now();
    uint64_t number = 0;
    size_t grown = 0;
    while (grown < trees) {
        bool split, moved = false;
        must(trl_grow(&t, number++, &split, &err) == TRL_OK, err.msg);
        if (split)
            must(trl_fit_leaves(&t, &moved, &err) == TRL_OK, err.msg);
        if (moved)
            grown++;
        else
            trl_trainer_set_lambda(&t, t.lambda * o.decay);
    }
    const double seconds = now() - started;
    printf("| %s%.0d | %.4f | %.3g | %.3g | %.6g |\n", sample ? "drawn examples: " : "exact",
           (int)sample, seconds / (double)trees, (double)t.visited / (double)trees,
           (double)t.visited / seconds, trl_trainer_loss(&t) / (double)t.n);
    trl_trainer_fini(&t);
}

static void measure_limits(const trl_boost_data *d)
{
    const uint64_t active = trl_boost_active(d);
    double best[2] = {HUGE_VAL, HUGE_VAL};
    uint64_t kept = 0;
    trl_sums s;
    must(trl_sums_init(&s, d->n_features), "out of memory");
    for (int turn = 0; turn < 3; turn++) {
        double at = now();
        for (size_t i = 0; i < d->n; i++) {
            const uint64_t begin = trl_boost_begin(d->row_end, i);
            trl_sums_add(&s, d->id + begin, d->row_end[i] - begin, (int64_t)i);
        }
        best[0] = fmin(best[0], now() - at);
        at = now();
        for (uint64_t k = 0; k < active; k++)
            kept += d->id[k];
        best[1] = fmin(best[1], now() - at);
    }
    printf("| all rows in order, added to sums | %.4f | %.3g | %.3g | |\n", best[0], (double)active,
           (double)active / best[0]);
    printf("| all rows read (%.2g GB/s) | %.4f | %.3g | %.3g | |\n",
           4e-9 * (double)active / best[1], best[1], (double)active, (double)active / best[1]);
    trl_sums_fini(&s);
    if (kept == 1)
        puts("");
}

int main(int argc, char **argv)
{
    must(argc == 3, "FILE TREES");
    trl_error err = {0};
    trl_boost_data *d = NULL;
    const trl_boost_read_options r = trl_boost_read_options_default();
    const char *path = argv[1];
    must(trl_boost_read(&path, 1, &r, &d, &err) == TRL_OK, err.msg);
    const size_t trees = (size_t)atol(argv[2]);
    puts("| | seconds a tree | features visited a tree | a second | loss |\n|---|---|---|---|---|");
    grow_trees(d, 0, trees);
    grow_trees(d, 8000, trees);
    grow_trees(d, 2000, trees);
    measure_limits(d);
    trl_boost_data_free(d);
    return 0;
}
