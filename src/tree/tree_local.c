/* tree_local.c -- choices of chart edges: rules by parent, tables for decoding, skeletons.
 *
 * In tables the sum is taken off every item's score and every unary edge's:
 *
 *     item[A] <- item[A] - log Z(A)        unary_at <- unary_at - log Z(A)       A -> B
 */
/* SPDX-License-Identifier: MIT */
#include "tree/tree_local.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- rules by parent ---------------------------------------------------------------------------- */

trl_status trl_expansions_init(trl_expansions *x, const trl_grammar *g, trl_error *err)
{
    const size_t n = g->n_states;
    uint32_t *block = trl_zalloc(2 * (n + 2) + g->n_binary + g->n_unary, sizeof *block);
    if (!block)
        return trl_fail_mem(err);
    *x = (trl_expansions){block, block + 2 * (n + 2), block + n + 2,
                          block + 2 * (n + 2) + g->n_binary};
    /* first[a + 1] is where a's rules are put while they are dealt out */
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

/* ---- sums ------------------------------------------------------------------------------------------ */

static double log_add(double a, double b)
{
    if (a < b) {
        const double t = a;
        a = b;
        b = t;
    }
    return b == -(double)INFINITY ? a : a + log1p(exp(b - a));
}

static inline double rule_exp(trl_tree_gather *ga, uint32_t r, size_t i, size_t j)
{
    return ga->t.binary_exp[r] * trl_tree_gather_edge(ga, TRL_EDGE_FIRST, i, r) *
           trl_tree_gather_edge(ga, TRL_EDGE_END, j, r);
}

/* log of the sum over a's binary rules, the item's score left out; -inf when there are none. */
static double log_binary(trl_tree_gather *ga, const trl_expansions *x, uint32_t a, size_t i, size_t j)
{
    double sum = 0.0;
    for (uint32_t k = x->binary_first[a]; k < x->binary_first[a + 1]; k++)
        sum += rule_exp(ga, x->binary[k], i, j);
    return log(sum);
}

/* ---- decoding -------------------------------------------------------------------------------------- */

/* The score of a unary rule over (i, j); nothing of it stays in ga. */
static double unary_alone(trl_tree_gather *ga, uint32_t u, size_t i, size_t j)
{
    const size_t ids = ga->n_ids;
    const uint32_t s = trl_tree_gather_unary(ga, u, i, j);
    if (s == TRL_NO_ID)
        return 0.0;
    const double score = ga->slot[s].score;
    ga->n_slots--;
    ga->n_ids = ids;
    return ga->t.unary[u] + score;
}

static double log_unary(trl_tree_gather *ga, const trl_expansions *x, uint32_t a, size_t i, size_t j)
{
    double sum = -(double)INFINITY;
    for (uint32_t k = x->unary_first[a]; k < x->unary_first[a + 1]; k++)
        sum = log_add(sum, unary_alone(ga, x->unary[k], i, j));
    return sum;
}

/* log Z of the items of one cell; 0 for tags. */
static bool sum_cell(trl_tree_gather *ga, const trl_expansions *x, size_t i, size_t j, double *log_z)
{
    const trl_skeleton *s = ga->c->s;
    const size_t cell = trl_cell(i, j);
    bool finite = true;
    for (uint32_t k = s->first[cell]; k < s->first[cell + 1]; k++) {
        const uint32_t a = s->item[k] & TRL_STATE_MASK;
        log_z[k] = 0.0;
        if (ga->f->g->state[a].kind == TRL_STATE_TAG)
            continue;
        log_z[k] = log_add(trl_tree_gather_item(ga, k, i, j) + log_binary(ga, x, a, i, j),
                           log_unary(ga, x, a, i, j));
        finite = finite && isfinite(log_z[k]);
    }
    return finite;
}

trl_status trl_tree_local_tables(trl_tree_gather *ga, const trl_expansions *x, trl_arena *arena,
                            trl_error *err)
{
    const trl_chart *c = ga->c;
    double *log_z = trl_arena_get(arena, c->n_items, sizeof *log_z);
    if (!log_z)
        return trl_fail_mem(err);
    bool finite = true;
    for (size_t j = 1; j <= c->n; j++)
        for (size_t i = 0; i < j; i++)
            finite = sum_cell(ga, x, i, j, log_z) && finite;
    if (ga->failed)
        return trl_fail_mem(err);
    if (!finite)
        return trl_fail(err, TRL_ENUMERIC, "the probability of a rule is not a number");
    for (size_t k = 0; k < c->n_items; k++) {
        const uint32_t a = c->s->item[k] & TRL_STATE_MASK;
        ga->t.item[k] = c->g->state[a].kind == TRL_STATE_TAG ? 0.0 : ga->t.item[k] - log_z[k];
    }
    for (size_t e = 0; e < c->n_unary; e++)
        ga->t.unary_at[e] -= log_z[c->unary[e].parent];
    return TRL_OK;
}

/* ---- skeletons ------------------------------------------------------------------------------------- */

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
    const size_t words = tree->node[0].to, cells = trl_cells(words), n = tree->n + n_extra;
    placed *at = trl_arena_get(arena, n, sizeof *at);
    *s = (trl_skeleton){.n = words,
                        .first = trl_arena_get(arena, cells + 1, sizeof *s->first),
                        .item = trl_arena_get(arena, n, sizeof *s->item)};
    if (!at || !s->first || !s->item)
        return trl_fail_mem(err);
    for (size_t k = 0; k < tree->n; k++)
        at[k] = (placed){(uint32_t)trl_cell(tree->node[k].from, tree->node[k].to),
                         tree->node[k].state};
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
