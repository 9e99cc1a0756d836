/* stages.h -- a training run as a list of stages, in order.
 *
 * Every structure lists its own (train_chain.c, train_tree.c, ...), so that the list is the whole
 * story of a run: reading, features, generative models, pruners, weights, calibration, the model
 * file.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STAGES_H
#define TRL_STAGES_H

#include <stdbool.h>

#include "base/fail.h"
#include "trellis/train.h"

typedef struct trl_stage {
    const char *name; /* for readers */
    trl_status (*run)(void *training, trl_train_result *result, trl_error *err);
    bool learns; /* left out once the user has asked to stop: what is there is saved */
} trl_stage;

/* Runs the stages, which end with one that has no function.  The first failure ends the run;
 * TRL_ECANCEL when it was stopped before there were weights to keep. */
static inline trl_status trl_stages_run(const trl_stage *stage, void *training,
                                        trl_train_result *result, trl_error *err)
{
    for (; stage->run; stage++) {
        if (stage->learns && result->stopped)
            continue;
        const trl_status st = stage->run(training, result, err);
        if (st == TRL_ECANCEL || (st == TRL_OK && result->stopped && result->iterations == 0))
            return trl_fail(err, TRL_ECANCEL, "stopped at '%s': no model was written", stage->name);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

#endif
