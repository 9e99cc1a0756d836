/* tree_local.c -- rules by parent; skeletons of gold trees. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_local.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- rules by parent ----------------------------------------------------------------------------
 */

trl_status trl_expansions_init(trl_expansions *x, const trl_grammar *g, trl_error *err)
{
    const size_t n = g->n_states;
    uint32_t *block = trl_zalloc(2 * (n + 2) + g->n_binary + g->n_unary, sizeof *block);
    if (!block)
        return trl_fail_mem(err);
    *x = (trl_expansions){block, block + 2 * (n + 2), block + n + 2,
                          block + 2 * (n + 2) + g->n_binary};
    /* first[a + 1] is where the next rule of a goes while they are distributed */
    for (size_t r = 0; r < g->n_binary; r++)
        x->binary_first[g->binary[r].parent + 2]++;
    for (size_t u = 0; u < g->n_unary; u++)
        x->unary_first[g->unary[u].parent + 2]++;
    for (size_t a = 2; a < n + 2; a++) {
        x->binary_first[a] += x->binary_first[a - 1];
        x->unary_first[a] += x->unary_first[a - 1];
    }
    for (uint32_t r = 0; r < g->n_binary; r++)
        x->binary[x->binary_first[g->binary[r].parent + 1]++] = r;
    for (uint32_t u = 0; u < g->n_unary; u++)
        x->unary[x->unary_first[g->unary[u].parent + 1]++] = u;
    return TRL_OK;
}

void trl_expansions_fini(trl_expansions *x)
{
    trl_free(x->binary_first);
    *x = (trl_expansions){0};
}

/* ---- skeletons ------------------------------------------------------------------------------- */

typedef struct placed {
    uint32_t cell, state;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

trl_status trl_gold_skeleton(const trl_btree *tree, const trl_span_state *extra, size_t n_extra,
                             trl_skeleton *s, trl_arena *arena, trl_error *err)
{
    const size_t words = tree->node[0].to, cells = trl_chart_cells(words), n = tree->n + n_extra;
    placed *at = trl_arena_get(arena, n, sizeof *at);
    *s = (trl_skeleton){.n = words,
                        .first = trl_arena_get(arena, cells + 1, sizeof *s->first),
                        .item = trl_arena_get(arena, n, sizeof *s->item)};
    if (!at || !s->first || !s->item)
        return trl_fail_mem(err);
    for (size_t k = 0; k < tree->n; k++)
        at[k] =
            (placed){(uint32_t)trl_cell(tree->node[k].from, tree->node[k].to), tree->node[k].state};
    for (size_t k = 0; k < n_extra; k++)
        at[tree->n + k] = (placed){(uint32_t)trl_cell(extra[k].i, extra[k].j), extra[k].state};
    qsort(at, n, sizeof *at, by_place);
    uint32_t made = 0;
    size_t k = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        s->first[cell] = made;
        for (; k < n && at[k].cell == cell; k++)
            if (made == s->first[cell] || (s->item[made - 1] & TRL_STATE_MASK) != at[k].state)
                s->item[made++] = at[k].state | TRL_BEFORE | TRL_AFTER;
    }
    s->first[cells] = made;
    return TRL_OK;
}
