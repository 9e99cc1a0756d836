/* source_selection.c -- sources as blocks of cells. */
/* SPDX-License-Identifier: MIT */
#include "train_chain/source_selection.h"

#include <string.h>

#define WORDS 1024 /* of a set of labels: there are at most 65,535 */

typedef struct wanted {
    const trl_corpus *corpus;
    const trl_nota *nota;
    size_t L;
    int order;
} wanted;

/* A family, a position and its source. */
typedef struct source_at {
    size_t f;
    size_t t;
    size_t q;
} source_at;

/* Adds the block of source q (number as in local_term.h) unless it is there. */
static size_t add_source(const wanted *x, const source_at *at, uint64_t *seen, size_t n,
                         uint32_t *block)
{
    if (at->f == TRL_TRI || x->order == 1 || at->t == 1) {
        block[n] = (uint32_t)at->q;
        return n + 1;
    }
    const size_t y = at->q % x->L;
    if (seen[y / 64] >> y % 64 & 1)
        return n;
    seen[y / 64] |= (uint64_t)1 << y % 64;
    block[n] = (uint32_t)y;
    return n + 1;
}

static size_t blocks(const void *ctx, size_t f, size_t from, size_t t, uint32_t *block)
{
    const wanted *x = ctx;
    const uint32_t *y = x->corpus->label + from;
    const bool pairs = x->order == 2 && t >= 2; /* sources are pairs of labels */
    const size_t gold = (pairs ? y[t - 2] * x->L : 0) + y[t - 1];
    const size_t Q = pairs ? x->L * x->L : x->L;
    uint64_t seen[WORDS];
    memset(seen, 0, (x->L / 64 + 1) * sizeof *seen);
    size_t n = add_source(x, &(source_at){f, t, gold}, seen, 0, block);
    const uint64_t *bits =
        x->nota && x->nota->bits ? x->nota->bits + (from + t) * x->nota->words : NULL;
    for (size_t k = 0; bits && k * 64 < Q; k++)
        for (uint64_t set = bits[k]; set; set &= set - 1) {
            const size_t q = k * 64 + (size_t)__builtin_ctzll(set);
            if (q < Q && q != gold)
                n = add_source(x, &(source_at){f, t, q}, seen, n, block);
        }
    return n;
}

trl_status trl_select_sources(trl_selection *s, const trl_design *d, const trl_corpus *corpus,
                              const trl_nota *nota, trl_error *err)
{
    const wanted x = {corpus, nota, d->L, d->order};
    return trl_selection_init(s, d, blocks, &x, err);
}
