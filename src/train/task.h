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
#include "trellis/status.h"

/* Tokens that do not depend on each other: positions are those of `arrange`. */
typedef struct trl_token_block {
    size_t position, n; /* the first one; how many */
    float *score;       /* [n][step] node scores, pads garbage; may be used as scratch */
    float *adjoint;     /* [n][step], pads 0 */
} trl_token_block;

typedef struct trl_task {
    void *self;
    bool single; /* works in single precision: scores need no more either */

    /* Which cells of pairs and triples `evaluate` looks at, of all examples; NULL: all.  It then
     * gets partial tables, or whole ones from trainers that know no others. */
    const struct trl_selection *only;

    bool pair_sets; /* takes pairs that depend on the position as sets (feature/pair_sets.h) */

    /* Takes in shared scores; `scores->row` only says which families have rows.  Called by one
     * thread before the examples that use them. */
    trl_status (*prepare)(void *self, const trl_tables *scores, trl_error *err);

    /* Value and adjoint of one example.  Overwrites adjoint->row[f] (pads and unused leading
     * rows with 0) where it is not NULL, adds to adjoint->shared[f] or to the lane's own sums. */
    trl_status (*evaluate)(void *self, size_t example, size_t lane, trl_arena *arena,
                           const trl_tables *scores, trl_tables *adjoint, double *value,
                           trl_error *err);

    /* A second way, for trainers that go through the whole corpus, where no family but the nodes
     * has rows; NULL: there is none.  `arrange`, before the first pass, says in which order:
     * token[i] is the one at position i.  `tokens` is for a block what `evaluate` is for an
     * example. */
    trl_status (*arrange)(void *self, size_t n, const uint32_t *token, trl_error *err);
    trl_status (*tokens)(void *self, size_t lane, const trl_token_block *b, trl_arena *arena,
                         double *value, trl_error *err);

    /* Adds what the lane holds for the shared scores to adjoint->shared, and clears it. */
    void (*finish)(void *self, size_t lane, trl_tables *adjoint);
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
