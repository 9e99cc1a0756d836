/* cancel.h -- being asked to stop in the middle of work.
 *
 * Whoever starts a run may give a function that says whether the run shall end.  Loops that take
 * longer than a moment ask between two pieces of work and fail with TRL_ECANCEL; what they made so
 * far is thrown away by whoever knows what the last whole state was (train/session.c).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CANCEL_H
#define TRL_CANCEL_H

#include "base/fail.h"

typedef struct trl_cancel {
    bool (*asked)(void *ctx); /* called by any thread; NULL: nobody asks */
    void *ctx;
    bool held; /* what is under way is to be finished; not to be changed while jobs run */
} trl_cancel;

static inline bool trl_cancelled(const trl_cancel *c)
{
    return c && c->asked && !c->held && c->asked(c->ctx);
}

static inline trl_status trl_cancel_check(const trl_cancel *c, trl_error *err)
{
    return trl_cancelled(c) ? trl_fail(err, TRL_ECANCEL, "stopped") : TRL_OK;
}

#endif
