/* sums_kernel.c -- sums by feature. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "boost/sums.h"
#include "num/simd.h"

bool trl_sums_init(trl_sums *s, size_t n_features)
{
    *s = (trl_sums){.n_blocks = n_features / TRL_SUMS_BLOCK + 1};
    s->sum = trl_alloc64(s->n_blocks, TRL_SUMS_BLOCK * sizeof *s->sum);
    s->low = trl_zalloc(s->n_blocks, sizeof *s->low);
    s->high = trl_zalloc(s->n_blocks, sizeof *s->high);
    s->state = trl_zalloc(s->n_blocks, 1);
    if (!s->sum || !s->low || !s->high || !s->state)
        return false;
    memset(s->sum, 0, s->n_blocks * TRL_SUMS_BLOCK * sizeof *s->sum);
    return true;
}

void trl_sums_fini(trl_sums *s)
{
    trl_free(s->sum);
    trl_free(s->low);
    trl_free(s->high);
    trl_free(s->state);
    *s = (trl_sums){0};
}

void trl_sums_clear(trl_sums *s)
{
    for (size_t b = 0; b < s->n_blocks; b++)
        if (s->state[b]) {
            memset(s->sum + b * TRL_SUMS_BLOCK, 0, TRL_SUMS_BLOCK * sizeof *s->sum);
            s->low[b] = s->high[b] = 0;
            s->state[b] = 0;
        }
}

void trl_sums_set(trl_sums *s, const int64_t *sum)
{
    memcpy(s->sum, sum, s->n_blocks * TRL_SUMS_BLOCK * sizeof *s->sum);
    memset(s->state, TRL_SUMS_STALE | TRL_SUMS_USED, s->n_blocks);
}

void trl_sums_add(trl_sums *s, const uint32_t *id, size_t n, int64_t w)
{
    int64_t *restrict sum = s->sum;
    unsigned char *restrict state = s->state;
    for (size_t k = 0; k < n; k++) {
        sum[id[k]] += w;
        state[id[k] / TRL_SUMS_BLOCK] = TRL_SUMS_STALE | TRL_SUMS_USED;
    }
}

TRL_CLONES static bool take_block(int64_t *restrict sum, int64_t *restrict side)
{
    int64_t any = 0;
    for (size_t k = 0; k < TRL_SUMS_BLOCK; k++) {
        any |= side[k];
        sum[k] += side[k];
        side[k] = 0;
    }
    return any != 0;
}

void trl_sums_take(trl_sums *s, int64_t *side)
{
    for (size_t b = 0; b < s->n_blocks; b++)
        if (take_block(s->sum + b * TRL_SUMS_BLOCK, side + b * TRL_SUMS_BLOCK))
            s->state[b] = TRL_SUMS_STALE | TRL_SUMS_USED;
}

void trl_sums_put(trl_sums *s, uint32_t id, int64_t sum)
{
    s->sum[id] = sum;
    s->state[id / TRL_SUMS_BLOCK] = TRL_SUMS_STALE | TRL_SUMS_USED;
}

TRL_CLONES static void refresh(trl_sums *s)
{
    for (size_t b = 0; b < s->n_blocks; b++) {
        if (!(s->state[b] & TRL_SUMS_STALE))
            continue;
        const int64_t *x = s->sum + b * TRL_SUMS_BLOCK;
        int64_t low = x[0], high = x[0];
        for (size_t k = 1; k < TRL_SUMS_BLOCK; k++) {
            low = x[k] < low ? x[k] : low;
            high = x[k] > high ? x[k] : high;
        }
        s->low[b] = low;
        s->high[b] = high;
        s->state[b] = TRL_SUMS_USED;
    }
}

static uint32_t first_with(const trl_sums *s, size_t block, int64_t x)
{
    const int64_t *sum = s->sum + block * TRL_SUMS_BLOCK;
    size_t k = 0;
    while (sum[k] != x)
        k++;
    return (uint32_t)(block * TRL_SUMS_BLOCK + k);
}

trl_extremes trl_sums_extremes(trl_sums *s)
{
    refresh(s);
    size_t low = 0, high = 0;
    for (size_t b = 1; b < s->n_blocks; b++) {
        low = s->low[b] < s->low[low] ? b : low;
        high = s->high[b] > s->high[high] ? b : high;
    }
    return (trl_extremes){.low = s->low[low],
                          .high = s->high[high],
                          .low_at = first_with(s, low, s->low[low]),
                          .high_at = first_with(s, high, s->high[high])};
}
