/* xlogx.c -- the table of x ln x. */
/* SPDX-License-Identifier: MIT */
#include "cluster/xlogx.h"

#include <math.h>

#include "base/fail.h"
#include "base/mem.h"

#define TABLE_MAX ((uint32_t)1 << 20) /* 8 MB; hardly any pair has a larger count */
#define MAX_BITS 32

int64_t trl_xlogx_far(const trl_xlogx *f, uint32_t x)
{
    return x ? llrint(f->scale * ((double)x * log((double)x))) : 0;
}

trl_status trl_xlogx_init(trl_xlogx *f, uint32_t limit, trl_error *err)
{
    const double top = (double)limit * log((double)limit + 2.0) + 1.0;
    int bits = MAX_BITS;
    while (ldexp(top, bits) >= 0x1p61)
        bits--;
    f->scale = ldexp(1.0, bits);
    f->size = limit < TABLE_MAX ? limit + 1 : TABLE_MAX;
    f->table = trl_alloc64(f->size, sizeof *f->table);
    if (!f->table)
        return trl_fail_mem(err);
    for (uint32_t x = 0; x < f->size; x++)
        f->table[x] = trl_xlogx_far(f, x);
    return TRL_OK;
}

void trl_xlogx_fini(trl_xlogx *f)
{
    trl_free(f->table);
    f->table = NULL;
}
