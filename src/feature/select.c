/* select.c -- choosing blocks and their entries. */
/* SPDX-License-Identifier: MIT */
#include "feature/select.h"

#include "base/fail.h"
#include "base/mem.h"

typedef struct chooser {
    const trl_design *d;
    const trl_family *f;
    trl_selected_family *s;
    uint32_t *block; /* [blocks] of the token */
    bool *on;        /* [blocks] */
} chooser;

void trl_selection_fini(trl_selection *s)
{
    for (size_t f = 0; f < TRL_FAMILIES_MAX; f++) {
        trl_selected_family *x = &s->family[f];
        trl_free(x->block_begin);
        trl_free(x->block);
        trl_free(x->entry_begin);
        trl_free(x->entry);
        trl_free(x->entry_value);
    }
    *s = (trl_selection){0};
}

static bool add_block(trl_selected_family *s, uint64_t at, uint32_t b)
{
    uint32_t *block = trl_reserve(s->block, &s->block_cap, (size_t)at + 1, sizeof *block);
    if (!block)
        return false;
    s->block = block;
    block[at] = b;
    return true;
}

static bool add_entry(chooser *c, uint64_t at, uint64_t e)
{
    trl_selected_family *s = c->s;
    trl_entry *entry = trl_reserve(s->entry, &s->entry_cap, (size_t)at + 1, sizeof *entry);
    if (!entry)
        return false;
    s->entry = entry;
    entry[at] = c->f->entry[e];
    if (!c->f->entry_value)
        return true;
    double *value = trl_reserve(s->entry_value, &s->value_cap, (size_t)at + 1, sizeof *value);
    if (!value)
        return false;
    s->entry_value = value;
    value[at] = c->f->entry_value[e];
    return true;
}

/* Token `tok`, whose n blocks are in c->block. */
static bool add_token(chooser *c, size_t tok, size_t n)
{
    trl_selected_family *s = c->s;
    uint64_t *b = &s->block_begin[tok + 1], *e = &s->entry_begin[tok + 1];
    bool good = true;
    *b = s->block_begin[tok];
    *e = s->entry_begin[tok];
    for (size_t k = 0; good && k < n; k++, (*b)++) {
        c->on[c->block[k]] = true;
        good = add_block(s, *b, c->block[k]);
    }
    for (uint64_t i = c->f->entry_begin[tok]; good && n && i < c->f->entry_begin[tok + 1]; i++)
        if (c->on[c->f->entry[i].cell / c->d->L]) {
            good = add_entry(c, *e, i);
            (*e)++;
        }
    for (size_t k = 0; k < n; k++)
        c->on[c->block[k]] = false;
    return good;
}

static bool choose(chooser *c, size_t f, trl_blocks_fn blocks, const void *ctx)
{
    const trl_design *d = c->d;
    const size_t n_blocks = c->f->width / d->L;
    c->s->block_begin = trl_zalloc(d->n_tokens + 1, sizeof *c->s->block_begin);
    c->s->entry_begin = trl_zalloc(d->n_tokens + 1, sizeof *c->s->entry_begin);
    c->block = trl_alloc(n_blocks, sizeof *c->block);
    c->on = trl_zalloc(n_blocks, sizeof *c->on);
    bool good = c->s->block_begin && c->s->entry_begin && c->block && c->on;
    for (size_t seq = 0; good && seq < d->n_sequences; seq++) {
        const size_t from = (size_t)d->first[seq], n = (size_t)d->first[seq + 1] - from;
        for (size_t t = 0; good && t < n; t++)
            good = add_token(c, from + t, t < f ? 0 : blocks(ctx, f, from, t, c->block));
    }
    trl_free(c->block);
    trl_free(c->on);
    return good;
}

trl_status trl_selection_init(trl_selection *s, const trl_design *d, trl_blocks_fn blocks,
                              const void *ctx, trl_error *err)
{
    *s = (trl_selection){0};
    for (size_t f = 1; f <= (size_t)d->order; f++) {
        chooser c = {.d = d, .f = &d->family[f], .s = &s->family[f]};
        if (d->family[f].has_rows && !choose(&c, f, blocks, ctx)) {
            trl_selection_fini(s);
            return trl_fail_mem(err);
        }
    }
    return TRL_OK;
}
