/* brown.h -- Brown clustering of counted word pairs [Bro92, sec. 3].
 *
 * The C most frequent words start as clusters.  The others follow by rank: each becomes a cluster
 * of its own, and the cheapest of all merges (merges.h) brings their number back to C.  Then the C
 * clusters are merged down to one; the tree of these merges names every cluster: 0 on the way to
 * the one in the lower slot, 1 to the other.  A word that joins takes the slot that the merge
 * before it freed; a merged cluster stays in the lower of its two slots.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BROWN_H
#define TRL_BROWN_H

#include "base/buf.h"
#include "base/pool.h"
#include "cluster/bigrams.h"

typedef struct trl_brown {
    size_t C;                             /* clusters: what was asked for, or the number of words */
    uint32_t *cluster;                    /* [words] 0 .. C-1, in the order of the paths */
    trl_str *path;                        /* [C] of '0' and '1'; one cluster alone is "0" */
    trl_buf paths;                        /* holds them */
    double information, word_information; /* bits per pair */
} trl_brown;

/* Called after every word and every merge of the tree: `done` of `total` work, in some unit.
 * True: stop, TRL_ECANCEL. */
typedef bool (*trl_brown_fn)(void *ctx, bool tree, size_t done, size_t total, double work);

/* Who is told how far it is; progress may be NULL. */
typedef struct trl_brown_report {
    trl_brown_fn progress;
    void *progress_ctx;
} trl_brown_report;

/* C > 0; pool NULL: in the caller.  TRL_EINVAL, TRL_ENOMEM, TRL_ECANCEL; *out is then empty.
 */
trl_status trl_brown_run(const trl_bigrams *b, size_t C, trl_pool *pool,
                         const trl_brown_report *report, trl_brown *out, trl_error *err);
void trl_brown_fini(trl_brown *r);

#endif
