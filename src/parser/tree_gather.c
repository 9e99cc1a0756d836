/* tree_gather.c -- gather and scatter of one sentence's chart. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_gather.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "parser/tree_features.h"
#include "parser/rule_index.h"

void trl_tree_gather_fini(trl_tree_gather *ga)
{
    trl_free(ga->ids);
    trl_free(ga->slot);
    trl_free(ga->edge);
    *ga = (trl_tree_gather){0};
}

/* ---- features of a part -----------------------------------------------------------------------
 */

/* Appends the ids of one family's feature on this part; returns its weight. */
static double take(trl_tree_gather *ga, size_t family, const trl_tree_part *p)
{
    const uint64_t key = trl_tree_part_key(ga->f, family, p, ga->seen);
    if (!key)
        return 0.0;
    const trl_tree_features *f = ga->f;
    if (f->grow) {
        ga->failed = ga->failed || trl_tree_index_add(f->grow, key) == TRL_NO_ID;
        return 0.0;
    }
    const uint32_t id = trl_tree_index_find(&f->index, key);
    if (id == TRL_NO_ID)
        return 0.0;
    uint32_t *ids = trl_reserve(ga->ids, &ga->cap_ids, ga->n_ids + 1, sizeof *ids);
    if (!ids) {
        ga->failed = true;
        return trl_tree_weight(f, id);
    }
    ga->ids = ids;
    ids[ga->n_ids++] = id;
    return trl_tree_weight(f, id);
}

/* The score is right even when there is no room for ids. */
static double sum_weights(const trl_tree_features *f, const uint64_t *key, size_t n)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t id = trl_tree_index_find(&f->index, key[k]);
        sum += id == TRL_NO_ID ? 0.0 : trl_tree_weight(f, id);
    }
    return sum;
}

/* All families of a group on one part.  Keys first, then their places, then the weights: memory
 * accesses of the same type overlap. */
static double take_all(trl_tree_gather *ga, size_t group, const trl_tree_part *p)
{
    const trl_tree_features *f = ga->f;
    const trl_tree_index *x = &f->index;
    uint64_t key[TRL_TREE_FAMILIES];
    size_t n = 0;
    for (size_t k = 0; k < f->n_family[group]; k++) {
        key[n] = trl_tree_part_key(f, f->family[group][k], p, ga->seen);
        if (!key[n])
            continue;
        trl_tree_index_prefetch(x, key[n]);
        n++;
    }
    uint32_t *ids = trl_reserve(ga->ids, &ga->cap_ids, ga->n_ids + n, sizeof *ids);
    if (!ids) {
        ga->failed = true;
        return sum_weights(f, key, n);
    }
    ga->ids = ids;
    const size_t from = ga->n_ids;
    for (size_t k = 0; k < n; k++) {
        const uint32_t id =
            f->grow ? trl_tree_index_add(f->grow, key[k]) : trl_tree_index_find(x, key[k]);
        if (id == TRL_NO_ID) {
            ga->failed = ga->failed || f->grow;
            continue;
        }
        trl_tree_weight_prefetch(f, id);
        ids[ga->n_ids++] = id;
    }
    double sum = 0.0;
    for (size_t k = from; k < ga->n_ids && !f->grow; k++)
        sum += trl_tree_weight(f, ids[k]);
    return sum;
}

static uint32_t new_slots(trl_tree_gather *ga, size_t n)
{
    trl_slot *s = trl_reserve(ga->slot, &ga->cap_slots, ga->n_slots + n, sizeof *s);
    if (!s) {
        ga->failed = true;
        return TRL_NO_ID;
    }
    ga->slot = s;
    memset(s + ga->n_slots, 0, n * sizeof *s);
    ga->n_slots += n;
    return (uint32_t)(ga->n_slots - n);
}

