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
#include "base/rng.h"
#include "boost/trainer.h"

#define TRIES 8        /* features that all examples may reject before a sampled node is a leaf */
#define AHEAD 6        /* rows are fetched so many before they are added */
#define ROWS 256       /* of a piece of work */
#define SHARED 2048    /* rows that several threads add up together */
#define REDRAW_BELOW 4 /* a node draws anew when it has less than sample / 4 of its examples */

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static int64_t gain(const trl_trainer *t, int64_t sum)
{
    const int64_t g = magnitude(sum) - t->lambda_units;
    return g > 0 ? g : 0;
}

static bool worth_opening(const trl_trainer *t, const trl_grown *x)
{
    const uint64_t most =
        t->o->depth && t->o->depth < TRL_BOOST_MAX_DEPTH ? t->o->depth : TRL_BOOST_MAX_DEPTH;
    return x->weight > t->lambda_units + t->margin_units && x->count > 1 && x->depth < most;
}

/* ---- examples of a node ---------------------------------------------------------------------- */

typedef struct column {
    const uint32_t *example;
    size_t n;
} column;

static column column_of(const trl_trainer *t, uint32_t feature)
{
    const uint64_t begin = trl_boost_begin(t->d->column_end, feature);
    return (column){t->d->example + begin, (size_t)(t->d->column_end[feature] - begin)};
}

/* Where the examples of a node are: in the column of the feature that first had its slot; of the
 * root's slot, anywhere (NULL). */
static column place_of(const trl_trainer *t, const trl_grown *x)
{
    return x->slot ? column_of(t, t->grown[x->slot].literal / 2) : (column){NULL, t->n};
}

static void list_examples(trl_trainer *t, const trl_grown *x)
{
    const column c = place_of(t, x);
    size_t n = 0;
    for (size_t k = 0; k < c.n; k++) { /* n <= k: there is room */
        const uint32_t i = c.example ? c.example[k] : (uint32_t)k;
        t->work[n] = i;
        n += t->slot[i] == x->slot;
    }
    t->n_work = n;
}

/* The row of an example that is added soon; rows of a sample lie far apart. */
static void fetch_row(const trl_trainer *t, uint32_t i)
{
    const uint64_t begin = trl_boost_begin(t->d->row_end, i), end = t->d->row_end[i];
    for (uint64_t k = begin; k < end; k += 16)
        __builtin_prefetch(&t->d->id[k]);
}

static void add_row(trl_trainer *t, uint32_t i, int64_t w)
{
    const uint64_t begin = trl_boost_begin(t->d->row_end, i);
    trl_sums_add(&t->sums, t->d->id + begin, t->d->row_end[i] - begin, w);
    t->visited += t->d->row_end[i] - begin;
}

/* Systematic sampling: points a step apart on the line of all weights, the first at random.  An
 * example that k points hit stands for k steps of weight. */
typedef struct sampling {
    int64_t step, next, at; /* next: the next point; at: the end of the weights so far */
    int64_t total;          /* sampled */
} sampling;

static void pass(trl_trainer *t, sampling *s, uint32_t i)
{
    s->at += magnitude(t->w[i]);
    if (s->next >= s->at)
        return;
    const int64_t hits = (s->at - s->next - 1) / s->step + 1;
    s->next += hits * s->step;
    t->drawn[i] = t->w[i] < 0 ? -hits * s->step : hits * s->step;
    s->total += t->drawn[i];
    t->work[t->n_work++] = i;
}

/* Of the root's slot: blocks that no point hits are passed over. */
static void draw_rest(trl_trainer *t, sampling *s)
{
    for (size_t b = 0; b * TRL_WEIGHT_BLOCK < t->n; b++) {
        if (s->next >= s->at + t->rest[b]) {
            s->at += t->rest[b];
            continue;
        }
        const size_t begin = b * TRL_WEIGHT_BLOCK, left = t->n - begin;
        const size_t end = begin + (left < TRL_WEIGHT_BLOCK ? left : TRL_WEIGHT_BLOCK);
        for (size_t i = begin; i < end; i++)
            if (t->slot[i] == 0)
                pass(t, s, (uint32_t)i);
    }
}

/* Returns the sampled total. */
static int64_t draw(trl_trainer *t, const trl_grown *x, uint64_t seed)
{
    trl_rng rng = trl_rng_seed(seed);
    const column c = place_of(t, x);
    sampling s = {.step = x->weight / (int64_t)t->o->sample + 1};
    s.next = (int64_t)trl_rng_below64(&rng, (uint64_t)s.step);
    t->n_work = 0;
    if (!c.example)
        draw_rest(t, &s);
    for (size_t k = 0; c.example && k < c.n; k++)
        if (t->slot[c.example[k]] == x->slot)
            pass(t, &s, c.example[k]);
    return s.total;
}

static void add_drawn(trl_trainer *t)
{
    for (size_t k = 0; k < t->n_work; k++) {
        if (k + AHEAD < t->n_work)
            fetch_row(t, t->work[k + AHEAD]);
        add_row(t, t->work[k], t->drawn[t->work[k]]);
    }
}

typedef struct rows_job {
    trl_trainer *t;
    int64_t sign;
    uint64_t visited[TRL_POOL_MOST]; /* by worker */
} rows_job;

