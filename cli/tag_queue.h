/* tag_queue.h -- sequences from one reading thread to several tagging ones and back in order.
 *
 *     fill (reader)            take, give (workers)             out (main)
 *     FREE -> OPEN    ------>  TAKEN -> READY        ------>    FREE
 *
 * A ring of batches numbered in order of reading.  The reader adds to the open batch; a worker
 * that has nothing to do takes the oldest batch with anything in it, even the open one, so no
 * sequence waits for the input to go on.  What is printed does not depend on how sequences
 * fall into batches.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_QUEUE_H
#define CLI_TAG_QUEUE_H

#include "tag_print.h"

typedef struct tag_block tag_block;

/* Copies of sequences, and what becomes of them. */
typedef struct tag_batch {
    enum { BATCH_FREE, BATCH_OPEN, BATCH_TAKEN, BATCH_READY } state;
    uint64_t number;           /* in order of reading, from OPEN on */
    tag_block *blocks, *block; /* memory of the copies, kept for the next round */
    tag_sequence *seq;
    size_t n, cap, n_tokens;
    text out;
    trl_status status; /* of the first sequence that failed; `out` holds those before it */
    trl_error error;
} tag_batch;

typedef struct tag_queue tag_queue;

tag_queue *tag_queue_new(size_t threads); /* NULL: no memory */
void tag_queue_free(tag_queue *q);        /* accepts NULL; no thread may use it any more */

/* The reader.  Waits for room; *stop is set when nobody wants more.  TRL_ENOMEM. */
trl_status tag_queue_fill(tag_queue *q, const tag_sequence *seq, bool *stop, trl_error *err);
void tag_queue_end(tag_queue *q, trl_status st, const trl_error *err); /* no more, and why */

/* A worker.  NULL: no more. */
tag_batch *tag_queue_take(tag_queue *q);
void tag_queue_give(tag_queue *q, tag_batch *b);

/* The printer: the next batch in order, to be released when printed; NULL after the last.
 * Before waiting `idle` is called; false from it gives NULL too. */
tag_batch *tag_queue_next(tag_queue *q, bool (*idle)(void *ctx), void *ctx);
void tag_queue_release(tag_queue *q, tag_batch *b);

/* Tells everybody to stop. */
void tag_queue_stop(tag_queue *q);

/* Has the reader ended?  If so, how. */
bool tag_queue_ended(tag_queue *q, trl_status *st, trl_error *err);

#endif
