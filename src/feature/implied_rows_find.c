/* implied_rows_find.c -- finding implications between slots, and the lists that they shorten.
 *
 * Implications are between *units*: the hot dense rows, and after them the sparse attributes that
 * are as frequent.  Every slot c is implied by at most one slot p, so that no token counts a unit
 * twice; p must have more distinct attributes than c, so there are no cycles.
 */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "feature/implied_rows.h"
#include "feature/attribute_slots.h"

#define SLOTS TRL_SLOTS
#define UNSET (UINT32_MAX - 2) /* not seen yet */
#define NONE (UINT32_MAX - 1)  /* the slot is empty there; no unit, no row */
#define MANY UINT32_MAX        /* not always the same */
#define SLACK 16               /* list elements that kernels may prefetch past the end */
#define FREQUENT 128           /* tokens that make a sparse attribute a unit */

typedef struct finder {
    const trl_design *d;
    const trl_family *f;
    trl_attribute_slots s;
    size_t n_units;
    uint32_t *unit;        /* [n_attrs] of the attribute, or NONE */
    uint32_t *attr;        /* [n_units] attribute number */
    uint64_t *count;       /* [n_units] tokens */
    uint32_t *cost;        /* [n_units] of one occurrence, in entries */
    uint32_t *row;         /* [n_units] summed row, or NONE */
    uint8_t *slot;         /* [n_units]; SLOTS: none */
    uint32_t *implied;     /* [n_units][SLOTS] unit on in that slot, or a value above */
    bool bad[SLOTS];       /* two units of it in one token */
    size_t size[SLOTS];    /* distinct attributes */
    uint8_t parent[SLOTS]; /* SLOTS: none */
} finder;

/* ---- units ----------------------------------------------------------------------------------- */

/* How many tokens have each hot sparse attribute, by its first entry. */
static uint64_t *count_sparse(const finder *x)
{
    const trl_family *f = x->f;
    const size_t n = (size_t)f->entry_first[f->n_warm - f->n_dense];
    uint64_t *count = trl_zalloc(n, sizeof *count);
    for (uint64_t i = 0; count && f->sparse_begin && i < f->sparse_begin[x->d->n_tokens]; i++)
        count[f->entry_first[f->sparse[i]]]++;
    for (uint64_t e = 0; count && e < f->entry_begin[x->d->n_tokens]; e++) {
        const uint64_t k = f->entry[e].weight - f->entry_hot_at;
        if (f->entry[e].weight >= f->entry_hot_at && k < n)
            count[k]++;
    }
    return count;
}

static void add_unit(finder *x, size_t a, uint64_t count, uint32_t row)
{
    const size_t u = x->n_units++;
    x->attr[u] = (uint32_t)a;
    x->unit[a] = (uint32_t)u;
    x->count[u] = count;
    x->cost[u] = (uint32_t)trl_attribute_cost(x->f, a);
    x->row[u] = row;
}

static bool list_units(finder *x, bool extra)
{
    const trl_family *f = x->f;
    const size_t sparse = f->n_warm - f->n_dense, most = f->n_hot + (extra ? sparse : 0);
    uint64_t *count = count_sparse(x);
    x->unit = trl_alloc(f->n_attrs, sizeof *x->unit);
    x->attr = trl_alloc(most, sizeof *x->attr);
    x->count = trl_alloc(most, sizeof *x->count);
    x->cost = trl_alloc(most, sizeof *x->cost);
    x->row = trl_alloc(most, sizeof *x->row);
    x->slot = trl_alloc(most, sizeof *x->slot);
    const bool good = count && x->unit && x->attr && x->count && x->cost && x->row && x->slot;
    for (size_t a = 0; good && a < f->n_attrs; a++)
        x->unit[a] = NONE;
    for (size_t a = 0; good && a < f->n_hot; a++)
        add_unit(x, a, 0, (uint32_t)a);
    for (uint64_t r = 0; good && r < f->dense_begin[x->d->n_tokens]; r++)
        if (f->dense_row[r] < f->n_hot)
            x->count[f->dense_row[r]]++;
    for (size_t a = f->n_dense; good && extra && a < f->n_warm; a++)
        if (count[f->entry_first[a - f->n_dense]] >= FREQUENT)
            add_unit(x, a, count[f->entry_first[a - f->n_dense]], NONE);
    trl_free(count);
    return good;
}

