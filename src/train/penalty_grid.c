/* penalty_grid.c -- a grid of penalties over one learner. */
/* SPDX-License-Identifier: MIT */
#include "train/penalty_grid.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static trl_status run_at(const trl_session *s, double c2, double *w, double *score, trl_error *err)
{
    const size_t n = s->learner->n_weights + 64;
    trl_train_options o = *s->o;
    trl_session own = *s;
    trl_train_result result = {.objective = NAN, .dev_score = NAN};
    o.c2 = c2;
    o.checkpoint = NULL;
    o.resume = false;
    own.o = &o;
    if (!s->optimizer->starts)
        memset(w, 0, n * sizeof *w);
    const trl_status st = trl_session_run(&own, w, &result, err);
    *score = result.dev_score;
    return st;
}

trl_status trl_penalty_grid(const trl_session *s, const trl_penalties *grid, double *x,
                            double *score, size_t *best, trl_error *err)
{
    const size_t weights = s->learner->n_weights + 64;
    double highest = NAN, now;
    if (grid->n == 0 || !s->learner->score)
        return trl_fail(err, TRL_EINVAL, "choosing a penalty needs a grid and held-out data");
    double *w = trl_alloc64(weights, sizeof *w);
    if (!w)
        return trl_fail_mem(err);
    memcpy(w, x, weights * sizeof *w);
    trl_status st = TRL_OK;
    for (size_t k = 0; st == TRL_OK && k < grid->n; k++) {
        st = run_at(s, grid->c2[k], w, &now, err);
        if (st == TRL_OK && score)
            score[k] = now;
        if (st == TRL_OK && !(now <= highest)) {
            highest = now;
            *best = k;
            memcpy(x, w, weights * sizeof *w);
        }
    }
    trl_free(w);
    return st;
}
