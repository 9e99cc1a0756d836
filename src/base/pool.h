/* pool.h -- a fixed set of threads that work through numbered jobs.
 *
 * Jobs are handed out in order to whichever worker is free; a job must write only to what belongs
 * to its number (or, for scratch, to its worker), so results never depend on the number of threads.
 * With one thread, or when none can be started, everything runs in the caller.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_POOL_H
#define TRL_POOL_H

#include <stddef.h>

#include "base/cancel.h"
#include "trellis/status.h"

typedef struct trl_pool trl_pool;

/* job: 0 .. n_jobs-1; worker: 0 .. threads-1.  A failure is reported through `err`, which belongs
 * to the worker; no job is started after a failure. */
typedef trl_status (*trl_job_fn)(void *ctx, size_t job, size_t worker, trl_error *err);

/* The most threads that are started: no task has jobs for more. */
#define TRL_POOL_MOST 256

/* Starts min(threads, TRL_POOL_MOST) threads, or as many as the system allows.  NULL: out of
 * memory. */
trl_pool *trl_pool_new(size_t threads);
void trl_pool_free(trl_pool *pool); /* accepts NULL */
/* How many threads an option asks for: itself, or, where it is 0, one per processor that the
 * process may use. */
size_t trl_pool_count(size_t asked);
size_t trl_pool_threads(const trl_pool *pool);

/* Rounds will be short and follow each other closely: threads look out for the next one for some
 * microseconds before they sleep, if there is a processor for each. */
void trl_pool_stay_awake(trl_pool *pool);

/* From now on trl_pool_run can be cancelled; borrowed.  NULL: it cannot. */
void trl_pool_cancel_by(trl_pool *pool, const trl_cancel *cancel);

/* Has the run been cancelled?  For long jobs, between two pieces of their work: TRL_ECANCEL. */
trl_status trl_pool_check(const trl_pool *pool, trl_error *err);

/* Runs all jobs and waits.  Returns the status of the failed job with the lowest number
 * among those that ran; TRL_ECANCEL when it was cancelled before the last job was started.  Not
 * re-entrant: one caller at a time. */
trl_status trl_pool_run(trl_pool *pool, size_t n_jobs, trl_job_fn fn, void *ctx, trl_error *err);

/* The same for jobs that cannot fail, and that nobody cancels: all are done when it returns.
 * pool NULL: in the caller. */
void trl_pool_run_all(trl_pool *pool, size_t n_jobs, trl_job_fn fn, void *ctx);

#endif