/* The slot of a base parent at its first word (which 0) or its end (which 1). */
static uint32_t slot_at(trl_tree_gather *ga, int which, uint32_t plain, uint32_t state, size_t at)
{
    uint32_t *memo = &ga->memo[which][at * ga->f->g->n_plain + plain];
    if (*memo)
        return *memo - 1;
    const uint32_t s = new_slots(ga, 1);
    if (s == TRL_NO_ID)
        return s;
    const trl_tree_part p = {.state = state, .i = at, .j = at, .k = at};
    const uint32_t first = (uint32_t)ga->n_ids;
    const double score = take_all(ga, which ? TRL_ATTACH_END : TRL_ATTACH_FIRST, &p);
    ga->slot[s] = (trl_slot){first, (uint32_t)ga->n_ids - first, score, 0.0};
    *memo = s + 1;
    return s;
}

/* Slots [3][n + 1] of a base parent inside: score[w][p] = sum of families of width w + 1 at words
 * before p. */
static uint32_t inside_slots(trl_tree_gather *ga, uint32_t plain, uint32_t state)
{
    if (ga->inside[plain])
        return ga->inside[plain] - 1;
    const size_t n = ga->c->n;
    const uint32_t base = new_slots(ga, TRL_OBSERVATIONS * (n + 1));
    if (base == TRL_NO_ID)
        return base;
    for (size_t w = 0; w < TRL_OBSERVATIONS; w++) {
        double sum = 0.0;
        for (size_t p = 0; p <= n; p++) {
            trl_slot *s = &ga->slot[base + w * (n + 1) + p];
            *s = (trl_slot){(uint32_t)ga->n_ids, 0, sum, 0.0};
            const trl_tree_part part = {.state = state, .i = p, .j = p, .k = p};
            for (size_t k = 0; k < ga->f->t->n && p + w < n; k++)
                if (ga->f->t->family[k].attachment == TRL_ATTACH_INSIDE &&
                    ga->f->t->family[k].width == w + 1)
                    sum += take(ga, k, &part);
            s->n = (uint32_t)ga->n_ids - s->first;
        }
    }
    ga->inside[plain] = base + 1;
    return base;
}

/* ---- gather ------------------------------------------------------------------------------------
 */

static void for_items(trl_tree_gather *ga,
                      void (*fn)(trl_tree_gather *, uint32_t x, size_t i, size_t j))
{
    const trl_skeleton *s = ga->c->s;
    for (size_t j = 1; j <= s->n; j++)
        for (size_t i = 0; i < j; i++) {
            const size_t cell = trl_cell(i, j);
            for (uint32_t x = s->first[cell]; x < s->first[cell + 1]; x++)
                fn(ga, x, i, j);
        }
}

/* Phrases over one word have no binary rule there, but local models need the score that one would
 * have. */
static bool is_tag(const trl_tree_gather *ga, uint32_t x)
{
    return ga->f->g->state[ga->c->s->item[x] & TRL_STATE_MASK].type == TRL_STATE_TAG;
}

static void own_item(trl_tree_gather *ga, uint32_t x, size_t i, size_t j)
{
    const uint32_t item = ga->c->s->item[x];
    ga->own_first[x] = (uint32_t)ga->n_ids;
    ga->t.item[x] = 0.0;
    if (!(item & TRL_BEFORE))
        return;
    const trl_tree_part p = {.state = item & TRL_STATE_MASK, .i = i, .j = j, .k = i};
    ga->t.item[x] = take_all(ga, is_tag(ga, x) ? TRL_ATTACH_WORD : TRL_ATTACH_ITEM, &p);
}

static void own_unaries(trl_tree_gather *ga)
{
    const trl_chart *c = ga->c;
    uint32_t *first = ga->own_first + c->n_items;
    for (size_t j = 1; j <= c->n; j++)
        for (size_t i = 0; i < j; i++) {
            const size_t cell = trl_cell(i, j);
            for (uint32_t e = c->unary_first[cell]; e < c->unary_first[cell + 1]; e++) {
                const uint32_t u = c->unary[e].rule;
                const trl_tree_part p = {u, c->g->unary[u].parent, i, i, j};
                first[e] = (uint32_t)ga->n_ids;
                ga->t.unary_at[e] = take_all(ga, TRL_ATTACH_UNARY, &p);
            }
        }
    first[c->n_unary] = (uint32_t)ga->n_ids;
}

