/* optimizer.h -- what all optimisers have in common.
 *
 * Batch optimisers minimise F(x) + c1 ||x||_1 and see nothing but a value/gradient callback.
 * Every iteration ends in a callback that may look at the weights, write a checkpoint, and stop.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OPTIMIZER_H
#define TRL_OPTIMIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/pool.h"
#include "trellis/status.h"

/* F and its gradient at x; both arrays have n (+ 64) elements. */
typedef struct trl_function {
    void *self;
    size_t n;
    trl_status (*eval)(void *self, const double *x, double *g, double *F, trl_error *err);
    bool remembers; /* F depends, within a tolerance, on what was evaluated before */
} trl_function;

/* The most passes of a stochastic method without a given limit. */
#define TRL_MOST_PASSES 1000

/* Why an optimiser ended.  Numbers are those of checkpoints. */
typedef enum trl_ending {
    TRL_END_CONVERGED = 0, /* the gradient (or duality gap) is as small as requested */
    TRL_END_MAX_ITER = 1,
    TRL_END_STOPPED = 2,    /* by the watcher */
    TRL_END_NO_STEP = 3,    /* no step decreases F: rounding errors are larger */
    TRL_END_STALLED = 4,    /* F fell by less than delta in `period` iterations */
    TRL_END_NO_MINIMUM = 5, /* F decreases without bound */
    TRL_ENDINGS
} trl_ending;

typedef struct trl_iteration {
    uint64_t number;  /* 1 for the first */
    double objective; /* with all penalties; stochastic: an estimate, see `exact` */
    bool exact;       /* objective belongs to these weights */
    bool descends;    /* and is below those before, and that of the start */
    double gradient;  /* Euclidean norm; NaN when not known */
    bool has_bound;   /* the lowest objective is not below: */
    double bound;
    double step;          /* length factor of the step taken, or the gain */
    uint64_t evaluations; /* of the whole corpus, so far */
    uint64_t handed_over; /* iterations of the optimiser that began (handover.h); 0: the same one */
    const double *x;      /* the weights */
    bool last;            /* the optimiser ends with it, ... */
    trl_ending ending;    /* ... for this reason; a run that is resumed from here does not go on */
} trl_iteration;

/* Appends the optimiser's whole state to `out`: with it training continues to the same bits. */
typedef bool (*trl_state_fn)(const void *optimizer, trl_buf *out);

/* Called after every iteration.  Sets *stop to end; save(optimizer, buf) gives the state.
 * A failure ends the run with that status.  Optimisers that work without a pool ask `cancel` before
 * every example; once cancelled they return TRL_ECANCEL, and neither x nor their state is of any
 * use: the watcher has what it wants to keep. */
typedef struct trl_watcher {
    void *self;
    trl_status (*watch)(void *self, const trl_iteration *it, trl_state_fn save,
                        const void *optimizer, bool *stop, trl_error *err);
    const trl_cancel *cancel; /* or NULL */
} trl_watcher;

/* Of the watcher w, which may be NULL. */
static inline trl_status trl_watcher_check(const trl_watcher *w, trl_error *err)
{
    return w ? trl_cancel_check(w->cancel, err) : TRL_OK;
}

/* One minimisation, beside its function and options.  All pointers are borrowed. */
typedef struct trl_descent {
    trl_pool *pool;             /* of optimisers that use threads; NULL: one thread */
    const trl_watcher *watcher; /* may be NULL */
    const void *state;          /* of a checkpoint, from which to go on; NULL: none */
    size_t state_size;
    double *x;          /* the start; gets the result */
    trl_ending *ending; /* gets why it ended */
} trl_descent;

#endif
