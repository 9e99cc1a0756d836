/* weighted_sampler.c -- a Fenwick tree of weights. */
/* SPDX-License-Identifier: MIT */
#include "train/weighted_sampler.h"

#include <string.h>

#include "base/mem.h"

bool trl_weighted_sampler_init(trl_weighted_sampler *s, size_t n)
{
    *s = (trl_weighted_sampler){.n = n, .tree = trl_zalloc(n + 1, sizeof *s->tree)};
    return s->tree != NULL;
}

void trl_weighted_sampler_fini(trl_weighted_sampler *s)
{
    trl_free(s->tree);
    *s = (trl_weighted_sampler){0};
}

void trl_weighted_sampler_clear(trl_weighted_sampler *s)
{
    memset(s->tree, 0, (s->n + 1) * sizeof *s->tree);
    s->sum = 0.0;
}

void trl_weighted_sampler_add(trl_weighted_sampler *s, size_t i, double by)
{
    s->sum += by;
    for (size_t k = i + 1; k <= s->n; k += k & (~k + 1))
        s->tree[k] += by;
}

size_t trl_weighted_sampler_find(const trl_weighted_sampler *s, double u)
{
    double target = u * s->sum;
    size_t at = 0, bit = 1;
    while (bit * 2 <= s->n)
        bit *= 2;
    for (; bit; bit /= 2)
        if (at + bit <= s->n && s->tree[at + bit] < target) {
            at += bit;
            target -= s->tree[at];
        }
    return at < s->n ? at : s->n - 1;
}