/* The slots whose scores are added to an item's own score. */
static double span_slots(trl_tree_gather *ga, uint32_t x, size_t i, size_t j, double adjoint)
{
    const uint32_t state = ga->c->s->item[x] & TRL_STATE_MASK;
    const uint32_t plain = ga->f->g->state[state].plain;
    double sum = 0.0;
    for (int which = 0; which < 2; which++) {
        if (!ga->memo[which])
            continue;
        const uint32_t s = slot_at(ga, which, plain, state, which ? j : i);
        if (s == TRL_NO_ID)
            return 0.0;
        sum += ga->slot[s].score;
        ga->slot[s].adjoint += adjoint;
    }
    if (!ga->inside)
        return sum;
    const uint32_t base = inside_slots(ga, plain, state);
    for (size_t w = 0; base != TRL_NO_ID && w < TRL_OBSERVATIONS && i + w < j; w++) {
        trl_slot *s = &ga->slot[base + w * (ga->c->n + 1)];
        sum += s[j - w].score - s[i].score;
        s[i].adjoint += adjoint;
        s[j - w].adjoint -= adjoint;
    }
    return sum;
}

static void shared_item(trl_tree_gather *ga, uint32_t x, size_t i, size_t j)
{
    if (!is_tag(ga, x) && (ga->c->s->item[x] & TRL_BEFORE))
        ga->t.item[x] += span_slots(ga, x, i, j, 0.0);
}

static double fill_edge(void *self, int anchor, size_t at, uint32_t q)
{
    trl_tree_gather *ga = self;
    const uint32_t r = ga->f->edge_rule[q];
    const trl_tree_part p = {r, ga->f->g->binary[r].parent, at, at, at};
    const uint32_t first = (uint32_t)ga->n_ids;
    const double value = exp(take_all(ga, TRL_ATTACHS + (size_t)anchor, &p));
    const size_t place = at * ga->f->n_classes + q;
    ga->t.edge[anchor][place] = value;
    if (ga->a.edge[anchor])
        ga->a.edge[anchor][place] = 0.0;
    if (ga->n_ids == first)
        return value;
    trl_edge_slot *e = trl_reserve(ga->edge, &ga->cap_edges, ga->n_edges + 1, sizeof *e);
    if (!e) {
        ga->failed = true;
        return value;
    }
    ga->edge = e;
    e[ga->n_edges++] = (trl_edge_slot){first, (uint32_t)ga->n_ids - first, (uint32_t)anchor, place};
    return value;
}

static bool lay_out_edges(trl_tree_gather *ga, bool adjoint, trl_arena *arena)
{
    const size_t n = (ga->c->n + 1) * ga->f->n_classes;
    for (int a = 0; a < TRL_EDGE_ANCHORS; a++) {
        if (!trl_tree_attaches(ga->f->t, TRL_ATTACH_EDGE, a))
            continue;
        ga->t.edge[a] = trl_arena_get(arena, n, sizeof *ga->t.edge[a]);
        ga->a.edge[a] = adjoint ? trl_arena_get(arena, n, sizeof *ga->a.edge[a]) : NULL;
        if (!ga->t.edge[a] || (adjoint && !ga->a.edge[a]))
            return false;
        for (size_t k = 0; k < n; k++)
            ga->t.edge[a][k] = -1.0;
    }
    return true;
}

static bool lay_out_slots(trl_tree_gather *ga, trl_arena *arena)
{
    const size_t plain = ga->f->g->n_plain, n = (ga->c->n + 1) * plain;
    for (int which = 0; which < 2; which++) {
        ga->memo[which] = NULL;
        if (!trl_tree_attaches(ga->f->t, which ? TRL_ATTACH_END : TRL_ATTACH_FIRST, 0))
            continue;
        ga->memo[which] = trl_arena_get(arena, n, sizeof *ga->memo[which]);
        if (!ga->memo[which])
            return false;
        memset(ga->memo[which], 0, n * sizeof *ga->memo[which]);
    }
    ga->inside = NULL;
    if (!trl_tree_attaches(ga->f->t, TRL_ATTACH_INSIDE, 0))
        return true;
    ga->inside = trl_arena_get(arena, plain, sizeof *ga->inside);
    if (ga->inside)
        memset(ga->inside, 0, plain * sizeof *ga->inside);
    return ga->inside != NULL;
}

