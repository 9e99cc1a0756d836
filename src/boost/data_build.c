/* data_build.c -- rows as they came in to rows and columns; parts of them by a thread each. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "boost/data.h"

/* One set of examples while it is built. */
typedef struct build {
    trl_boost_data *d;
    const trl_boost_rows *x;
    uint32_t **number; /* [x->n][ids], or NULL: their counts, then the numbers of features */
    uint64_t *row;     /* [x->n] rows before those of a part */
    uint64_t *active;  /* [x->n] ids of them */
    uint32_t *id;      /* of all rows */
    uint64_t *row_end;
} build;

static size_t n_ids(const build *b, size_t part)
{
    return b->x->raw[part].feature ? b->x->raw[part].n_ids : b->x->n_features;
}

static uint32_t feature_of(const build *b, size_t part, size_t id)
{
    const uint32_t *feature = b->x->raw[part].feature;
    return feature ? feature[id] : (uint32_t)id;
}

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct counted {
    uint32_t count, id;
} counted;

static int by_count(const void *pa, const void *pb)
{
    const counted *a = pa, *b = pb;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_id(const void *pa, const void *pb)
{
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return a < b ? -1 : a > b;
}

static trl_status run_count(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const build *b = ctx;
    const trl_boost_raw *raw = &b->x->raw[part];
    const uint64_t total = trl_boost_begin(raw->row_end, raw->n);
    for (uint64_t k = 0; k < total; k++)
        b->number[part][trl_boost_raw_at(raw, k)]++;
    return TRL_OK;
}

/* number[feature] = new, by falling count; features that never occur come last. */
static trl_status sort_features(build *b, uint32_t *number, trl_error *err)
{
    const size_t F = b->x->n_features;
    trl_boost_data *d = b->d;
    counted *c = trl_zalloc(F + 1, sizeof *c);
    uint32_t *old = trl_alloc(F + 1, sizeof *old);
    trl_status st = c && old ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        for (size_t part = 0; part < b->x->n; part++)
            for (size_t k = 0; k < n_ids(b, part); k++)
                c[feature_of(b, part, k)].count += b->number[part][k];
        for (size_t a = 0; a < F; a++)
            c[a].id = (uint32_t)a;
        qsort(c, F, sizeof *c, by_count);
        for (size_t a = 0; a < F; a++) {
            old[a] = c[a].id;
            number[c[a].id] = (uint32_t)a;
        }
        if (d->named && !trl_strtab_select(&d->names, old, F))
            st = trl_fail_mem(err);
    }
    trl_free(c);
    trl_free(old);
    return st;
}

static trl_status number_features(build *b, trl_error *err)
{
    uint32_t *number = trl_alloc(b->x->n_features + 1, sizeof *number);
    trl_status st = number ? TRL_OK : trl_fail_mem(err);
    for (size_t part = 0; st == TRL_OK && part < b->x->n; part++)
        if (!(b->number[part] = trl_zalloc(n_ids(b, part) + 1, sizeof **b->number)))
            st = trl_fail_mem(err);
    if (st == TRL_OK) {
        trl_pool_run_all(b->x->pool, b->x->n, run_count, b);
        st = sort_features(b, number, err);
    }
    for (size_t part = 0; st == TRL_OK && part < b->x->n; part++)
        for (size_t k = 0; k < n_ids(b, part); k++)
            b->number[part][k] = number[feature_of(b, part, k)];
    trl_free(number);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define DIGITS 256 /* of a pass of sort_row */
#define SHORT 24   /* rows that are sorted by insertion */

static void insert_all(uint32_t *id, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t x = id[i];
        size_t k = i;
        for (; k > 0 && id[k - 1] > x; k--)
            id[k] = id[k - 1];
        id[k] = x;
    }
}

/* One pass by a digit: from -> to, stable. */
static void sort_digit(const uint32_t *from, uint32_t *to, size_t n, unsigned shift)
{
    uint32_t at[DIGITS + 1] = {0};
    for (size_t k = 0; k < n; k++)
        at[(from[k] >> shift) % DIGITS + 1]++;
    for (size_t d = 1; d < DIGITS; d++)
        at[d] += at[d - 1];
    for (size_t k = 0; k < n; k++)
        to[at[(from[k] >> shift) % DIGITS]++] = from[k];
}

/* Ascending, by digits of 8 bits as far as ids below n_features have them. */
static void sort_row(uint32_t *id, size_t n, size_t n_features)
{
    uint32_t other[1024], *from = id, *to = other;
    if (n <= SHORT) {
        insert_all(id, n);
        return;
    }
    if (n > sizeof other / sizeof *other) {
        qsort(id, n, sizeof *id, by_id);
        return;
    }
    for (unsigned shift = 0; shift < 32 && (n_features - 1) >> shift; shift += 8) {
        sort_digit(from, to, n, shift);
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != id)
        memcpy(id, from, n * sizeof *id);
}

static trl_status run_rows(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const build *b = ctx;
    const trl_boost_raw *raw = &b->x->raw[part];
    const uint32_t *number = b->number[part];
    uint32_t *id = b->id + b->active[part];
    uint64_t *end = b->row_end + b->row[part];
    uint64_t k = 0;
    for (size_t i = 0; i < raw->n; i++) {
        const uint64_t begin = k;
        for (; k < raw->row_end[i]; k++) {
            const uint32_t old = trl_boost_raw_at(raw, k);
            id[k] = number ? number[old] : old;
        }
        sort_row(id + begin, k - begin, b->x->n_features);
        end[i] = b->active[part] + k;
    }
    return TRL_OK;
}

