/* example_passes.h -- what optimisers share that draw one example after the other (sag.c, sdca.c):
 * the order of examples, tables to evaluate them, passes, the past, and saving all of it.
 *
 * The first pass visits every example once, in a random order; later ones draw, some examples
 * uniformly, the others in proportion to weights that the optimiser keeps.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_EXAMPLE_PASSES_H
#define TRL_EXAMPLE_PASSES_H

#include "base/arena.h"
#include "base/rng.h"
#include "feature/design.h"
#include "feature/pair_view.h"
#include "train/optimizer.h"
#include "train/task.h"
#include "train/weighted_sampler.h"

typedef struct trl_passes {
    const trl_design *d;
    const trl_task *task;
    uint64_t max_iter, period;
    double uniform;             /* share of examples drawn uniformly */
    const trl_watcher *watcher; /* or NULL */
    bool takes_pairs;           /* as sets, where the task does and they are worth it */
    size_t steps;               /* calls of `step` that make a pass; 0: one for each example */

    size_t n;                     /* examples */
    trl_weighted_sampler weights; /* of drawing */
    uint64_t seen, pass, next;    /* examples met so far; passes ended; the example to come */
    double damp, lowest;          /* of steps; what the optimiser checks, at its least so far */
    double *past;                 /* [period + 1] objectives, that of pass p at p % (period + 1) */
    uint32_t *order;              /* the first pass */
    trl_rng rng;
    trl_arena arena;            /* of one step */
    trl_tables scores, adjoint; /* shared tables; rows come from the arena */
    trl_pair_sets pairs;
    bool has_pairs;
} trl_passes;

/* The fields above n are set by the caller.  TRL_ENOMEM; _fini in any case. */
trl_status trl_passes_init(trl_passes *p, uint64_t seed, trl_error *err);
void trl_passes_fini(trl_passes *p);

/* The example of this step.  The one after it, p->next, is drawn as well, so that its weights can
 * be fetched while this one is worked on. */
size_t trl_passes_draw(trl_passes *p);

/* Tables of the tokens from .. from + n - 1 for an evaluation: rows in the arena, the shared ones
 * of p, those of the adjoint 0; pairs as sets are those of a view (pair_view.h).  TRL_ENOMEM.
 */
trl_status trl_passes_tables(trl_passes *p, size_t from, size_t n, trl_tables *scores,
                             trl_tables *adjoint, trl_error *err);

/* Makes the shared tables copies in the arena, which the next evaluation leaves alone.  False: out
 * of memory. */
bool trl_passes_keep_shared(trl_passes *p, trl_tables *t);

/* Passes, of n steps each or of p->steps, until max_iter, or until end_pass sets *done (then
 * *ending as well) or *stop.
 */
typedef struct trl_passes_fns {
    trl_status (*step)(void *self, trl_error *err);
    trl_status (*end_pass)(void *self, trl_ending *ending, bool *done, bool *stop, trl_error *err);
} trl_passes_fns;
trl_status trl_passes_run(trl_passes *p, const trl_passes_fns *f, void *self, trl_ending *ending,
                          trl_error *err);

/* What the optimiser has beside this: a few numbers, and something for every example. */
typedef struct trl_passes_state {
    double *number;
    size_t n_numbers;
    void *example; /* [n] */
    size_t example_size;
} trl_passes_state;
bool trl_passes_save(const trl_passes *p, const trl_passes_state *own, trl_buf *out);

/* Takes what _save added off the bytes.  False: it belongs to another run. */
bool trl_passes_load(trl_passes *p, const trl_passes_state *own, const unsigned char **bytes,
                     size_t *n_bytes);

#endif
