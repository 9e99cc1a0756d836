/* transducer.c -- chart search over the nodes of a tree. */
/* SPDX-License-Identifier: MIT */
#include "translate/transducer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

typedef struct item {
    double cost;
    uint32_t head;        /* target word of its head; TRL_NO_ID: NULL */
    uint32_t left, right; /* items of the children; of a word: its option */
    uint32_t n;           /* target words */
    uint32_t swapped;
    uint64_t hash; /* of the target words, in order */
} item;

typedef struct cell {
    item *item;
    size_t n;
} cell;

typedef struct chart {
    const trl_transducer *t;
    trl_arena *arena;
    cell *cell; /* [n_nodes] */
} chart;

/* ---- cells ----------------------------------------------------------------------------------- */

/* The hash of a sequence is a polynomial in POWER, so that sequences can be put together. */
#define POWER 0x9e3779b97f4a7c15u

static uint64_t power(uint32_t n)
{
    uint64_t p = 1, base = POWER;
    for (; n; n >>= 1, base *= base)
        if (n & 1)
            p *= base;
    return p;
}

/* What items with the same future have in common. */
static uint64_t kind_of(const trl_transducer *t, const item *x)
{
    const uint64_t head = t->join ? x->head : 0;
    const uint64_t words = t->nbest > 1 ? x->hash ^ (uint64_t)x->n << 48 : x->n > 0;
    return (head + 1) * 0xbf58476d1ce4e5b9u ^ words * 0x94d049bb133111ebu;
}

static int by_cost(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    if (x->right != y->right)
        return x->right < y->right ? -1 : 1;
    return (x->swapped > y->swapped) - (x->swapped < y->swapped);
}

/* Leaves the cheapest item of each kind. */
static bool merge_kinds(chart *c, cell *to)
{
    size_t n_slots = 16, kept = 0;
    while (n_slots < 2 * to->n)
        n_slots *= 2;
    uint32_t *slot = trl_arena_get(c->arena, n_slots, sizeof *slot); /* an item + 1; 0: empty */
    uint64_t *kind = trl_arena_get(c->arena, to->n, sizeof *kind);   /* of the items kept */
    if (!slot || !kind)
        return false;
    memset(slot, 0, n_slots * sizeof *slot);
    for (size_t k = 0; k < to->n; k++) {
        const item x = to->item[k];
        const uint64_t this_kind = kind_of(c->t, &x);
        size_t at = this_kind >> 20 & (n_slots - 1);
        while (slot[at] && kind[slot[at] - 1] != this_kind)
            at = (at + 1) & (n_slots - 1);
        if (!slot[at]) {
            kind[kept] = this_kind;
            to->item[kept++] = x;
            slot[at] = (uint32_t)kept;
        } else if (by_cost(&x, &to->item[slot[at] - 1]) < 0) {
            to->item[slot[at] - 1] = x;
        }
    }
    to->n = kept;
    return true;
}

/* The cheapest of each kind, best first, as many as the limits allow. */
static bool prune(chart *c, cell *to)
{
    const trl_transducer *t = c->t;
    if (!merge_kinds(c, to))
        return false;
    qsort(to->item, to->n, sizeof *to->item, by_cost);
    const double limit = t->ratio > 0.0 ? t->ratio * to->item[0].cost : HUGE_VAL;
    size_t kept = 0;
    while (kept < to->n && !(t->most && kept == t->most) && to->item[kept].cost <= limit)
        kept++;
    to->n = kept;
    return true;
}

static bool make_word(chart *c, uint32_t v)
{
    const trl_transducer *t = c->t;
    const uint32_t first = v ? t->option_end[v - 1] : 0, last = t->option_end[v];
    cell *to = &c->cell[v];
    if (!(to->item = trl_arena_get(c->arena, last - first, sizeof *to->item)))
        return false;
    for (uint32_t k = first; k < last; k++) {
        const trl_word_option *o = &t->option[k];
        to->item[to->n++] = (item){.cost = o->cost,
                                   .head = o->target,
                                   .left = k - first,
                                   .n = o->target != TRL_NO_ID,
                                   .hash = o->target != TRL_NO_ID ? o->target + (uint64_t)1 : 0};
    }
    return prune(c, to);
}