/* Where the rows of each part go. */
static trl_status place_parts(build *b, trl_error *err)
{
    uint64_t rows = 0, active = 0;
    for (size_t part = 0; part < b->x->n; part++) {
        const trl_boost_raw *raw = &b->x->raw[part];
        b->row[part] = rows;
        b->active[part] = active;
        rows += raw->n;
        active += trl_boost_begin(raw->row_end, raw->n);
    }
    b->d->n = rows;
    b->d->n_features = b->x->n_features;
    b->d->row_end = b->row_end = b->d->own_rows = trl_alloc(rows + 1, sizeof *b->row_end);
    if (!b->row_end)
        return trl_fail_mem(err);
    b->d->id = b->id = trl_store_get(b->d->store, (active + 1) * sizeof *b->id);
    return b->id ? TRL_OK : trl_boost_no_room(b->d->store, err);
}

static trl_status build_rows(build *b, trl_error *err)
{
    const size_t n = b->x->n;
    trl_status st = trl_store_new(b->x->memory, &b->d->store, err);
    if (st != TRL_OK)
        return st;
    b->number = trl_zalloc(n, sizeof *b->number);
    b->row = trl_alloc(n, sizeof *b->row);
    b->active = trl_alloc(n, sizeof *b->active);
    st = b->number && b->row && b->active ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK && b->x->renumber)
        st = number_features(b, err);
    if (st == TRL_OK)
        st = place_parts(b, err);
    if (st == TRL_OK)
        trl_pool_run_all(b->x->pool, n, run_rows, b);
    for (size_t part = 0; part < n && b->number; part++)
        trl_free(b->number[part]);
    trl_free(b->number);
    trl_free(b->row);
    trl_free(b->active);
    return st;
}

trl_status trl_boost_build(trl_boost_data *d, const trl_boost_rows *x, trl_error *err)
{
    build b = {.d = d, .x = x};
    const trl_status st = build_rows(&b, err);
    for (size_t part = 0; part < x->n; part++)
        trl_boost_raw_fini(&x->raw[part]); /* before columns need room */
    return st == TRL_OK ? trl_boost_build_columns(d, x->pool, err) : st;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Examples in parts.  at(part)[a]: how many of its examples have feature a, then where the next of
 * them goes; of the last part that ends where the column does. */
typedef struct column_build {
    const trl_boost_data *d;
    size_t parts;
    uint64_t *side; /* [parts - 1][features] */
    uint64_t *end;  /* [features] of the last part */
    uint32_t *example;
} column_build;

static uint64_t *at_part(const column_build *c, size_t part)
{
    return part + 1 < c->parts ? c->side + part * c->d->n_features : c->end;
}

static size_t part_begin(const column_build *c, size_t part)
{
    return part < c->parts ? c->d->n / c->parts * part : c->d->n;
}

static trl_status run_count_column(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const column_build *c = ctx;
    const trl_boost_data *d = c->d;
    uint64_t *at = at_part(c, part);
    const uint64_t begin = trl_boost_begin(d->row_end, part_begin(c, part));
    const uint64_t end = trl_boost_begin(d->row_end, part_begin(c, part + 1));
    for (uint64_t k = begin; k < end; k++)
        at[d->id[k]]++;
    return TRL_OK;
}

static trl_status run_fill_column(void *ctx, size_t part, size_t worker, trl_error *err)
{
    (void)worker;
    (void)err;
    const column_build *c = ctx;
    const trl_boost_data *d = c->d;
    uint64_t *at = at_part(c, part);
    for (size_t i = part_begin(c, part); i < part_begin(c, part + 1); i++)
        for (uint64_t k = trl_boost_begin(d->row_end, i); k < d->row_end[i]; k++)
            c->example[at[d->id[k]]++] = (uint32_t)i;
    return TRL_OK;
}

/* From numbers of examples to where the first of them goes. */
static void place_columns(const column_build *c)
{
    uint64_t to = 0;
    for (size_t a = 0; a < c->d->n_features; a++)
        for (size_t part = 0; part < c->parts; part++) {
            uint64_t *at = at_part(c, part) + a;
            const uint64_t n = *at;
            *at = to;
            to += n;
        }
}

trl_status trl_boost_build_columns(trl_boost_data *d, trl_pool *pool, trl_error *err)
{
    const uint64_t total = trl_boost_active(d);
    const size_t F = d->n_features;
    column_build c = {.d = d, .parts = pool ? trl_pool_threads(pool) : 1};
    if (c.parts > d->n || c.parts * F > total)
        c.parts = 1; /* not worth counting */
    c.end = d->own_columns = trl_zalloc(F + 1, sizeof *c.end);
    c.side = trl_zalloc((c.parts - 1) * F + 1, sizeof *c.side);
    c.example = trl_store_get(d->store, (total + 1) * sizeof *c.example);
    trl_status st = TRL_OK;
    if (!c.end || !c.side)
        st = trl_fail_mem(err);
    else if (!c.example)
        st = trl_boost_no_room(d->store, err);
    if (st == TRL_OK) {
        trl_pool_run_all(pool, c.parts, run_count_column, &c);
        place_columns(&c);
        trl_pool_run_all(pool, c.parts, run_fill_column, &c);
        d->column_end = c.end;
        d->example = c.example;
    }
    trl_free(c.side);
    return st;
}
