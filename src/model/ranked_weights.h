/* ranked_weights.h -- private to dumps: weights in the order of their size. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RANKED_WEIGHTS_H
#define TRL_RANKED_WEIGHTS_H

#include <stdint.h>

typedef struct trl_ranked_weight {
    double weight;
    uint32_t attr, cell;
} trl_ranked_weight;

/* For qsort: large weights first; the order is total, whatever qsort does. */
static inline int trl_ranked_weight_compare(const void *pa, const void *pb)
{
    const trl_ranked_weight *a = pa, *b = pb;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    if (a->attr != b->attr)
        return a->attr < b->attr ? -1 : 1;
    return a->cell < b->cell ? -1 : a->cell > b->cell;
}

#endif
