/* corner_filter.c -- one pass downwards, one upwards. */
/* SPDX-License-Identifier: MIT */
#include "chart/corner_filter.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "num/simd.h"

/* ---- sets of states -------------------------------------------------------------------------- */

static void put(uint64_t *set, size_t words, uint32_t row, uint32_t state)
{
    set[row * words + state / 64] |= (uint64_t)1 << state % 64;
}

trl_status trl_corners_init(trl_corners *c, const trl_grammar *g, trl_error *err)
{
    const size_t n = g->n_states, words = trl_padded((n + 63) / 64), size = n * words;
    *c = (trl_corners){.n_states = n, .words = words};
    if (n > TRL_CORNER_STATES)
        return TRL_OK;
    c->bits = trl_zalloc(6 * size, sizeof *c->bits);
    if (!c->bits)
        return trl_fail_mem(err);
    c->left_child = c->bits;
    c->right_child = c->bits + size;
    c->left_parent = c->bits + 2 * size;
    c->right_parent = c->bits + 3 * size;
    c->unary_child = c->bits + 4 * size;
    c->unary_parent = c->bits + 5 * size;
    for (size_t r = 0; r < g->n_binary; r++) {
        const trl_binary *b = &g->binary[r];
        put(c->left_child, words, b->parent, b->left);
        put(c->right_child, words, b->parent, b->right);
        put(c->left_parent, words, b->left, b->parent);
        put(c->right_parent, words, b->right, b->parent);
    }
    for (size_t u = 0; u < g->n_unary; u++) {
        put(c->unary_child, words, g->unary[u].parent, g->unary[u].child);
        put(c->unary_parent, words, g->unary[u].child, g->unary[u].parent);
    }
    return TRL_OK;
}

void trl_corners_fini(trl_corners *c)
{
    trl_free(c->bits);
    *c = (trl_corners){0};
}

/* ---- a sentence ------------------------------------------------------------------------------ */

typedef struct corner_run {
    const trl_corners *c;
    const trl_grammar *g;
    trl_skeleton *s;
    uint64_t *starts; /* [n][words]: states of the cells done so far that begin there */
    uint64_t *ends;   /* [words]: of those that end at the current end */
    uint64_t *here;   /* [words]: of the current cell */
} corner_run;

/* Whether two sets have a state in common; whole vectors. */
TRL_INLINE bool meet(const uint64_t *a, const uint64_t *b, size_t words)
{
    trl_v8i any = {0};
    for (size_t w = 0; w < words; w += TRL_LANES)
        any |= *(const trl_v8i *)(a + w) & *(const trl_v8i *)(b + w);
    return ((any[0] | any[4]) | (any[2] | any[6])) | ((any[1] | any[5]) | (any[3] | any[7]));
}

/* The states of a cell that have the mark, into `here`. */
static void collect(corner_run *r, size_t cell, uint32_t mark)
{
    memset(r->here, 0, r->c->words * sizeof *r->here);
    for (uint32_t x = r->s->first[cell]; x < r->s->first[cell + 1]; x++)
        if (r->s->item[x] & mark)
            put(r->here, 0, 0, r->s->item[x] & TRL_STATE_MASK);
}

/* Adds `here` to the states that begin at i and to those that end here. */
static void announce(corner_run *r, size_t i)
{
    for (size_t w = 0; w < r->c->words; w++) {
        r->starts[i * r->c->words + w] |= r->here[w];
        r->ends[w] |= r->here[w];
    }
}