/* Worker 0 adds to the sums, others to arrays of their own. */
static trl_status run_rows(void *ctx, size_t piece, size_t worker, trl_error *err)
{
    (void)err;
    rows_job *j = ctx;
    trl_trainer *t = j->t;
    const size_t end = (piece + 1) * ROWS < t->n_work ? (piece + 1) * ROWS : t->n_work;
    int64_t *side = worker ? t->side + (worker - 1) * t->sums.n_blocks * TRL_SUMS_BLOCK : NULL;
    for (size_t k = piece * ROWS; k < end; k++) {
        const uint32_t i = t->work[k];
        const uint64_t begin = trl_boost_begin(t->d->row_end, i), n = t->d->row_end[i] - begin;
        const uint32_t *id = t->d->id + begin;
        const int64_t w = j->sign * t->w[i];
        j->visited[worker] += n;
        if (!side)
            trl_sums_add(&t->sums, id, n, w);
        else
            for (uint64_t q = 0; q < n; q++)
                side[id[q]] += w;
    }
    return TRL_OK;
}

/* Adds all examples in `work`, or subtracts them: in parallel where that is worth adding up. */
static void add_listed(trl_trainer *t, int64_t sign)
{
    rows_job j = {t, sign, {0}};
    const size_t n = (t->n_work + ROWS - 1) / ROWS, width = t->sums.n_blocks * TRL_SUMS_BLOCK;
    const bool together = t->side && n > 1 && t->n_work >= SHARED;
    for (size_t k = 0; !together && k < n; k++)
        (void)run_rows(&j, k, 0, NULL);
    if (together)
        trl_pool_run_all(t->pool, n, run_rows, &j);
    for (size_t k = 0; together && k + 1 < trl_pool_threads(t->pool); k++)
        trl_sums_take(&t->sums, t->side + k * width);
    for (size_t k = 0; k < TRL_POOL_MOST; k++)
        t->visited += j.visited[k];
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
        x->total = draw(t, g, t->o->seed ^ number << 32 ^ g->hash);
    else
        list_examples(t, g);
    if (x->sampled)
        add_drawn(t);
    else
        add_listed(t, 1);
}

/* ---- splits ---------------------------------------------------------------------------------- */

typedef struct split {
    uint32_t feature;
    int64_t on_total, on_weight; /* of the examples with it */
    uint64_t on_count;
} split;

/* Sums over all examples of the node that have the feature. */
static split measure(const trl_trainer *t, uint32_t slot, uint32_t a)
{
    split s = {.feature = a};
    const column c = column_of(t, a);
    for (size_t k = 0; k < c.n; k++)
        if (t->slot[c.example[k]] == slot) {
            const int64_t w = t->w[c.example[k]];
            s.on_total += w;
            s.on_weight += magnitude(w);
            s.on_count++;
        }
    return s;
}

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
        *s = measure(t, g->slot, a);
        if (!x->sampled ||
            split_gain(t, g->total, s->on_total) - gain(t, g->total) > t->margin_units)
            return s->on_count > 0 && s->on_count < g->count;
        trl_sums_put(&t->sums, a, s->on_total);
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
                          .total = s->on_total,
                          .weight = s->on_weight,
                          .count = s->on_count};
    const trl_grown off = {.literal = 2 * s->feature + 1,
                           .depth = x.depth + 1,
                           .total = x.total - s->on_total,
                           .weight = x.weight - s->on_weight,
                           .count = x.count - s->on_count};
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

static void move_on(trl_trainer *t, uint32_t at, const split *s)
{
    const uint32_t slot = t->grown[at].slot, on = t->grown[t->grown[at].on].slot;
    const column c = column_of(t, s->feature);
    for (size_t k = 0; k < c.n; k++) {
        const uint32_t i = c.example[k];
        if (t->slot[i] != slot)
            continue;
        t->slot[i] = on;
        if (t->rest && slot == 0)
            t->rest[i / TRL_WEIGHT_BLOCK] -= magnitude(t->w[i]);
    }
}

/* Subtracts the smaller child's examples from the sums; exact: over all of them. */
static void subtract_all(trl_trainer *t, uint32_t at, bool on_leaves)
{
    list_examples(t, &t->grown[on_leaves ? t->grown[at].on : t->grown[at].off]);
    add_listed(t, -1);
}

/* The same for drawn examples, of which those that stay are kept in the list. */
static int64_t subtract_drawn(trl_trainer *t, uint32_t at, bool on_leaves)
{
    const uint32_t slot = t->grown[on_leaves ? t->grown[at].on : t->grown[at].off].slot;
    int64_t total = 0;
    size_t n = 0;
    for (size_t k = 0; k < t->n_work; k++) {
        const uint32_t i = t->work[k];
        if (t->slot[i] == slot) {
            add_row(t, i, -t->drawn[i]);
        } else {
            total += t->drawn[i];
            t->work[n++] = i;
        }
    }
    t->n_work = n;
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
        move_on(t, x.at, &s);
        const trl_grown g = t->grown[x.at];
        const bool on_leaves = 2 * s.on_count <= g.count;
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
    size_t count = 0;
    for (size_t i = 0; i < t->n; i++) {
        const bool counts = t->v[i] != 0.0;
        t->slot[i] = counts ? 0 : TRL_NO_ID;
        count += counts;
    }
    grown[0] = (trl_grown){.parent = TRL_NO_ID,
                           .on = TRL_NO_ID,
                           .off = TRL_NO_ID,
                           .total = t->total,
                           .weight = t->weight,
                           .count = count};
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
