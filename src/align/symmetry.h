/* symmetry.h -- two directions of an alignment made one. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ALIGN_SYMMETRY_H
#define TRL_ALIGN_SYMMETRY_H

#include "trellis/align.h"

/* forward[i]: source word of target word i, 1-based, 0: none; reverse[j]: target word of source
 * word j.  link[j * m + i] becomes whether they are linked.  used: [l + m] scratch. */
typedef struct trl_two_ways {
    size_t l, m;
    const uint32_t *forward, *reverse; /* NULL: not needed by the symmetry */
} trl_two_ways;
void trl_symmetrise(const trl_two_ways *w, trl_symmetry s, bool *link, bool *used);

#endif