static bool number_slots(finder *x, const trl_strtab *names)
{
    if (!trl_attribute_slots_init(&x->s, x->d, names, x->attr, x->n_units))
        return false;
    for (size_t u = 0; u < x->n_units; u++)
        x->slot[u] = x->s.slot[x->attr[u]];
    for (size_t a = 0; a < x->f->n_attrs; a++)
        if (x->s.slot[a] < SLOTS)
            x->size[x->s.slot[a]]++;
    return true;
}

/* ---- implications ---------------------------------------------------------------------------- */

static size_t meet(finder *x, uint32_t u, uint32_t on[SLOTS], uint32_t *list, size_t n)
{
    const uint8_t s = x->slot[u];
    if (s >= SLOTS)
        return n;
    if (on[s] != NONE) {
        x->bad[s] = true;
        return n;
    }
    on[s] = u;
    list[n] = u;
    return n + 1;
}

/* The units on at a token, by slot, and their list; returns how many. */
static size_t at_token(finder *x, size_t tok, uint32_t on[SLOTS], uint32_t list[SLOTS])
{
    size_t n = 0;
    for (size_t s = 0; s < SLOTS; s++)
        on[s] = NONE;
    for (trl_token_attributes k = trl_attributes_at(&x->s, tok); trl_attributes_next(&x->s, &k);)
        if (x->unit[k.attr] != NONE)
            n = meet(x, x->unit[k.attr], on, list, n);
    return n;
}

static bool find_implied(finder *x)
{
    x->implied = trl_alloc(x->n_units, SLOTS * sizeof *x->implied);
    for (size_t i = 0; x->implied && i < x->n_units * SLOTS; i++)
        x->implied[i] = UNSET;
    for (size_t t = 0; x->implied && t < x->d->n_tokens; t++) {
        uint32_t on[SLOTS], list[SLOTS];
        const size_t n = at_token(x, t, on, list);
        for (size_t i = 0; i < n; i++) {
            uint32_t *have = x->implied + (size_t)list[i] * SLOTS;
            for (size_t s = 0; s < SLOTS; s++)
                have[s] = have[s] == UNSET || have[s] == on[s] ? on[s] : MANY;
        }
    }
    return x->implied;
}

static bool may_imply(const finder *x, size_t c, size_t p)
{
    return c != p && !x->bad[c] && !x->bad[p] && x->size[p] > x->size[c];
}

/* For every slot the parent that saves most. */
static void choose_parents(finder *x)
{
    uint64_t saved[SLOTS][SLOTS] = {{0}};
    for (size_t u = 0; u < x->n_units; u++)
        for (size_t s = 0; x->slot[u] < SLOTS && s < SLOTS; s++)
            if (x->implied[u * SLOTS + s] < x->n_units)
                saved[s][x->slot[u]] += x->count[u] * x->cost[x->implied[u * SLOTS + s]];
    for (size_t c = 0; c < SLOTS; c++) {
        x->parent[c] = SLOTS;
        uint64_t best = x->d->n_tokens / 10 * trl_row_cost(x->f); /* less is not worth it */
        for (size_t p = 0; p < SLOTS; p++)
            if (may_imply(x, c, p) && saved[c][p] > best) {
                best = saved[c][p];
                x->parent[c] = (uint8_t)p;
            }
    }
}

/* The unit of slot s whose row u's would include, or NONE. */
static uint32_t child_of(const finder *x, size_t u, size_t s)
{
    const uint32_t c = x->implied[u * SLOTS + s];
    return x->slot[u] < SLOTS && x->parent[s] == x->slot[u] && c < x->n_units ? c : NONE;
}

/* ---- rows and pairs -------------------------------------------------------------------------- */

typedef struct ranked {
    size_t rank; /* distinct attributes of the unit's slot: children's slots have fewer */
    uint32_t unit;
} ranked;

