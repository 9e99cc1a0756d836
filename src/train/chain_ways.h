/* chain_ways.h -- an extension of the task (task.h) for chains: what makes them faster, for
 * trainers that go through the whole corpus.  Other trainers use trl_task.evaluate with whole
 * tables.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_WAYS_H
#define TRL_CHAIN_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "trellis/status.h"

/* Tokens that do not depend on each other: positions are those of `arrange`. */
typedef struct trl_token_block {
    size_t position, n; /* the first one; how many */
    float *score;       /* [n][step] node scores, pads garbage; may be used as scratch */
    float *adjoint;     /* [n][step], pads 0 */
} trl_token_block;

typedef struct trl_chain_ways {
    /* Which cells of pairs and triples `evaluate` looks at, of all examples; NULL: all.  It then
     * gets partial tables, or whole ones from trainers that know no others. */
    const struct trl_selection *only;

    bool pair_sets; /* takes pairs that depend on the position as sets (feature/pair_sets.h) */

    /* Tokens in any order, where no family but the nodes has rows; NULL: there is no such way.
     * `arrange`, before the first pass, says in which order: token[i] is the one at position i.
     * `tokens` is for a block what trl_task.evaluate is for an example; `self` is the task's. */
    trl_status (*arrange)(void *self, size_t n, const uint32_t *token, trl_error *err);
    trl_status (*tokens)(void *self, size_t lane, const trl_token_block *b, trl_arena *arena,
                         double *value, trl_error *err);
} trl_chain_ways;

#endif