static bool lay_out(trl_tree_gather *ga, bool edges, bool adjoint, trl_arena *arena)
{
    const trl_chart *c = ga->c;
    const trl_grammar *g = c->g;
    ga->t.item = trl_arena_get(arena, c->n_items, sizeof *ga->t.item);
    ga->t.unary_at = trl_arena_get(arena, c->n_unary, sizeof *ga->t.unary_at);
    ga->own_first = trl_arena_get(arena, c->n_items + c->n_unary + 1, sizeof *ga->own_first);
    if (!ga->t.item || !ga->t.unary_at || !ga->own_first ||
        (edges && !lay_out_edges(ga, adjoint, arena)))
        return false;
    if (adjoint) {
        ga->a.item = trl_arena_get(arena, c->n_items, sizeof *ga->a.item);
        ga->a.unary_at = trl_arena_get(arena, c->n_unary, sizeof *ga->a.unary_at);
        ga->a.binary = trl_arena_get(arena, g->n_binary, sizeof *ga->a.binary);
        ga->a.unary = trl_arena_get(arena, g->n_unary, sizeof *ga->a.unary);
        if (!ga->a.item || !ga->a.unary_at || !ga->a.binary || !ga->a.unary)
            return false;
        memset(ga->a.item, 0, c->n_items * sizeof *ga->a.item);
        memset(ga->a.unary_at, 0, c->n_unary * sizeof *ga->a.unary_at);
        memset(ga->a.binary, 0, g->n_binary * sizeof *ga->a.binary);
        memset(ga->a.unary, 0, g->n_unary * sizeof *ga->a.unary);
    }
    return lay_out_slots(ga, arena);
}

static void start(trl_tree_gather *ga, const trl_gather_source *x)
{
    ga->f = x->f;
    ga->seen = x->seen;
    ga->c = x->c;
    ga->n_ids = ga->n_slots = ga->n_edges = 0;
    ga->failed = false;
    ga->a = (trl_tree_adjoint){0};
    ga->t = (trl_tree_tables){.binary_exp = x->binary_exp,
                              .unary = x->unary,
                              .n_classes = x->f->n_classes,
                              .edge_class = x->f->edge_class,
                              .fill = fill_edge,
                              .self = ga};
}

trl_status trl_tree_gather_scores(trl_tree_gather *ga, const trl_gather_source *x, trl_arena *arena,
                                  trl_error *err)
{
    start(ga, x);
    if (!lay_out(ga, true, x->with_adjoint, arena))
        return trl_fail_mem(err);
    for_items(ga, own_item);
    own_unaries(ga);
    for_items(ga, shared_item);
    return ga->failed ? trl_fail_mem(err) : TRL_OK;
}

trl_status trl_tree_gather_items(trl_tree_gather *ga, const trl_gather_source *x, trl_arena *arena,
                                 trl_error *err)
{
    start(ga, x);
    if (!lay_out(ga, false, x->with_adjoint, arena))
        return trl_fail_mem(err);
    for_items(ga, own_item);
    ga->own_first[x->c->n_items] = (uint32_t)ga->n_ids;
    for_items(ga, shared_item);
    return ga->failed ? trl_fail_mem(err) : TRL_OK;
}

/* ---- parts that are not attached to edges
 * ----------------------------------------------------------------
 */

double trl_tree_gather_item(trl_tree_gather *ga, uint32_t x, size_t i, size_t j)
{
    if (ga->c->s->item[x] & TRL_BEFORE)
        return ga->t.item[x];
    const trl_tree_part p = {.state = ga->c->s->item[x] & TRL_STATE_MASK, .i = i, .j = j, .k = i};
    const size_t ids = ga->n_ids;
    const double own = take_all(ga, is_tag(ga, x) ? TRL_ATTACH_WORD : TRL_ATTACH_ITEM, &p);
    ga->n_ids = ids;
    return is_tag(ga, x) ? own : own + span_slots(ga, x, i, j, 0.0);
}