static int by_rank(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* Gives u an extra row if that saves anything. */
static void decide_row(finder *x, trl_implied_rows *implied, uint32_t u)
{
    uint64_t without = x->cost[u];
    for (size_t s = 0; s < SLOTS; s++)
        without += child_of(x, u, s) != NONE ? x->cost[child_of(x, u, s)] : 0;
    if (x->row[u] != NONE || without == x->cost[u] || without <= trl_row_cost(x->f))
        return;
    x->row[u] = (uint32_t)implied->n_rows++;
    x->cost[u] = (uint32_t)trl_row_cost(x->f);
}

/* What goes into unit u's row, if it has one. */
static bool fill_row(const finder *x, trl_implied_rows *implied, uint32_t u)
{
    if (x->row[u] == NONE)
        return true;
    bool good =
        x->attr[u] < x->f->n_dense || trl_implied_add_entries(implied, x->f, x->row[u], x->attr[u]);
    for (size_t s = 0; good && s < SLOTS; s++) {
        const uint32_t c = child_of(x, u, s);
        if (c != NONE)
            good = x->row[c] == NONE ? trl_implied_add_entries(implied, x->f, x->row[u], x->attr[c])
                                     : trl_implied_add_row(implied, x->row[u], x->row[c]);
    }
    return good;
}

static bool list_pairs(finder *x, trl_implied_rows *implied)
{
    ranked *list = trl_alloc(x->n_units, sizeof *list);
    bool good = list;
    for (size_t u = 0; good && u < x->n_units; u++)
        list[u] = (ranked){x->slot[u] < SLOTS ? x->size[x->slot[u]] : 0, (uint32_t)u};
    if (good)
        qsort(list, x->n_units, sizeof *list, by_rank);
    for (size_t i = 0; good && i < x->n_units; i++) {
        decide_row(x, implied, list[i].unit);
        good = fill_row(x, implied, list[i].unit);
    }
    trl_free(list);
    return good;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Is unit u added through its parent at a token where `on` is on? */
static bool is_implied(const finder *x, uint32_t u, const uint32_t on[SLOTS])
{
    const uint8_t s = x->slot[u];
    if (s >= SLOTS || x->parent[s] >= SLOTS)
        return false;
    const uint32_t p = on[x->parent[s]];
    return p < x->n_units && x->row[p] != NONE && x->implied[(size_t)p * SLOTS + s] == u;
}

/* The units of a token, in the order of their slots. */
typedef struct listed_units {
    const uint32_t *list;
    size_t n;
} listed_units;

static uint64_t shorten_rows(const finder *x, trl_implied_rows *implied, size_t t,
                             const uint32_t on[SLOTS], const listed_units *l, uint64_t at)
{
    const trl_family *f = x->f;
    const uint32_t extra = (uint32_t)(implied->n_rows - f->n_hot);
    uint64_t r = f->dense_begin[t];
    for (; r < f->dense_begin[t + 1] && f->dense_row[r] < f->n_hot; r++)
        if (!is_implied(x, f->dense_row[r], on))
            implied->row[at++] = f->dense_row[r];
    for (size_t i = 0; i < l->n; i++)
        if (l->list[i] >= f->n_hot && x->row[l->list[i]] != NONE && !is_implied(x, l->list[i], on))
            implied->row[at++] = x->row[l->list[i]];
    for (; r < f->dense_begin[t + 1]; r++)
        implied->row[at++] = f->dense_row[r] + extra;
    return at;
}

static uint64_t shorten_entries(const finder *x, trl_implied_rows *implied, size_t t,
                                const uint32_t on[SLOTS], uint64_t at)
{
    const trl_family *f = x->f;
    for (uint64_t e = f->entry_begin[t]; e < f->entry_begin[t + 1]; e++) {
        bool first;
        const uint32_t u = x->unit[trl_entry_attribute(&x->s, &f->entry[e], &first)];
        if (u == NONE || (x->row[u] == NONE && !is_implied(x, u, on)))
            implied->packed[at++] =
                (uint32_t)((f->entry[e].weight - f->entry_hot_at) << implied->bits) |
                f->entry[e].cell;
    }
    return at;
}

static uint64_t shorten_sparse(const finder *x, trl_implied_rows *implied, size_t t,
                               const uint32_t on[SLOTS], uint64_t at)
{
    const trl_family *f = x->f;
    for (uint64_t i = f->sparse_begin[t]; i < f->sparse_begin[t + 1]; i++) {
        const uint32_t u = x->unit[f->n_dense + f->sparse[i]];
        if (u == NONE || (x->row[u] == NONE && !is_implied(x, u, on)))
            implied->sparse[at++] = f->sparse[i];
    }
    return at;
}

/* Room for the lists: either of attributes, or of entries. */
static bool get_lists(const finder *x, trl_implied_rows *implied)
{
    const trl_family *f = x->f;
    const size_t n = x->d->n_tokens;
    /* an extra row takes the place of an entry, or an attribute, or more */
    const uint64_t *begin = f->sparse_begin ? f->sparse_begin : f->entry_begin;
    uint64_t **own = f->sparse_begin ? &implied->sparse_begin : &implied->entry_begin;
    uint32_t **list = f->sparse_begin ? &implied->sparse : &implied->packed;
    implied->row_begin = trl_alloc(n + 1, sizeof *implied->row_begin);
    implied->row =
        trl_alloc64((size_t)(f->dense_begin[n] + begin[n]) + SLACK, sizeof *implied->row);
    *own = trl_alloc(n + 1, sizeof **own);
    *list = trl_alloc64((size_t)begin[n] + SLACK, sizeof **list);
    return implied->row_begin && implied->row && *own && *list;
}

static bool shorten_lists(finder *x, trl_implied_rows *implied)
{
    const size_t n = x->d->n_tokens;
    uint64_t r = 0, e = 0;
    if (!get_lists(x, implied))
        return false;
    uint64_t *begin = implied->sparse ? implied->sparse_begin : implied->entry_begin;
    uint32_t *list = implied->sparse ? implied->sparse : implied->packed;
    for (size_t t = 0; t < n; t++) {
        implied->row_begin[t] = r;
        begin[t] = e;
        uint32_t on[SLOTS], units[SLOTS];
        const size_t n_units = at_token(x, t, on, units);
        r = shorten_rows(x, implied, t, on, &(listed_units){units, n_units}, r);
        e = implied->sparse ? shorten_sparse(x, implied, t, on, e)
                            : shorten_entries(x, implied, t, on, e);
    }
    implied->row_begin[n] = r;
    begin[n] = e;
    memset(implied->row + r, 0, SLACK * sizeof *implied->row);
    memset(list + e, 0, SLACK * sizeof *list);
    return true;
}

trl_status trl_implied_build(trl_implied_rows *implied, const trl_design *d,
                             const trl_strtab *names, bool extra, trl_error *err)
{
    *implied = (trl_implied_rows){.n_rows = d->family[TRL_NODE].n_hot};
    finder x = {.d = d, .f = &d->family[TRL_NODE]};
    while (x.f->width > (size_t)1 << implied->bits)
        implied->bits++;
    if (x.f->dense_value || x.f->entry_value ||
        (!x.f->sparse && x.f->cold_at - x.f->entry_hot_at > UINT32_MAX >> implied->bits))
        return TRL_OK;
    bool good = list_units(&x, extra) && number_slots(&x, names) && find_implied(&x);
    if (good) {
        choose_parents(&x);
        good = list_pairs(&x, implied);
    }
    if (good && implied->n_pairs + implied->n_entries)
        good = shorten_lists(&x, implied);
    trl_attribute_slots_fini(&x.s);
    trl_free(x.unit);
    trl_free(x.attr);
    trl_free(x.count);
    trl_free(x.cost);
    trl_free(x.row);
    trl_free(x.slot);
    trl_free(x.implied);
    if (!good) {
        trl_implied_fini(implied);
        return trl_fail_mem(err);
    }
    return TRL_OK;
}
