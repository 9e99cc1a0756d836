/* sweep.h -- one inference pass over a corpus under fixed weights: scores are gathered, sequence by
 * sequence, and passed to a callback.  Used by the selection of NOTA instances and by calibration.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SWEEP_H
#define TRL_SWEEP_H

#include "base/pool.h"
#include "chain/chain.h"
#include "feature/design.h"

#define TRL_SWEEP_LANES 16

/* A sequence that is visited: its lane, number, first token, scores; `arena` for scratch. */
typedef struct trl_sweep_visit {
    size_t lane, seq, from;
    const trl_chain *chain;
    const trl_tables *scores;
    trl_arena *arena;
} trl_sweep_visit;

/* Sequence `seq`, whose first token is `from`.  Lanes are cut by the corpus alone and run their
 * sequences in order, each in one thread: what a lane accumulates does not depend on the number
 * of threads.  `arena` is reset before every call. */
typedef trl_status (*trl_sweep_fn)(void *ctx, const trl_sweep_visit *v, trl_error *err);

/* w as for trl_gather.  TRL_ENOMEM, TRL_ENUMERIC for weights that are not finite, or what the
 * callback returns. */
trl_status trl_chain_sweep(const trl_design *d, const double *w, trl_pool *pool, trl_sweep_fn visit,
                           void *ctx, trl_error *err);

#endif
