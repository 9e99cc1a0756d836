/* grow.c -- one decision tree: nodes are split as long as that increases the gain.
 *
 * A node is opened by summing the weights of its examples by feature.  A split moves the examples
 * of the smaller child out of those sums; the other child continues with the remaining sums, the
 * smaller one waits until it is opened itself.  A node whose examples have a total weight of at
 * most lambda has no feature with a gain and is not opened.
 *
 * With sampling, a node of more than `sample` examples is opened with that many, drawn by weight:
 * sums of those choose the feature, sums of all examples (over the feature's column) decide whether
 * it splits.  A node with too few drawn examples left is opened again.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/node_examples.h"

#define TRIES 8        /* features that all examples may reject before a sampled node is a leaf */
#define REDRAW_BELOW 4 /* a node draws anew when it has less than sample / 4 of its examples */

static int64_t gain(const trl_trainer *t, int64_t sum)
{
    const int64_t g = trl_magnitude(sum) - t->lambda_units;
    return g > 0 ? g : 0;
}

static bool worth_opening(const trl_trainer *t, const trl_grown *x)
{
    const uint64_t most =
        t->o->depth && t->o->depth < TRL_BOOST_MAX_DEPTH ? t->o->depth : TRL_BOOST_MAX_DEPTH;
    return x->weight > t->lambda_units + t->margin_units && x->count > 1 && x->depth < most;
}

/* Where a node's sums come from while it is being split. */
typedef struct open_node {
    uint32_t at;
    bool sampled;
    int64_t total; /* of the sums: the sample's, or the node's own */
} open_node;

static void open_sums(trl_trainer *t, open_node *x, uint64_t number)
{
    const trl_grown *g = &t->grown[x->at];
    const bool root = g->parent == TRL_NO_ID;
    x->sampled = t->o->sample && g->count > t->o->sample;
    x->total = g->total;
    if (root && t->root && !x->sampled) {
        trl_sums_set(&t->sums, t->root);
        return;
    }
    trl_sums_clear(&t->sums);
    if (x->sampled)
        x->total = trl_draw_examples(t, g, t->o->seed ^ number << 32 ^ g->hash);
    else
        trl_list_examples(t, g);
    if (x->sampled)
        trl_add_drawn(t, t->work, t->n_work, 1);
    else
        trl_add_listed(t, 1);
}

/* ---- splits ---------------------------------------------------------------------------------- */

typedef struct split {
    uint32_t feature;
    trl_found on; /* the examples with it */
} split;

static int64_t split_gain(const trl_trainer *t, int64_t total, int64_t on)
{
    return gain(t, on) + gain(t, total - on);
}

/* The best feature by the sums; false when none adds enough to the gain. */
static bool best_feature(trl_trainer *t, int64_t total, uint32_t *feature)
{
    const trl_extremes e = trl_sums_extremes(&t->sums);
    const int64_t low = split_gain(t, total, e.low), high = split_gain(t, total, e.high);
    const bool take_low = low > high || (low == high && e.low_at < e.high_at);
    *feature = take_low ? e.low_at : e.high_at;
    return (take_low ? low : high) - gain(t, total) > t->margin_units;
}

static bool find_split(trl_trainer *t, const open_node *x, split *s)
{
    const trl_grown *g = &t->grown[x->at];
    uint32_t a;
    for (int tries = 0; tries < TRIES && best_feature(t, x->total, &a); tries++) {
        *s = (split){a, trl_found_along(t, g->slot, a)};
        if (!x->sampled ||
            split_gain(t, g->total, s->on.total) - gain(t, g->total) > t->margin_units)
            return s->on.count > 0 && s->on.count < g->count;
        trl_sums_put(&t->sums, a, s->on.total);
    }
    return false;
}

