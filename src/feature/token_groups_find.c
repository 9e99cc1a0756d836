/* token_groups_find.c -- which attributes tokens have in common, and the lists by groups.
 *
 * Tokens are sorted into classes (token_classes.h) by their attributes in some slots, so that the
 * number of rows and entries to be added per pass is small; in practice the key is the word.  A
 * class is cut into groups of at most TRL_TOKEN_GROUPS_BATCH tokens.
 *
 * What a group's tokens share, and what tokens in no group have, is classified again in the same
 * way: different words share affixes and shape.  For each such combination of frequent attributes
 * that is frequent enough the sum becomes an extra row (implied_rows.h), made once per pass.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/token_groups.h"
#include "feature/token_classes.h"
#include "feature/attribute_slots.h"

#define SLACK 64           /* list elements that kernels may prefetch past the end */
#define WORTH 0.75         /* groups are useful when at most this part of the cost remains */
#define ALONE UINT32_MAX   /* a token in no group */
#define NO_ROW UINT32_MAX  /* no extra row */
#define OFTEN 4            /* uses that make a combination an extra row */
#define EXTRA_ROW_COST 3.0 /* an extra row, in rows added up for it: there, back, its cache */

typedef struct finder {
    const trl_design *d;
    const trl_family *f;
    trl_attribute_slots s;
    trl_classes token; /* tokens by what they share */
    uint32_t *group;   /* [n] by position: the group, or ALONE */
    trl_classes list;  /* the same for groups, then for tokens that are alone */
    uint32_t *extra;   /* [lists] row, or NO_ROW */
} finder;

static void meet(finder *x, size_t t, uint32_t a)
{
    trl_classes *c = &x->token;
    const uint8_t s = x->s.slot[a];
    if (s == TRL_SLOTS) {
        c->other += trl_attribute_cost(x->f, a);
        return;
    }
    uint32_t *at = &c->at[s * c->n + t];
    c->bad[s] |= *at != 0; /* two of one slot */
    *at = a + 1;
    c->cost[s] += trl_attribute_cost(x->f, a);
}

