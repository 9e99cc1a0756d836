/* xlogx.h -- f(x) = x ln x on whole numbers, in fixed point.
 *
 * Everything Brown clustering compares is a sum of such terms (merges.h).  f is rounded to a
 * multiple of 2^-bits once, the same wherever it is needed; sums of 64-bit integers are exact.  So
 * values updated step by step equal values computed from scratch to the last bit, in any order and
 * with any number of threads, and ties are exact.
 *
 * bits is as large as f(limit) allows within 61 bits, at most 32: with a billion word pairs there
 * are still 26 bits after the point.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_XLOGX_H
#define TRL_XLOGX_H

#include <stdint.h>

#include "trellis/status.h"

typedef struct trl_xlogx {
    int64_t *table; /* [size] */
    uint32_t size;
    double scale; /* 2^bits */
} trl_xlogx;

/* For arguments 0 .. limit.  TRL_ENOMEM. */
trl_status trl_xlogx_init(trl_xlogx *f, uint32_t limit, trl_error *err);
void trl_xlogx_fini(trl_xlogx *f);

/* Beyond the table. */
int64_t trl_xlogx_far(const trl_xlogx *f, uint32_t x);

static inline int64_t trl_xlogx_at(const trl_xlogx *f, uint32_t x)
{
    return __builtin_expect(x < f->size, 1) ? f->table[x] : trl_xlogx_far(f, x);
}

/* D(x, y) = f(x + y) - f(x) - f(y) >= 0 (up to rounding): 0 when x or y is 0. */
static inline int64_t trl_xlogx_join(const trl_xlogx *f, uint32_t x, uint32_t y)
{
    return trl_xlogx_at(f, x + y) - trl_xlogx_at(f, x) - trl_xlogx_at(f, y);
}

#endif