/* Marks of items whose children the cells below may have. */
TRL_CLONES static void cell_upwards(corner_run *r, size_t i, size_t j)
{
    const trl_corners *c = r->c;
    const size_t cell = trl_cell(i, j), words = c->words;
    uint32_t *item = r->s->item;
    const uint32_t from = r->s->first[cell], to = r->s->first[cell + 1];
    if (from == to)
        return;
    for (uint32_t x = from; x < to && j - i > 1; x++) {
        const size_t row = (item[x] & TRL_STATE_MASK) * words;
        if ((item[x] & TRL_BEFORE) && !(meet(c->left_child + row, r->starts + i * words, words) ||
                                        meet(c->right_child + row, r->ends, words)))
            item[x] &= ~TRL_BEFORE;
    }
    collect(r, cell, TRL_BEFORE);
    for (uint32_t x = from; x < to; x++)
        if ((item[x] & (TRL_BEFORE | TRL_AFTER)) == TRL_AFTER &&
            !meet(c->unary_child + (item[x] & TRL_STATE_MASK) * words, r->here, words))
            item[x] &= ~TRL_AFTER;
    collect(r, cell, TRL_AFTER);
    announce(r, i);
}

/* Marks of items that the cells above may use. */
TRL_CLONES static void cell_downwards(corner_run *r, size_t i, size_t j)
{
    const trl_corners *c = r->c;
    const size_t cell = trl_cell(i, j), words = c->words;
    uint32_t *item = r->s->item;
    const uint32_t from = r->s->first[cell], to = r->s->first[cell + 1];
    if (from == to)
        return;
    const bool whole = i == 0 && j == r->s->n;
    for (uint32_t x = from; x < to; x++) {
        const uint32_t state = item[x] & TRL_STATE_MASK;
        const size_t row = state * words;
        if (!(item[x] & TRL_AFTER))
            continue;
        const bool used = whole ? state == r->g->root
                                : meet(c->left_parent + row, r->starts + i * words, words) ||
                                      meet(c->right_parent + row, r->ends, words);
        if (!used)
            item[x] &= ~TRL_AFTER;
    }
    collect(r, cell, TRL_AFTER);
    for (uint32_t x = from; x < to; x++)
        if ((item[x] & (TRL_BEFORE | TRL_AFTER)) == TRL_BEFORE &&
            !meet(c->unary_parent + (item[x] & TRL_STATE_MASK) * words, r->here, words))
            item[x] &= ~TRL_BEFORE;
    collect(r, cell, TRL_BEFORE);
    announce(r, i);
}

static void compact(trl_skeleton *s)
{
    uint32_t n = 0, from = 0;
    const size_t cells = trl_chart_cells(s->n);
    for (size_t cell = 0; cell < cells; cell++) {
        const uint32_t to = s->first[cell + 1];
        s->first[cell] = n;
        for (uint32_t x = from; x < to; x++)
            if (s->item[x] & (TRL_BEFORE | TRL_AFTER))
                s->item[n++] = s->item[x];
        from = to;
    }
    s->first[cells] = n;
}

trl_status trl_corner_filter(const trl_corners *c, const trl_grammar *g, trl_skeleton *s,
                             trl_arena *arena, trl_error *err)
{
    const size_t n = s->n, words = c->words;
    if (!c->bits || n == 0)
        return TRL_OK;
    corner_run r = {c,
                    g,
                    s,
                    trl_arena_get(arena, n * words, sizeof *r.starts),
                    trl_arena_get(arena, words, sizeof *r.ends),
                    trl_arena_get(arena, words, sizeof *r.here)};
    if (!r.starts || !r.ends || !r.here)
        return trl_fail_mem(err);
    memset(r.starts, 0, n * words * sizeof *r.starts);
    for (size_t j = n; j > 0; j--) {
        memset(r.ends, 0, words * sizeof *r.ends);
        for (size_t i = 0; i < j; i++)
            cell_downwards(&r, i, j);
    }
    compact(s);
    memset(r.starts, 0, n * words * sizeof *r.starts);
    for (size_t j = 1; j <= n; j++) {
        memset(r.ends, 0, words * sizeof *r.ends);
        for (size_t i = j; i-- > 0;)
            cell_upwards(&r, i, j);
    }
    compact(s);
    return TRL_OK;
}
