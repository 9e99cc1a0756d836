/* task.h -- what a structure (chain, graph, tree) supplies to be trained.
 *
 * A task turns the score tables of one example into a value, to be maximised, and its adjoint. It
 * knows nothing of features, weights or optimisers; the training loops know nothing of the
 * structure.  Examples are spread over a fixed number of *lanes* (a property of the corpus, not
 * of the machine); all that an evaluation accumulates for the shared scores belongs to its
 * lane, all scratch to its worker.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TASK_H
#define TRL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "feature/tables.h"
#include "train/chain_ways.h"
#include "trellis/status.h"

/* Which example, and whose sums and scratch its evaluation may use. */
typedef struct trl_example {
    size_t number;
    size_t lane;
    trl_arena *arena;
    size_t part; /* 0: all of it; k + 1: what family k has of it, where tasks have parts */
} trl_example;

typedef struct trl_task {
    void *self;
    bool single; /* works in single precision: scores need no more either */
    bool parts;  /* the value of an example is a sum over families, each of its own scores alone:
                    an example may be evaluated in part, and tables then have that family alone */

    /* Takes in shared scores; `scores->row` only says which families have rows.  Called by one
     * thread before the examples that use them. */
    trl_status (*prepare)(void *self, const trl_tables *scores, trl_error *err);

    /* Value and adjoint of one example.  Overwrites adjoint->row[f] (pads and unused leading
     * rows with 0) where it is not NULL, adds to adjoint->shared[f] or to the lane's own sums. */
    trl_status (*evaluate)(void *self, const trl_example *e, const trl_tables *scores,
                           trl_tables *adjoint, double *value, trl_error *err);

    /* Of an example's stored adjoint a, rows of every family: the lowest that its loss may be with
     * it, min over scores s of a . s - value(s); the sum over all examples less c2 ||w||^2, w =
     * 1 / (2 c2) sum A^T a, is not above the lowest objective.  Families whose rows are NULL are
     * left out.  NULL: not known. */
    double (*dual)(void *self, size_t example, float *const *adjoint);

    /* Adds what the lane holds for the shared scores to adjoint->shared, and clears it. */
    void (*finish)(void *self, size_t lane, trl_tables *adjoint);

    trl_chain_ways chain; /* all 0 for every other structure */
} trl_task;

/* prepare and finish are NULL where there is nothing to do. */
static inline trl_status trl_task_prepare(const trl_task *t, const trl_tables *scores,
                                          trl_error *err)
{
    return t->prepare ? t->prepare(t->self, scores, err) : TRL_OK;
}

static inline void trl_task_finish(const trl_task *t, size_t lane, trl_tables *adjoint)
{
    if (t->finish)
        t->finish(t->self, lane, adjoint);
}

#endif
