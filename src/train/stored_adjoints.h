/* stored_adjoints.h -- an adjoint of every example, in single precision. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_KEPT_H
#define TRL_KEPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "feature/design.h"

typedef struct trl_kept {
    const trl_design *d;
    float            *row[TRL_FAMILIES];    /* [n_tokens][step] where there are rows; pads 0 */
    float            *shared[TRL_FAMILIES]; /* [n_sequences][n_constant] */
} trl_kept;

/* Everything starts at 0.  TRL_ENOMEM. */
trl_status trl_kept_init(trl_kept *k, const trl_design *d, trl_error *err);
void       trl_kept_fini(trl_kept *k);

/* The rows from token `from` on, NULL for a family without rows; the shared cells of example i. */
static inline float *trl_kept_row(const trl_kept *k, size_t family, size_t from)
{
    return k->row[family] ? k->row[family] + from * k->d->family[family].step : NULL;
}
static inline float *trl_kept_shared(const trl_kept *k, size_t family, size_t i)
{
    return k->shared[family] + i * k->d->family[family].n_constant;
}

/* All of them, as bytes, and back (false: too few bytes). */
bool trl_kept_save(const trl_kept *k, trl_buf *out);
bool trl_kept_load(trl_kept *k, const unsigned char **p, size_t *n);

/* w = scale * sum_i A_i^T kept_i, [n_weights], in double.  TRL_ENOMEM. */
trl_status trl_kept_sum(const trl_kept *k, double scale, trl_arena *arena, double *w,
                        trl_error *err);

#endif