static bool fill_slots(finder *x)
{
    trl_classes *c = &x->token;
    c->n_slots = x->s.n_slots;
    c->cost_factor = 1.0;
    c->at = trl_zalloc(c->n_slots * c->n, sizeof *c->at);
    for (size_t t = 0; c->at && t < c->n; t++)
        for (trl_token_attributes k = trl_attributes_at(&x->s, t); trl_attributes_next(&x->s, &k);)
            meet(x, t, k.attr);
    return c->at;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Positions: class by class, tokens that are alone in theirs at the end. */
static bool order_tokens(finder *x, trl_token_groups *p)
{
    uint32_t *count = trl_zalloc(x->token.n_classes, sizeof *count);
    uint32_t *start = trl_alloc(x->token.n_classes, sizeof *start);
    p->token = trl_alloc(p->n, sizeof *p->token);
    x->group = trl_alloc(p->n, sizeof *x->group);
    p->first = trl_alloc(p->n / 2 + 2, sizeof *p->first);
    const bool good = count && start && p->token && x->group && p->first;
    uint32_t at = 0;
    for (size_t t = 0; good && t < p->n; t++)
        count[x->token.class[t]]++;
    for (int pass = 0; good && pass < 2; pass++)
        for (size_t c = 0; c < x->token.n_classes; c++) {
            if ((count[c] == 1) != (pass == 1))
                continue;
            start[c] = at;
            for (uint32_t i = 0; i < count[c]; i++, at++) {
                /* a last group of one token costs a little more, not enough to be worth more
                 * code */
                if (pass == 0 && i % TRL_TOKEN_GROUPS_BATCH == 0)
                    p->first[p->n_groups++] = at;
                x->group[at] = pass == 0 ? (uint32_t)p->n_groups - 1 : ALONE;
            }
            if (pass == 0)
                p->first[p->n_groups] = at;
        }
    for (size_t t = 0; good && t < p->n; t++)
        p->token[start[x->token.class[t]]++] = (uint32_t)t;
    trl_free(count);
    trl_free(start);
    return good;
}

/* Whole groups to a batch, as many as it has room for. */
static bool make_batches(trl_token_groups *p)
{
    size_t k = 0, i = 0;
    p->batch = trl_alloc(p->n_groups + p->n / TRL_TOKEN_GROUPS_BATCH + 2, sizeof *p->batch);
    while (p->batch && i < p->n) {
        const size_t from = i, groups = k;
        p->batch[p->n_batches++] =
            (trl_token_groups_batch){.position = (uint32_t)i, .group = (uint32_t)k};
        while (k < p->n_groups && p->first[k + 1] - from <= TRL_TOKEN_GROUPS_BATCH &&
               k - groups < TRL_TOKEN_GROUPS_BATCH / 2)
            i = p->first[++k];
        if (k == p->n_groups && k == groups)
            i = p->n - from <= TRL_TOKEN_GROUPS_BATCH ? p->n : from + TRL_TOKEN_GROUPS_BATCH;
    }
    if (p->batch)
        p->batch[p->n_batches] =
            (trl_token_groups_batch){.position = (uint32_t)p->n, .group = (uint32_t)p->n_groups};
    return p->batch;
}

/* ---- extra rows ------------------------------------------------------------------------------ */

/* The token whose attributes list v holds, v < groups + tokens that are alone. */
static uint32_t token_of(const trl_token_groups *p, size_t v)
{
    return p->token[v < p->n_groups ? p->first[v] : p->first[p->n_groups] + (v - p->n_groups)];
}

static bool is_hot(const finder *x, uint32_t a)
{
    return a < x->f->n_hot || (a >= x->f->n_dense && a < x->f->n_warm);
}

/* Is attribute a part of list v's extra row, if that has one? */
static bool in_extra(const finder *x, uint32_t a)
{
    return x->s.slot[a] < TRL_SLOTS && x->list.taken[x->s.slot[a]] && is_hot(x, a);
}

static bool combine(finder *x, const trl_token_groups *p, double *left)
{
    const trl_classes *c = &x->token;
    trl_classes *l = &x->list;
    *l = (trl_classes){.n = p->n_groups + (p->n - p->first[p->n_groups]),
                       .n_slots = c->n_slots,
                       .cost_factor = EXTRA_ROW_COST};
    l->at = trl_zalloc(l->n_slots * l->n, sizeof *l->at);
    for (size_t s = 0; l->at && s < l->n_slots; s++) {
        l->bad[s] = !c->taken[s];
        for (size_t v = 0; c->taken[s] && v < l->n; v++) {
            const uint32_t a = c->at[s * c->n + token_of(p, v)];
            if (a && is_hot(x, a - 1)) {
                l->at[s * l->n + v] = a;
                l->cost[s] += trl_attribute_cost(x->f, a - 1);
            }
        }
    }
    return l->at && trl_classes_make(l, left);
}

/* Makes row `row` the sum of list v's attributes that go into it. */
static bool fill_row(const finder *x, trl_implied_rows *implied, uint32_t row, size_t v)
{
    for (size_t s = 0; s < x->list.n_slots; s++) {
        const uint32_t a = x->list.at[s * x->list.n + v];
        if (!a || !x->list.taken[s])
            continue;
        if (!(a - 1 < x->f->n_hot ? trl_implied_add_row(implied, row, a - 1)
                                  : trl_implied_add_entries(implied, x->f, row, a - 1)))
            return false;
    }
    return true;
}

static bool make_extra(finder *x, trl_token_groups *p, trl_implied_rows *implied)
{
    double left;
    if (!combine(x, p, &left))
        return false;
    const trl_classes *l = &x->list;
    uint32_t *count = trl_zalloc(l->n_classes, sizeof *count);
    uint32_t *row = trl_alloc(l->n_classes, sizeof *row);
    x->extra = trl_alloc(l->n, sizeof *x->extra);
    bool good = count && row && x->extra;
    for (size_t v = 0; good && v < l->n; v++) {
        x->extra[v] = NO_ROW;
        if (left < WORTH)
            count[l->class[v]]++;
    }
    for (size_t v = 0; good && left < WORTH && v < l->n; v++) {
        const uint32_t c = l->class[v], n = count[c];
        if (n == NO_ROW) { /* has one already */
            x->extra[v] = row[c];
        } else if (n >= OFTEN) {
            count[c] = NO_ROW;
            x->extra[v] = row[c] = (uint32_t)implied->n_rows++;
            good = fill_row(x, implied, row[c], v);
        }
    }
    trl_free(count);
    trl_free(row);
    return good;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* What of token t is listed: its own attributes, those that it shares, or both; an extra row stands
 * for what is in it. */
typedef struct share {
    bool own, shared;
    uint32_t extra;
} share;

static bool is_listed(const finder *x, const share *k, uint32_t a)
{
    const uint8_t s = x->s.slot[a];
    if (!(s < TRL_SLOTS && x->token.taken[s] ? k->shared : k->own))
        return false;
    return k->extra == NO_ROW || !in_extra(x, a);
}

static void add(trl_token_groups *p, enum trl_token_groups_part part, uint32_t what, size_t at)
{
    trl_token_groups_list *l = &p->list[part];
    l->what[l->n] = what;
    l->at[l->n++] = (uint16_t)at;
}

static enum trl_token_groups_part row_part(const trl_family *f, uint32_t a)
{
    return a < f->n_hot           ? TRL_TOKEN_GROUPS_HOT_ROW
           : a < f->singleton_row ? TRL_TOKEN_GROUPS_COLD_ROW
                                  : TRL_TOKEN_GROUPS_SINGLETON_ROW;
}

static enum trl_token_groups_part entry_part(const finder *x, const trl_entry *e)
{
    return e->weight < x->d->n_hot_weights ? TRL_TOKEN_GROUPS_HOT_ENTRY : TRL_TOKEN_GROUPS_ENTRY;
}

static void list_token(const finder *x, trl_token_groups *p, size_t t, const share *k, size_t row)
{
    const trl_family *f = x->f;
    if (k->extra != NO_ROW)
        add(p, TRL_TOKEN_GROUPS_HOT_ROW, k->extra, row);
    for (uint64_t i = f->dense_begin[t]; i < f->dense_begin[t + 1]; i++) {
        const uint32_t a = f->dense_row[i];
        if (is_listed(x, k, a))
            add(p, row_part(f, a), a, row);
    }
    for (uint64_t i = f->entry_begin[t]; i < f->entry_begin[t + 1]; i++) {
        const trl_entry *e = &f->entry[i];
        bool first;
        if (is_listed(x, k, trl_entry_attribute(&x->s, e, &first)))
            add(p, entry_part(x, e), (uint32_t)(e->weight - f->entry_hot_at),
                row * f->step + e->cell);
    }
}

static void list_all(const finder *x, trl_token_groups *p)
{
    const size_t grouped = p->first[p->n_groups];
    for (size_t b = 0; b <= p->n_batches; b++) {
        trl_token_groups_batch *here = &p->batch[b];
        for (size_t k = 0; k < TRL_TOKEN_GROUPS_PARTS; k++)
            here->begin[k] = (uint32_t)p->list[k].n;
        for (size_t i = here->position; b < p->n_batches && i < here[1].position; i++) {
            const bool alone = i >= grouped;
            const share k = {true, alone, alone ? x->extra[p->n_groups + (i - grouped)] : NO_ROW};
            list_token(x, p, p->token[i], &k, i - here->position);
        }
        for (size_t g = here->group; b < p->n_batches && g < here[1].group; g++) {
            const share k = {false, true, x->extra[g]};
            list_token(x, p, p->token[p->first[g]], &k, TRL_TOKEN_GROUPS_BATCH + (g - here->group));
        }
    }
}

static bool make_lists(const finder *x, trl_token_groups *p)
{
    const trl_family *f = x->f;
    size_t most[TRL_TOKEN_GROUPS_PARTS] = {[TRL_TOKEN_GROUPS_HOT_ROW] =
                                               x->list.n}; /* extra ones, and all there are */
    for (uint64_t i = 0; i < f->dense_begin[p->n]; i++)
        most[row_part(f, f->dense_row[i])]++;
    for (uint64_t i = 0; i < f->entry_begin[p->n]; i++)
        most[entry_part(x, &f->entry[i])]++;
    for (size_t k = 0; k < TRL_TOKEN_GROUPS_PARTS; k++) {
        p->list[k].what = trl_alloc64(most[k] + SLACK, sizeof *p->list[k].what);
        p->list[k].at = trl_alloc64(most[k] + SLACK, sizeof *p->list[k].at);
        if (!p->list[k].what || !p->list[k].at)
            return false;
    }
    list_all(x, p);
    for (size_t k = 0; k < TRL_TOKEN_GROUPS_PARTS; k++)
        memset(p->list[k].what + p->list[k].n, 0, SLACK * sizeof *p->list[k].what);
    return true;
}

/* Where in a list each number from `from` to `from` + n - 1 stands. */
static bool invert(const trl_token_groups_list *l, uint32_t from, size_t n, uint64_t **begin,
                   uint32_t **at)
{
    uint64_t *b = *begin = trl_zalloc(n + 2, sizeof *b);
    uint32_t *a = *at = trl_alloc(l->n + SLACK, sizeof *a);
    if (!a || !b)
        return false;
    memset(a + l->n, 0, SLACK * sizeof *a);
    for (size_t i = 0; i < l->n; i++)
        b[l->what[i] - from + 2]++;
    for (size_t k = 2; k < n + 2; k++)
        b[k] += b[k - 1];
    for (size_t i = 0; i < l->n; i++) /* b[k + 1] goes from the beginning of k to its end */
        a[b[l->what[i] - from + 1]++] = (uint32_t)i;
    return true;
}

static bool make_streams(const finder *x, trl_token_groups *p)
{
    const trl_family *f = x->f;
    const uint32_t hot = (uint32_t)(x->d->n_hot_weights - f->entry_hot_at);
    const size_t entries = (size_t)(f->cold_at - f->entry_cold_at);
    if (!invert(&p->list[TRL_TOKEN_GROUPS_ENTRY], hot, entries, &p->entry_begin, &p->entry_at) ||
        !invert(&p->list[TRL_TOKEN_GROUPS_COLD_ROW], (uint32_t)f->n_hot,
                f->singleton_row - f->n_hot, &p->rows_begin, &p->rows_at))
        return false;
    p->rows = *x->d;
    p->rows.family[TRL_NODE].token_begin = p->rows_begin;
    p->rows.family[TRL_NODE].token = p->rows_at;
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void finder_fini(finder *x)
{
    trl_attribute_slots_fini(&x->s);
    trl_free(x->group);
    trl_free(x->extra);
    trl_classes_fini(&x->token);
    trl_classes_fini(&x->list);
}

void trl_token_groups_fini(trl_token_groups *p)
{
    for (size_t k = 0; k < TRL_TOKEN_GROUPS_PARTS; k++) {
        trl_free(p->list[k].what);
        trl_free(p->list[k].at);
    }
    trl_free(p->token);
    trl_free(p->first);
    trl_free(p->batch);
    trl_free(p->entry_begin);
    trl_free(p->entry_at);
    trl_free(p->rows_begin);
    trl_free(p->rows_at);
    *p = (trl_token_groups){0};
}

trl_status trl_token_groups_build(trl_token_groups *p, trl_implied_rows *implied,
                                  const trl_design *d, const trl_strtab *names, bool *useful,
                                  trl_error *err)
{
    const trl_family *f = &d->family[TRL_NODE];
    finder x = {.d = d, .f = f, .token = {.n = d->n_tokens}};
    double left = 1.0;
    *p = (trl_token_groups){.n = d->n_tokens};
    *implied = (trl_implied_rows){.n_rows = f->n_hot};
    *useful = false;
    const uint64_t occurrences = f->dense_begin[d->n_tokens] + f->entry_begin[d->n_tokens];
    if (f->dense_value || f->entry_value || f->cold_at - f->entry_hot_at > UINT32_MAX ||
        occurrences > UINT32_MAX / 2 || /* with extra ones, places in lists are 32 bits */
        d->n_tokens > UINT32_MAX / 2 || f->step * TRL_TOKEN_GROUPS_ROWS > UINT16_MAX)
        return TRL_OK;
    bool good = trl_attribute_slots_init(&x.s, d, names, NULL, 0) && fill_slots(&x) &&
                trl_classes_make(&x.token, &left);
    *useful = left < WORTH;
    if (good && *useful)
        good = order_tokens(&x, p) && make_batches(p) && make_extra(&x, p, implied) &&
               make_lists(&x, p) && make_streams(&x, p);
    finder_fini(&x);
    if (!good || !*useful)
        trl_token_groups_fini(p);
    if (good)
        return TRL_OK;
    trl_implied_fini(implied);
    return trl_fail_mem(err);
}
