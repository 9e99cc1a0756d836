/* direction.h -- one direction of an aligner: t(f | e) as sparse rows, and places.
 *
 * Words are numbered as the bitext numbers them plus 1; source word 0 is NULL.  The row of e holds
 * the target words that it was seen with, ascending.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ALIGN_DIRECTION_H
#define TRL_ALIGN_DIRECTION_H

#include "align/bitext.h"
#include "align/places.h"
#include "base/pool.h"
#include "model/container.h"

#define TRL_ALIGN_FLOOR 1e-9f /* t of pairs that were never seen, or have become as rare */

/* Expected counts of `words` target words are kept as so many units for 1: none is more than
 * 2^63. */
static inline double trl_count_unit(uint64_t words)
{
    int exponent = 40;
    while (exponent > 0 && words >> (63 - exponent))
        exponent--;
    return (double)(UINT64_C(1) << exponent);
}

typedef struct trl_direction {
    size_t n_source;         /* words, NULL among them */
    const uint64_t *row_end; /* [n_source] */
    const uint32_t *target;  /* [row_end[n_source-1]] */
    const float *t;          /* likewise */
    trl_places places;
    /* what belongs to it; of a direction from a file only `places` */
    uint64_t *own_end;
    uint32_t *own_target;
    float *own_t;
} trl_direction;

typedef struct trl_direction_options {
    const trl_align_options *o;
    const char *name;
    trl_pool *pool; /* NULL: this thread alone */
} trl_direction_options;

/* Trains on source side `from` (0 or 1) of the text. */
trl_status trl_direction_train(trl_direction *d, const trl_bitext *b, int from,
                               const trl_direction_options *o, trl_error *err);
void trl_direction_fini(trl_direction *d);

float trl_direction_t(const trl_direction *d, uint32_t e, uint32_t f);

/* tag: "f" or "r", the first letter of its sections. */
trl_status trl_direction_save(const trl_direction *d, char tag, trl_container_builder *b,
                              trl_error *err);
trl_status trl_direction_load(trl_direction *d, char tag, const trl_container *c, size_t n_source,
                              size_t n_target, trl_error *err);

#endif