static item join(const trl_transducer *t, uint32_t v, const item *a, const item *b, bool swapped)
{
    const trl_source_node *node = &t->s->node[v];
    const bool head_left = t->s->node[node->left].head == node->head;
    const item *head = head_left ? a : b, *other = head_left ? b : a;
    const uint32_t other_word = t->s->node[head_left ? node->right : node->left].head;
    const double *order = t->order[v];
    const bool free_order = a->n == 0 || b->n == 0;
    item x = {.cost = a->cost + b->cost, .head = head->head, .n = a->n + b->n, .swapped = swapped};
    x.cost += free_order ? fmin(order[0], order[1]) : order[swapped];
    if (free_order)
        x.swapped = order[1] < order[0];
    if (t->join)
        x.cost += t->join(t->join_ctx, other_word, head->head, other->head);
    x.hash = swapped ? b->hash * power(a->n) + a->hash : a->hash * power(b->n) + b->hash;
    return x;
}

static bool make_node(chart *c, uint32_t v)
{
    const trl_source_node *node = &c->t->s->node[v];
    const cell *left = &c->cell[node->left], *right = &c->cell[node->right];
    cell *to = &c->cell[v];
    if (!(to->item = trl_arena_get(c->arena, 2 * left->n * right->n, sizeof *to->item)))
        return false;
    for (uint32_t a = 0; a < left->n; a++)
        for (uint32_t b = 0; b < right->n; b++) {
            const item *x = &left->item[a], *y = &right->item[b];
            for (int swapped = 0; swapped < (x->n && y->n ? 2 : 1); swapped++) {
                item made = join(c->t, v, x, y, swapped);
                made.left = a;
                made.right = b;
                to->item[to->n++] = made;
            }
        }
    return prune(c, to);
}

/* The root's head is paid for. */
static bool finish(chart *c)
{
    const trl_transducer *t = c->t;
    const size_t root = t->s->n_nodes - 1;
    cell *to = &c->cell[root];
    for (size_t k = 0; t->join && k < to->n; k++)
        to->item[k].cost +=
            t->join(t->join_ctx, t->s->node[root].head, TRL_ROOT_HEAD, to->item[k].head);
    trl_transducer all = *t;
    all.join = NULL; /* head words do not matter any more */
    all.ratio = 0.0;
    all.most = t->nbest;
    chart last = {&all, c->arena, c->cell};
    return prune(&last, to);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool read_out(chart *c, uint32_t at, trl_transduced *out)
{
    const trl_source *s = c->t->s;
    const item *root = &c->cell[s->n_nodes - 1].item[at];
    uint32_t *chosen = trl_arena_get(c->arena, s->n_nodes, sizeof *chosen);
    uint32_t *stack = trl_arena_get(c->arena, s->n_nodes + 1, sizeof *stack);
    out->choice = trl_arena_get(c->arena, s->n_words, sizeof *out->choice);
    out->order = trl_arena_get(c->arena, s->n_nodes, 1);
    out->word = trl_arena_get(c->arena, root->n + 1, sizeof *out->word);
    if (!chosen || !stack || !out->choice || !out->order || !out->word)
        return false;
    size_t n = 0;
    out->cost = root->cost;
    out->n = 0;
    chosen[s->n_nodes - 1] = at;
    stack[n++] = (uint32_t)s->n_nodes - 1;
    while (n) {
        const uint32_t v = stack[--n];
        const item *x = &c->cell[v].item[chosen[v]];
        out->order[v] = x->swapped != 0;
        if (v < s->n_words) {
            out->choice[v] = x->left;
            if (x->n)
                out->word[out->n++] = x->head;
            continue;
        }
        const uint32_t left = s->node[v].left, right = s->node[v].right;
        chosen[left] = x->left;
        chosen[right] = x->right;
        stack[n++] = x->swapped ? left : right;
        stack[n++] = x->swapped ? right : left;
    }
    return true;
}

trl_status trl_transduce(const trl_transducer *t, trl_arena *arena, trl_transduced **out, size_t *n,
                         trl_error *err)
{
    const size_t n_nodes = t->s->n_nodes;
    chart c = {t, arena, trl_arena_get(arena, n_nodes, sizeof *c.cell)};
    bool room = c.cell != NULL;
    if (room)
        memset(c.cell, 0, n_nodes * sizeof *c.cell);
    for (uint32_t v = 0; room && v < n_nodes; v++)
        room = v < t->s->n_words ? make_word(&c, v) : make_node(&c, v);
    if (!room || !finish(&c))
        return trl_fail_mem(err);
    *n = c.cell[n_nodes - 1].n;
    *out = trl_arena_get(arena, *n, sizeof **out);
    for (uint32_t k = 0; *out && k < *n; k++)
        if (!read_out(&c, k, &(*out)[k]))
            return trl_fail_mem(err);
    return *out ? TRL_OK : trl_fail_mem(err);
}