/* Examples with the feature get a slot of their own, the others keep the parent's. */
static trl_status add_child(trl_trainer *t, uint32_t parent, const trl_grown *child, uint32_t *at,
                            trl_error *err)
{
    trl_grown *grown = trl_reserve(t->grown, &t->grown_cap, t->n_grown + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    t->grown = grown;
    *at = (uint32_t)t->n_grown;
    grown[t->n_grown] = *child;
    grown[t->n_grown].parent = parent;
    grown[t->n_grown].slot = child->literal & 1 ? grown[parent].slot : *at;
    grown[t->n_grown].on = grown[t->n_grown].off = TRL_NO_ID;
    grown[t->n_grown++].hash = grown[parent].hash + trl_boost_literal_hash(child->literal);
    return TRL_OK;
}

static trl_status make_children(trl_trainer *t, uint32_t at, const split *s, trl_error *err)
{
    const trl_grown x = t->grown[at];
    const trl_grown on = {.literal = 2 * s->feature,
                          .depth = x.depth + 1,
                          .total = s->on.total,
                          .weight = s->on.weight,
                          .count = s->on.count};
    const trl_grown off = {.literal = 2 * s->feature + 1,
                           .depth = x.depth + 1,
                           .total = x.total - s->on.total,
                           .weight = x.weight - s->on.weight,
                           .count = x.count - s->on.count};
    uint32_t on_at, off_at;
    trl_status st = add_child(t, at, &on, &on_at, err);
    if (st == TRL_OK)
        st = add_child(t, at, &off, &off_at, err);
    if (st == TRL_OK) {
        t->grown[at].on = on_at;
        t->grown[at].off = off_at;
    }
    return st;
}

/* Subtracts the smaller child's examples from the sums; exact: over all of them. */
static void subtract_all(trl_trainer *t, uint32_t at, bool on_leaves)
{
    trl_list_examples(t, &t->grown[on_leaves ? t->grown[at].on : t->grown[at].off]);
    trl_add_listed(t, -1);
}

/* The same for drawn examples, of which those that stay are kept in the list. */
static int64_t subtract_drawn(trl_trainer *t, uint32_t at, bool on_leaves)
{
    const uint32_t slot = t->grown[on_leaves ? t->grown[at].on : t->grown[at].off].slot;
    uint32_t *leaves = t->found; /* no longer needed: they have been moved */
    int64_t total = 0;
    size_t n = 0, n_leaves = 0;
    for (size_t k = 0; k < t->n_work; k++) {
        const uint32_t i = t->work[k];
        if (t->slot[i] == slot) {
            leaves[n_leaves++] = i;
        } else {
            total += t->drawn[i];
            t->work[n++] = i;
        }
    }
    t->n_work = n;
    trl_add_drawn(t, leaves, n_leaves, -1);
    return total;
}

static trl_status push(trl_trainer *t, uint32_t at, trl_error *err)
{
    if (!worth_opening(t, &t->grown[at]))
        return TRL_OK;
    uint32_t *grown = trl_reserve(t->pending, &t->pending_cap, t->n_pending + 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    t->pending = grown;
    t->pending[t->n_pending++] = at;
    return TRL_OK;
}

/* Splits a node, and the larger child, and the larger child of that, until one cannot be split. */
static trl_status split_down(trl_trainer *t, uint32_t at, uint64_t number, trl_error *err)
{
    open_node x = {.at = at};
    split s;
    trl_status st = TRL_OK;
    open_sums(t, &x, number);
    while (st == TRL_OK && worth_opening(t, &t->grown[x.at]) && find_split(t, &x, &s)) {
        st = trl_cancel_check(t->cancel, err);
        if (st != TRL_OK || (st = make_children(t, x.at, &s, err)) != TRL_OK)
            break;
        const trl_grown g = t->grown[x.at];
        trl_found_move(t, g.slot, t->grown[g.on].slot);
        const bool on_leaves = 2 * s.on.count <= g.count;
        const uint32_t leaves = on_leaves ? g.on : g.off, stays = on_leaves ? g.off : g.on;
        st = push(t, leaves, err);
        if (!worth_opening(t, &t->grown[stays]))
            break;
        if (x.sampled)
            x.total = subtract_drawn(t, x.at, on_leaves);
        else
            subtract_all(t, x.at, on_leaves);
        x.at = stays;
        if (!x.sampled)
            x.total = t->grown[stays].total;
        else if (t->n_work < t->o->sample / REDRAW_BELOW || t->grown[stays].count <= t->o->sample)
            open_sums(t, &x, number);
    }
    return st;
}

trl_status trl_grow(trl_trainer *t, uint64_t number, bool *split_root, trl_error *err)
{
    trl_grown *grown = trl_reserve(t->grown, &t->grown_cap, 1, sizeof *grown);
    if (!grown)
        return trl_fail_mem(err);
    t->grown = grown;
    trl_trainer_unslot(t);
    grown[0] = (trl_grown){.parent = TRL_NO_ID,
                           .on = TRL_NO_ID,
                           .off = TRL_NO_ID,
                           .total = t->total,
                           .weight = t->weight,
                           .count = t->n_valued};
    t->n_grown = 1;
    t->n_pending = 0;
    if (t->rest)
        memcpy(t->rest, t->block, (t->n / TRL_WEIGHT_BLOCK + 1) * sizeof *t->rest);
    trl_status st = push(t, 0, err);
    while (st == TRL_OK && t->n_pending)
        st = split_down(t, t->pending[--t->n_pending], number, err);
    *split_root = t->n_grown > 1;
    return st;
}
