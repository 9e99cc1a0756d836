/* stop.c -- trains until an iteration gains less than 1 %: stop DATA MODEL */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "trellis/train.h"

/* Called after every iteration and at a few other moments; true stops the run. */
static bool watch(void *ctx, const trl_progress *p)
{
    double *last = ctx;
    if (strcmp(p->stage, "iteration") != 0)
        return false;
    const bool enough = p->iteration > 1 && p->objective > 0.99 * *last;
    *last = p->objective;
    return enough;
}

int main(int argc, char **argv)
{
    double last = 0.0;
    trl_error err = {.msg = "usage: stop DATA MODEL"};
    trl_train_result result;
    trl_train_options o = trl_train_options_default();
    o.train = (const char *const *)argv + 1;
    o.n_train = 1;
    o.model = argc == 3 ? argv[2] : NULL;
    o.progress = watch;
    o.progress_ctx = &last;
    if (argc != 3 || trl_train(&o, &result, &err) != TRL_OK) {
        fprintf(stderr, "stop: %s\n", err.msg);
        return 1;
    }
    printf("%s after %d iterations\n", result.stopped ? "stopped" : result.ending,
           (int)result.iterations);
    return 0;
}
