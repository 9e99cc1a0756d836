/* constrain.c -- editing skeletons.
 *
 * A binary tree none of whose nodes crosses (i, j) has a node over (i, j): the lowest node that
 * covers it would otherwise be split inside it, and one of its children would cross.  So a span is
 * made a constituent by emptying the cells that cross it and dropping active states over it.
 */
/* SPDX-License-Identifier: MIT */
#include "chart/constrain.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "chart/prune.h"

static bool demands(const trl_constraint *c)
{
    return c->type == TRL_CONSTRAIN_SPAN || c->type == TRL_CONSTRAIN_LABEL;
}

static bool crosses(size_t a, size_t b, size_t i, size_t j)
{
    return (a < i && i < b && b < j) || (i < a && a < j && j < b);
}

/* keep[cell] of n words: 0 where a cell crosses a span that must be a constituent, else 1.  Spans
 * outside the sentence are skipped. */
static void mark_cells(const trl_constraint *list, size_t n_list, size_t n, uint8_t *keep)
{
    memset(keep, 1, trl_chart_cells(n));
    for (size_t k = 0; k < n_list; k++) {
        const size_t i = list[k].i, j = list[k].j;
        if (!demands(&list[k]) || i >= j || j > n || j - i == 1)
            continue;
        for (size_t b = 1; b <= n; b++)
            for (size_t a = 0; a < b; a++)
                if (crosses(a, b, i, j))
                    keep[trl_cell(a, b)] = 0;
    }
}

static trl_status check(const trl_constraint *list, size_t n_list, size_t n, trl_error *err)
{
    for (size_t k = 0; k < n_list; k++) {
        const trl_constraint *c = &list[k];
        const size_t j = c->type == TRL_CONSTRAIN_TAG ? c->i + 1 : c->j;
        if (c->i < j && j <= n)
            continue;
        return trl_fail(err, TRL_EINVAL,
                        "a constraint on words %zu to %zu of a sentence of %zu words", c->i, j, n);
    }
    return TRL_OK;
}

/* ---- items ----------------------------------------------------------------------------------- */

/* Whether constraint c lets the state be over exactly (i, j), its own span. */
static bool fits(const trl_grammar *g, const trl_constraint *c, uint32_t state)
{
    const trl_state *s = &g->state[state];
    switch (c->type) {
    case TRL_CONSTRAIN_TAG:
        return s->type != TRL_STATE_TAG || s->base == c->label;
    case TRL_CONSTRAIN_SPAN:
    case TRL_CONSTRAIN_LABEL:
        return s->type != TRL_STATE_ACTIVE;
    case TRL_CONSTRAIN_NOT:
        return s->type != TRL_STATE_PHRASE;
    }
    return true;
}

static bool same_span(const trl_constraint *c, size_t i, size_t j)
{
    return c->i == i && (c->type == TRL_CONSTRAIN_TAG ? i + 1 == j : c->j == j);
}

static bool lives(const trl_grammar *g, const trl_constraint *list, size_t n_list, size_t i,
                  size_t j, uint32_t state)
{
    for (size_t k = 0; k < n_list; k++)
        if (same_span(&list[k], i, j) && !fits(g, &list[k], state))
            return false;
    return true;
}

static bool fixed_tag(const trl_constraint *list, size_t n_list, size_t i, size_t j)
{
    for (size_t k = 0; k < n_list; k++)
        if (list[k].type == TRL_CONSTRAIN_TAG && same_span(&list[k], i, j))
            return true;
    return false;
}

/* The items of cell (i, j) that remain; a required tag that is missing is added. */
static uint32_t edit_cell(const trl_grammar *g, const trl_constraints *known, const trl_skeleton *s,
                          size_t i, size_t j, uint32_t *out)
{
    const size_t cell = trl_cell(i, j);
    uint32_t n = 0;
    bool tagged = !fixed_tag(known->list, known->n_list, i, j);
    for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++) {
        const uint32_t state = s->item[x] & TRL_STATE_MASK;
        if (!lives(g, known->list, known->n_list, i, j, state))
            continue;
        tagged = tagged || g->state[state].type == TRL_STATE_TAG;
        out[n++] = s->item[x];
    }
    if (tagged)
        return n;
    uint32_t made = 0, *kept = out + g->n_states; /* room after what can be added */
    memmove(kept, out, n * sizeof *out);
    for (uint32_t state = 0, at = 0; state < g->n_states; state++) {
        if (at < n && (kept[at] & TRL_STATE_MASK) == state)
            out[made++] = kept[at++];
        else if (g->state[state].type == TRL_STATE_TAG &&
                 lives(g, known->list, known->n_list, i, j, state))
            out[made++] = state | TRL_BEFORE | TRL_AFTER;
    }
    return made;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static int by_cell(const void *a, const void *b)
{
    const trl_must *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

static trl_status add_musts(const trl_constraint *list, size_t n_list, trl_skeleton *s,
                            trl_arena *arena, trl_error *err)
{
    trl_must *all = trl_arena_get(arena, s->n_must + n_list, sizeof *all);
    if (!all)
        return trl_fail_mem(err);
    size_t n = s->n_must;
    if (n)
        memcpy(all, s->must, n * sizeof *all);
    for (size_t k = 0; k < n_list; k++)
        if (demands(&list[k])) {
            const uint32_t cell = (uint32_t)trl_cell(list[k].i, list[k].j);
            const bool any = list[k].type == TRL_CONSTRAIN_SPAN;
            all[n++] = (trl_must){cell, any ? TRL_ANY_LABEL : list[k].label};
        }
    qsort(all, n, sizeof *all, by_cell);
    s->must = all;
    s->n_must = n;
    return TRL_OK;
}

trl_status trl_constrain(const trl_grammar *g, const trl_constraints *known, trl_skeleton *s,
                         bool *complete, trl_arena *arena, trl_error *err)
{
    const size_t cells = trl_chart_cells(s->n);
    trl_status st = check(known->list, known->n_list, s->n, err);
    if (st == TRL_OK)
        st = add_musts(known->list, known->n_list, s, arena, err);
    if (st != TRL_OK)
        return st;
    uint8_t *keep = trl_arena_get(arena, cells, 1);
    uint32_t *first = trl_arena_get(arena, cells + 1, sizeof *first);
    const size_t most = s->first[cells] + (s->n + 2) * g->n_states;
    uint32_t *item = trl_arena_get(arena, most, sizeof *item);
    if (!keep || !first || !item)
        return trl_fail_mem(err);
    mark_cells(known->list, known->n_list, s->n, keep);
    uint32_t n = 0;
    for (size_t j = 1; j <= s->n; j++)
        for (size_t i = 0; i < j; i++) {
            first[trl_cell(i, j)] = n;
            if (keep[trl_cell(i, j)])
                n +=
                    edit_cell(g, &(trl_constraints){known->list, known->n_list}, s, i, j, item + n);
        }
    first[cells] = n;
    s->first = first;
    s->item = item;
    return trl_filter(g, s, complete, arena, err);
}
