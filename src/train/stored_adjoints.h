/* stored_adjoints.h -- an adjoint of every example, in single precision. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STORED_ADJOINTS_H
#define TRL_STORED_ADJOINTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "feature/design.h"
#include "feature/pair_view.h"

typedef struct trl_stored_adjoints {
    const trl_design *d;
    const trl_pair_sets *pairs;      /* or NULL */
    uint64_t *cell_first;            /* [n_sequences + 1] with pairs: where an example's begin */
    float *row[TRL_FAMILIES_MAX];    /* [n_tokens][step] where there are rows; pads 0; of pairs as
                                        sets the cells of every example's view, padded */
    float *shared[TRL_FAMILIES_MAX]; /* [n_sequences][n_constant]; NULL: those of the rows */
} trl_stored_adjoints;

/* Where every example is one row, the adjoint of the shared cells is that of the row, and is not
 * kept twice. */
static inline bool trl_shared_is_row(const trl_design *d, size_t family)
{
    return d->order == 0 && d->n_sequences == d->n_tokens && d->family[family].has_rows;
}

/* Everything starts at 0.  `pairs`, which must outlive them: as sets; NULL: as rows.  TRL_ENOMEM.
 */
trl_status trl_stored_adjoints_init(trl_stored_adjoints *k, const trl_design *d,
                                    const trl_pair_sets *pairs, trl_error *err);
void trl_stored_adjoints_fini(trl_stored_adjoints *k);

/* The rows from token `from` on, NULL for a family without rows; the shared cells of example i. */
static inline float *trl_stored_adjoints_row(const trl_stored_adjoints *k, size_t family,
                                             size_t from)
{
    return k->row[family] ? k->row[family] + from * k->d->family[family].step : NULL;
}
static inline float *trl_stored_adjoints_shared(const trl_stored_adjoints *k, size_t family,
                                                size_t i)
{
    return k->shared[family] ? k->shared[family] + i * k->d->family[family].n_constant : NULL;
}

/* With pairs: those of the cells of example i. */
static inline float *trl_stored_adjoints_cells(const trl_stored_adjoints *k, size_t i)
{
    return k->row[TRL_EDGE] + k->cell_first[i];
}

/* All of them, as bytes, and back (false: too few bytes). */
bool trl_stored_adjoints_save(const trl_stored_adjoints *k, trl_buf *out);
bool trl_stored_adjoints_load(trl_stored_adjoints *k, const unsigned char **p, size_t *n);

/* w = scale * sum_i A_i^T stored_i, [n_weights], in double.  TRL_ENOMEM. */
trl_status trl_stored_adjoints_sum(const trl_stored_adjoints *k, double scale, trl_arena *arena,
                                   double *w, trl_error *err);

#endif
