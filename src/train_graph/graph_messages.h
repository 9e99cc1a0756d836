/* graph_messages.h -- messages that training keeps from one iteration to the next.
 *
 * Weights change little in an iteration, and so do messages: a run that starts from those of the
 * iteration before settles in fewer sweeps.  Every evaluation of an iteration starts from the same
 * kept messages and leaves its own aside; they take the place of the kept ones when the iteration
 * has ended.  So an iteration that is cancelled changes nothing, trials of a line search see one
 * function, and what a checkpoint needs is the kept messages.
 *
 * They are single precision: a start need not be better than the tolerance, and there are two of
 * each.  Numbers of a message that are not 0 stay so.  Examples may be used by different threads at
 * a time.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_MESSAGES_H
#define TRL_GRAPH_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "trellis/graph.h"

typedef struct trl_graph_messages {
    size_t n;
    size_t *at;            /* [n + 1] into both halves */
    float *half[2];        /* [at[n]] messages, linear, normalised */
    unsigned char *filled; /* [n] bits: TRL_MESSAGES_KEPT, TRL_MESSAGES_NEXT */
    unsigned char *side;   /* [n] the half of the kept ones */
} trl_graph_messages;

#define TRL_MESSAGES_KEPT 1
#define TRL_MESSAGES_NEXT 2

/* Room for the messages of n plans; none are kept yet.  TRL_ENOMEM. */
trl_status trl_graph_messages_init(trl_graph_messages *m, trl_infer_plan *const *plan, size_t n,
                                   trl_error *err);
void trl_graph_messages_fini(trl_graph_messages *m);

/* *out: those kept for example k, in the arena; NULL: none.  False: no memory. */
bool trl_graph_messages_get(const trl_graph_messages *m, size_t k, trl_arena *arena,
                            const double **out);

/* What a run on example k ended with: n numbers, or 0 when it has none. */
void trl_graph_messages_put(trl_graph_messages *m, size_t k, const double *from, size_t n);

/* An iteration has ended: what was put is kept. */
void trl_graph_messages_turn(trl_graph_messages *m);

/* The kept ones as bytes, and back.  False: no memory; they do not fit. */
bool trl_graph_messages_save(const trl_graph_messages *m, trl_buf *out);
bool trl_graph_messages_load(trl_graph_messages *m, const void *bytes, size_t size);

#endif
