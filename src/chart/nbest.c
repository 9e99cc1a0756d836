/* nbest.c -- trees by the sums of their derivations. */
/* SPDX-License-Identifier: MIT */
#include "chart/nbest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define MOST 20000     /* derivations, unless more than half as many trees are requested */
#define ROUNDING 1e-12 /* of a sum of probabilities */

typedef struct listing {
    const trl_chart *c;
    const trl_tree_tables *t;
    trl_nbest *out;
    size_t n, seen;      /* trees requested; derivations so far */
    double log_z, found; /* found: probability of the trees so far */
} listing;

void trl_nbest_fini(trl_nbest *b)
{
    for (size_t k = 0; k < b->cap; k++)
        trl_free(b->tree[k].node);
    trl_free(b->tree);
    trl_free(b->slot);
    trl_free(b->top);
    trl_tree_sum_fini(&b->sum);
    *b = (trl_nbest){0};
}

/* ---- the same tree --------------------------------------------------------------------------- */

static uint64_t hash_of(const trl_plain_tree *x)
{
    uint64_t h = x->n;
    for (size_t k = 0; k < x->n; k++) {
        const trl_node *v = &x->node[k];
        h = (h ^ v->label) * 0x9e3779b97f4a7c15u;
        h = (h ^ ((uint64_t)v->from << 32 | v->to)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

static bool same(const trl_plain_tree *a, const trl_plain_tree *b)
{
    bool eq = a->hash == b->hash && a->n == b->n;
    for (size_t k = 0; eq && k < a->n; k++)
        eq = a->node[k].label == b->node[k].label && a->node[k].from == b->node[k].from &&
             a->node[k].to == b->node[k].to;
    return eq;
}

/* The slot of a tree, or the empty one where it belongs. */
static uint32_t *slot_of(trl_nbest *b, const trl_plain_tree *x)
{
    size_t at = x->hash & (b->n_slots - 1);
    while (b->slot[at] && !same(&b->tree[b->slot[at] - 1], x))
        at = (at + 1) & (b->n_slots - 1);
    return &b->slot[at];
}

static bool grow_slots(trl_nbest *b)
{
    if (b->n_slots > 2 * b->n)
        return true;
    const size_t more = b->n_slots ? 2 * b->n_slots : 256;
    uint32_t *slot = trl_zalloc(more, sizeof *slot);
    if (!slot)
        return false;
    trl_free(b->slot);
    b->slot = slot;
    b->n_slots = more;
    for (size_t k = 0; k < b->n; k++)
        *slot_of(b, &b->tree[k]) = (uint32_t)k + 1;
    return true;
}

/* Room for one more tree, whose node array may be reused. */
static bool grow_trees(trl_nbest *b)
{
    const size_t old = b->cap;
    trl_plain_tree *tree = trl_reserve(b->tree, &b->cap, b->n + 1, sizeof *tree);
    if (!tree)
        return false;
    memset(tree + old, 0, (b->cap - old) * sizeof *tree);
    b->tree = tree;
    return true;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Puts a score among the n best. */
static bool rank(listing *l, double score)
{
    trl_nbest *b = l->out;
    double *top = trl_reserve(b->top, &b->cap_top, b->n_top + 1, sizeof *top);
    if (!top)
        return false;
    b->top = top;
    size_t lo = 0, hi = b->n_top;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (top[mid] >= score)
            lo = mid + 1;
        else
            hi = mid;
    }
    memmove(top + lo + 1, top + lo, (b->n_top - lo) * sizeof *top);
    top[lo] = score;
    b->n_top = b->n_top < l->n ? b->n_top + 1 : l->n;
    return true;
}

static bool nothing_better(const listing *l)
{
    const double left = fmax(1.0 - l->found, 0.0) + ROUNDING;
    return l->out->n_top == l->n && exp(l->out->top[l->n - 1] - l->log_z) >= left;
}

static trl_status take(void *ctx, const trl_btree *tree, double score, bool *enough, trl_error *err)
{
    listing *l = ctx;
    trl_nbest *b = l->out;
    l->seen++;
    if (!grow_trees(b) || !grow_slots(b))
        return trl_fail_mem(err);
    trl_plain_tree *x = &b->tree[b->n];
    trl_status st = trl_grammar_decode(l->c->g, tree, &x->node, &x->n, &x->cap, err);
    if (st != TRL_OK)
        return st;
    x->hash = hash_of(x);
    uint32_t *slot = slot_of(b, x);
    if (*slot)
        return TRL_OK;
    x->score = score;
    const bool add_up = !isnan(l->log_z);
    if (add_up)
        st = trl_chart_tree_sum(l->c, l->t, &(trl_node_list){x->node, x->n}, &b->sum, &x->score,
                                err);
    if (st != TRL_OK)
        return st;
    *slot = (uint32_t)++b->n;
    if (!rank(l, x->score))
        return trl_fail_mem(err);
    l->found += add_up ? exp(x->score - l->log_z) : 0.0;
    b->sure = add_up ? nothing_better(l) : b->n == l->n;
    *enough = b->sure;
    return TRL_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Descending; trees came in the order of their best derivations. */
static void sort(trl_plain_tree *tree, size_t n, trl_plain_tree *scratch)
{
    if (n < 2)
        return;
    const size_t half = n / 2;
    sort(tree, half, scratch);
    sort(tree + half, n - half, scratch);
    size_t a = 0, b = half, k = 0;
    while (a < half || b < n)
        scratch[k++] =
            b == n || (a < half && tree[a].score >= tree[b].score) ? tree[a++] : tree[b++];
    memcpy(tree, scratch, n * sizeof *tree);
}

static size_t most_derivations(size_t n)
{
    const size_t usual = n < MOST ? 10 * n + 100 : MOST;
    const size_t least = 2 * n;
    return usual < MOST ? usual : least > MOST ? least : MOST;
}

trl_status trl_chart_nbest(trl_chart *c, const trl_tree_tables *t, const trl_nbest_want *want,
                           trl_nbest *out, trl_arena *arena, trl_error *err)
{
    listing l = {.c = c, .t = t, .out = out, .n = want->n, .log_z = want->log_z};
    const size_t most = most_derivations(want->n);
    out->n = out->n_top = 0;
    out->sure = false;
    if (out->n_slots)
        memset(out->slot, 0, out->n_slots * sizeof *out->slot);
    trl_status st = trl_chart_derivations(c, t, &(trl_derivation_sink){most, take, &l}, arena, err);
    if (st != TRL_OK || out->n == 0)
        return st;
    out->sure = out->sure || l.seen < most; /* there are no more derivations */
    trl_plain_tree *scratch = trl_alloc(out->n, sizeof *scratch);
    if (!scratch)
        return trl_fail_mem(err);
    sort(out->tree, out->n, scratch);
    trl_free(scratch);
    out->n = out->n < want->n ? out->n : want->n;
    return TRL_OK;
}
