/* chain_calibration.c -- scaling the factors of a locally trained model (calibrate.h). */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/format.h"
#include "base/mem.h"
#include "chain/calibrate.h"
#include "train_chain/chain_training.h"
#include "train/lbfgs.h"

#define STEPS 30 /* at most: there are few parameters, and each step is a pass over the data */

typedef struct course {
    trl_chain_training *j;
    uint64_t steps;
    double first, last; /* objective */
    double *kept;       /* [L] multipliers after the last step */
    bool stop;
} course;

static trl_status eval(void *self, const double *a, double *g, double *F, trl_error *err)
{
    course *c = self;
    trl_calibration of = {&c->j->corpus, &c->j->design, c->j->w, c->j->pool};
    const trl_status st = trl_calibration_eval(&of, a, g, F, err);
    if (st == TRL_OK && isnan(c->first))
        c->first = *F;
    return st;
}

static trl_status watch(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err)
{
    (void)save;
    (void)optimizer;
    (void)err;
    course *c = self;
    c->steps = it->number;
    c->last = it->objective;
    memcpy(c->kept, it->x, c->j->corpus.labels.n * sizeof *c->kept);
    *stop = c->stop = trl_chain_training_report(c->j, "calibrating", NULL);
    return TRL_OK;
}

/* The multipliers as they were after the last step; none when there is none. */
static void go_back(course *c)
{
    trl_chain_training *j = c->j;
    c->stop = j->cancel.held = true;
    if (c->steps) {
        memcpy(j->calibration, c->kept, j->corpus.labels.n * sizeof *c->kept);
        return;
    }
    trl_free(j->calibration);
    j->calibration = NULL;
}

trl_status trl_chain_training_calibrate(trl_chain_training *j, trl_train_result *result,
                                        trl_error *err)
{
    const size_t L = j->corpus.labels.n;
    course c = {.j = j, .first = NAN, .last = NAN};
    const trl_function f = {&c, L, eval, false};
    const trl_lbfgs_options o = {
        .memory = 6, .max_iter = STEPS, .epsilon = 1e-4, .period = 3, .delta = 1e-5};
    const trl_watcher w = {&c, watch, &j->cancel};
    trl_ending ending;
    j->calibration = trl_alloc64(L + 64, sizeof *j->calibration);
    c.kept = trl_alloc(L, sizeof *c.kept);
    if (!j->calibration || !c.kept) {
        trl_free(c.kept);
        return trl_fail_mem(err);
    }
    j->cancel.held = false;
    for (size_t k = 0; k < L + 64; k++)
        j->calibration[k] = k < L ? 1.0 : 0.0;
    trl_status st = trl_lbfgs(
        &f, &o,
        &(trl_descent){.pool = j->pool, .watcher = &w, .x = j->calibration, .ending = &ending},
        err);
    if (st == TRL_ECANCEL) {
        go_back(&c);
        st = TRL_OK;
    }
    trl_free(c.kept);
    result->stopped = c.stop;
    if (st != TRL_OK || !j->calibration)
        return st;
    char note[120];
    trl_snprintf(note, sizeof note,
                 "calibrated in %llu steps: global log-likelihood %.2f, before %.2f",
                 (unsigned long long)c.steps, -c.last, -c.first);
    trl_chain_training_report(j, "calibrated", note);
    j->dev.calibration = j->calibration;
    j->dev.is_local = j->is_local;
    if (trl_has_dev(j->o))
        st = trl_dev_score(&j->dev, j->w, &result->dev_score, err);
    return st;
}