uint32_t trl_tree_gather_listed(trl_tree_gather *ga, const trl_listed *listed, size_t n)
{
    uint32_t *ids = trl_reserve(ga->ids, &ga->cap_ids, ga->n_ids + n, sizeof *ids);
    const uint32_t s = ids ? new_slots(ga, 1) : TRL_NO_ID;
    if (s == TRL_NO_ID)
        return s;
    const uint32_t first = (uint32_t)ga->n_ids;
    double score = 0.0;
    ga->ids = ids;
    for (size_t k = 0; k < n; k++) {
        ids[ga->n_ids++] = listed[k].id;
        score += trl_tree_weight(ga->f, listed[k].id);
    }
    ga->slot[s] = (trl_slot){first, (uint32_t)n, score, 0.0};
    return s;
}

/* ---- scatter --------------------------------------------------------------------------------- */

static void put(const trl_tree_gather *ga, uint32_t first, uint32_t n, double value, trl_sparse *s)
{
    if (value == 0.0)
        return;
    for (uint32_t k = first; k < first + n; k++) {
        s->id[s->n] = (uint32_t)ga->f->n_direct + ga->ids[k];
        s->value[s->n++] = value;
    }
}

static void put_direct(size_t n, const double *a, size_t first, trl_sparse *s)
{
    for (size_t k = 0; k < n; k++)
        if (a[k] != 0.0) {
            s->id[s->n] = (uint32_t)(first + k);
            s->value[s->n++] = a[k];
        }
}

static void put_rules(const trl_tree_gather *ga, trl_sparse *s)
{
    const trl_grammar *g = ga->f->g;
    const size_t plain = g->n_binary, u0 = plain + g->n_plain_binary, p0 = u0 + g->n_unary;
    size_t from = s->n;
    put_direct(g->n_binary, ga->a.binary, 0, s);
    for (size_t k = from, to = s->n; k < to; k++) {
        s->id[s->n] = (uint32_t)(plain + g->binary[s->id[k]].plain);
        s->value[s->n++] = s->value[k];
    }
    from = s->n;
    put_direct(g->n_unary, ga->a.unary, u0, s);
    for (size_t k = from, to = s->n; k < to; k++) {
        s->id[s->n] = (uint32_t)(p0 + g->unary[s->id[k] - u0].plain);
        s->value[s->n++] = s->value[k];
    }
}

static void spread_item(trl_tree_gather *ga, uint32_t x, size_t i, size_t j)
{
    if (!is_tag(ga, x) && ga->a.item[x] != 0.0 && (ga->c->s->item[x] & TRL_BEFORE))
        span_slots(ga, x, i, j, ga->a.item[x]);
}

/* Differences to sums, for the slots of inside families. */
static void sum_inside(trl_tree_gather *ga)
{
    for (size_t plain = 0; ga->inside && plain < ga->f->g->n_plain; plain++) {
        if (!ga->inside[plain])
            continue;
        const size_t n = ga->c->n + 1;
        for (size_t w = 0; w < TRL_OBSERVATIONS; w++) {
            trl_slot *s = &ga->slot[ga->inside[plain] - 1 + w * n];
            for (size_t p = 1; p < n; p++)
                s[p].adjoint += s[p - 1].adjoint;
        }
    }
}

trl_status trl_tree_scatter(trl_tree_gather *ga, trl_sparse *out, trl_error *err)
{
    const trl_chart *c = ga->c;
    const trl_grammar *g = ga->f->g;
    if (ga->failed || !trl_sparse_room(out, ga->n_ids + 2 * (g->n_binary + g->n_unary)))
        return trl_fail_mem(err);
    for_items(ga, spread_item);
    sum_inside(ga);
    put_rules(ga, out);
    for (size_t x = 0; x < c->n_items; x++)
        put(ga, ga->own_first[x], ga->own_first[x + 1] - ga->own_first[x], ga->a.item[x], out);
    for (size_t e = 0; e < c->n_unary; e++) {
        const uint32_t *first = ga->own_first + c->n_items + e;
        put(ga, first[0], first[1] - first[0], ga->a.unary_at[e], out);
    }
    for (size_t s = 0; s < ga->n_slots; s++)
        put(ga, ga->slot[s].first, ga->slot[s].n, ga->slot[s].adjoint, out);
    for (size_t e = 0; e < ga->n_edges; e++)
        put(ga, ga->edge[e].first, ga->edge[e].n, ga->a.edge[ga->edge[e].anchor][ga->edge[e].at],
            out);
    return TRL_OK;
}
