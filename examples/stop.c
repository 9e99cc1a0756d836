/* stop.c -- trains until an iteration gains less than 1 %: stop DATA MODEL */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "trellis/train.h"

/* Called after every iteration and at a few other moments; true stops the run. */
static bool watch(void *ctx, const trl_progress *p)
{
    const double before = *(double *)ctx;
    *(double *)ctx = p->iteration ? p->objective : HUGE_VAL;
    return p->iteration && p->objective < before && p->objective > 0.99 * before;
}

int main(int argc, char **argv)
{
    double last = HUGE_VAL;
    trl_error err = {.msg = "usage: stop DATA MODEL"};
    trl_train_options o = trl_train_options_default();
    o.train = (const char *const *)argv + 1;
    o.n_train = 1;
    o.model = argc == 3 ? argv[2] : NULL;
    o.progress = watch;
    o.progress_ctx = &last;
    const bool done = argc == 3 && trl_train(&o, NULL, &err) == TRL_OK;
    fprintf(done ? stdout : stderr, "stop: %s\n", done ? "the model is written" : err.msg);
    return !done;
}
