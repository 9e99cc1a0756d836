/* cold_tokens.c -- places of tokens with cold attributes. */
/* SPDX-License-Identifier: MIT */
#include "feature/cold_tokens.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define SLACK 16 /* list elements that kernels may prefetch past the end */

/* Attributes are cold dense, then cold sparse, singletons last in both: two parts of the lists. */
typedef struct range {
    uint64_t from, to;
} range;

static void find_parts(const trl_family *f, range part[2])
{
    const size_t dense = f->n_dense - f->n_hot;
    const size_t rows = f->singleton_row - f->n_hot, sparse = f->singleton_attr - f->n_warm;
    part[0] = (range){f->token_begin[0], f->token_begin[rows]};
    part[1] = (range){f->token_begin[dense], f->token_begin[dense + sparse]};
}

static bool is_on(const trl_cold_tokens *c, size_t t)
{
    return c->on[t / 64] >> t % 64 & 1;
}

static size_t place_of(const trl_cold_tokens *c, size_t t)
{
    const uint64_t below = c->on[t / 64] & ((UINT64_C(1) << t % 64) - 1);
    return c->before[t / 64] + (size_t)__builtin_popcountll(below);
}

static void mark(trl_cold_tokens *c, const trl_family *f, size_t words)
{
    range part[2];
    find_parts(f, part);
    for (size_t k = 0; k < 2; k++)
        for (uint64_t r = part[k].from; r < part[k].to; r++)
            c->on[f->token[r] / 64] |= UINT64_C(1) << f->token[r] % 64;
    for (size_t w = 0; w < words; w++) {
        c->before[w] = c->n;
        c->n += (size_t)__builtin_popcountll(c->on[w]);
    }
}

/* The lists with places for tokens; those of singletons, which nobody reads, are 0. */
static trl_status number(trl_cold_tokens *c, const trl_design *d, trl_error *err)
{
    const trl_family *f = &d->family[0];
    range part[2];
    c->place = trl_zalloc(f->token_begin[f->n_cold] + SLACK, sizeof *c->place);
    if (!c->place)
        return trl_fail_mem(err);
    find_parts(f, part);
    for (size_t k = 0; k < 2; k++)
        for (uint64_t r = part[k].from; r < part[k].to; r++)
            c->place[r] = (uint32_t)place_of(c, f->token[r]);
    c->own = *d;
    c->own.family[0].token = c->place;
    c->lists = &c->own;
    return TRL_OK;
}

/* Copying rows pays when it saves a quarter of them. */
static bool pays(const trl_cold_tokens *c, const trl_design *d)
{
    return c->n <= d->n_tokens / 4 * 3;
}

trl_status trl_cold_tokens_build(trl_cold_tokens *c, const trl_design *d, trl_error *err)
{
    const trl_family *f = &d->family[0];
    const size_t words = d->n_tokens / 64 + 1;
    *c = (trl_cold_tokens){.all = true, .lists = d, .n = f->n_cold ? d->n_tokens : 0};
    if (!f->n_cold || f->token_high) /* beyond 2^32 tokens */
        return TRL_OK;
    c->n = 0;
    c->on = trl_zalloc(words, sizeof *c->on);
    c->before = trl_alloc(words, sizeof *c->before);
    if (!c->on || !c->before)
        return trl_fail_mem(err);
    mark(c, f, words);
    if (pays(c, d)) {
        c->all = false;
        return number(c, d, err);
    }
    trl_cold_tokens_fini(c);
    *c = (trl_cold_tokens){.all = true, .lists = d, .n = d->n_tokens};
    return TRL_OK;
}

void trl_cold_tokens_fini(trl_cold_tokens *c)
{
    trl_free(c->place);
    trl_free(c->on);
    trl_free(c->before);
    *c = (trl_cold_tokens){0};
}

void trl_cold_tokens_put(const trl_cold_tokens *c, size_t from, size_t n, const float *row,
                         float *table)
{
    const size_t step = c->own.family[0].step;
    for (size_t t = from; t < from + n; t++, row += step)
        if (is_on(c, t))
            memcpy(table + place_of(c, t) * step, row, step * sizeof *row);
}
