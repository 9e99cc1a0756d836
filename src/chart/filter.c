/* filter.c -- the boolean inside-outside of [FKM08, 3.1].
 *
 * A bit "made" for before and after, then a bit "used", in the order of chart_kernel.c.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "chart/chart_kernel.h"
#include "chart/prune.h"

#define MADE_BEFORE 1u
#define MADE_AFTER 2u
#define USED_BEFORE 4u
#define USED_AFTER 8u

typedef struct filter {
    trl_chart c;
    uint8_t *bit; /* [items] */
} filter;

/* Whether the item, made before the unary rule, also exists after it. */
static bool passes(const filter *f, uint32_t x, size_t cell)
{
    const trl_skeleton *s = f->c.s;
    return (s->item[x] & TRL_AFTER) &&
           (!s->n_must ||
            trl_skeleton_allows(s, f->c.g, cell, s->item[x] & TRL_STATE_MASK, TRL_NO_ID));
}

static void close_cell(filter *f, size_t cell, bool word)
{
    const uint32_t *item = f->c.s->item;
    for (uint32_t x = f->c.s->first[cell]; x < f->c.s->first[cell + 1]; x++) {
        if (word && (item[x] & TRL_BEFORE))
            f->bit[x] |= MADE_BEFORE;
        if (!(item[x] & TRL_BEFORE))
            f->bit[x] = 0;
        if ((f->bit[x] & MADE_BEFORE) && passes(f, x, cell))
            f->bit[x] |= MADE_AFTER;
    }
    for (uint32_t e = f->c.unary_first[cell]; e < f->c.unary_first[cell + 1]; e++)
        if (f->bit[f->c.unary[e].child] & MADE_BEFORE)
            f->bit[f->c.unary[e].parent] |= MADE_AFTER;
}

/* One split (i, k, j) of the spans that the map holds, every rule whose children are made.  Upwards
 * the parent is made; downwards the children of a parent that is used are used. */
static inline void visit_split(filter *f, size_t i, size_t k, bool down)
{
    const trl_grammar *g = f->c.g;
    const uint32_t *right = f->c.map + k * g->n_states, *up = f->c.map + i * g->n_states;
    const size_t cell = trl_cell(i, k);
    for (uint32_t b = f->c.s->first[cell]; b < f->c.s->first[cell + 1]; b++) {
        if (!(f->bit[b] & MADE_AFTER))
            continue;
        const uint32_t state = f->c.s->item[b] & TRL_STATE_MASK;
        for (uint32_t p = g->pair_by_left[state]; p < g->pair_by_left[state + 1]; p++) {
            const uint32_t d = right[g->pair[p].right];
            if (!d || !(f->bit[d - 1] & MADE_AFTER))
                continue;
            for (uint32_t r = g->pair[p].first; r < g->pair[p + 1].first; r++) {
                const uint32_t a = up[g->binary_parent[r]];
                if (!down && a)
                    f->bit[a - 1] |= MADE_BEFORE;
                if (down && a && (f->bit[a - 1] & USED_BEFORE)) {
                    f->bit[b] |= USED_AFTER;
                    f->bit[d - 1] |= USED_AFTER;
                }
            }
        }
    }
}

static void open_cell(filter *f, size_t cell)
{
    for (uint32_t x = f->c.s->first[cell]; x < f->c.s->first[cell + 1]; x++)
        if ((f->bit[x] & (USED_AFTER | MADE_BEFORE)) == (USED_AFTER | MADE_BEFORE) &&
            passes(f, x, cell))
            f->bit[x] |= USED_BEFORE;
    for (uint32_t e = f->c.unary_first[cell]; e < f->c.unary_first[cell + 1]; e++) {
        uint8_t *child = &f->bit[f->c.unary[e].child];
        if ((f->bit[f->c.unary[e].parent] & USED_AFTER) && (*child & MADE_BEFORE))
            *child |= USED_BEFORE;
    }
}

static void up_and_down(filter *f, bool *complete)
{
    trl_chart *c = &f->c;
    for (size_t j = 1; j <= c->n; j++) {
        trl_chart_map(c, j, true);
        for (size_t k = j; k-- > 0;) {
            close_cell(f, trl_cell(k, j), j - k == 1);
            for (size_t i = 0; i < k; i++)
                visit_split(f, i, k, false);
        }
        trl_chart_map(c, j, false);
    }
    *complete = c->root_item != TRL_NO_ID && (f->bit[c->root_item] & MADE_AFTER);
    if (!*complete)
        return;
    f->bit[c->root_item] |= USED_AFTER;
    for (size_t j = c->n; j > 0; j--) {
        trl_chart_map(c, j, true);
        for (size_t i = 0; i < j; i++) {
            open_cell(f, trl_cell(i, j));
            for (size_t k = i + 1; k < j; k++)
                visit_split(f, i, k, true);
        }
        trl_chart_map(c, j, false);
    }
}

static void compact(const filter *f, trl_skeleton *s)
{
    uint32_t n = 0, from = 0;
    for (size_t cell = 0; cell < trl_chart_cells(s->n); cell++) {
        const uint32_t to = s->first[cell + 1];
        s->first[cell] = n;
        for (uint32_t x = from; x < to; x++) {
            uint32_t item = s->item[x] & TRL_STATE_MASK;
            item |= f->bit[x] & USED_BEFORE ? TRL_BEFORE : 0;
            item |= f->bit[x] & USED_AFTER ? TRL_AFTER : 0;
            if (item & (TRL_BEFORE | TRL_AFTER))
                s->item[n++] = item;
        }
        from = to;
    }
    s->first[trl_chart_cells(s->n)] = n;
}

trl_status trl_filter(const trl_grammar *g, trl_skeleton *s, bool *complete, trl_arena *arena,
                      trl_error *err)
{
    filter f;
    const trl_status st = trl_chart_init(&f.c, g, s, arena, err);
    if (st != TRL_OK)
        return st;
    f.bit = trl_arena_get(arena, f.c.n_items, 1);
    if (!f.bit)
        return trl_fail_mem(err);
    memset(f.bit, 0, f.c.n_items);
    up_and_down(&f, complete);
    if (*complete)
        compact(&f, s);
    return TRL_OK;
}
