/* data.c -- rows and columns of examples: building, answers, release. */
/* SPDX-License-Identifier: MIT */
#include "boost/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

#define BLOCK ((size_t)1 << 18)

/* ---- raw rows -------------------------------------------------------------------------------- */

bool trl_boost_raw_id(trl_boost_raw *r, uint32_t id)
{
    if (r->n_blocks == 0 || r->used == BLOCK) {
        uint32_t **grown = trl_reserve(r->block, &r->block_cap, r->n_blocks + 1, sizeof *r->block);
        if (!grown)
            return false;
        r->block = grown;
        r->block[r->n_blocks] = trl_store_get(r->store, BLOCK * sizeof(uint32_t));
        if (!r->block[r->n_blocks])
            return false;
        r->n_blocks++;
        r->used = 0;
    }
    r->block[r->n_blocks - 1][r->used++] = id;
    return true;
}

bool trl_boost_raw_row(trl_boost_raw *r)
{
    uint64_t *grown = trl_reserve(r->row_end, &r->row_cap, r->n + 1, sizeof *r->row_end);
    if (!grown)
        return false;
    r->row_end = grown;
    r->row_end[r->n++] = r->n_blocks ? (r->n_blocks - 1) * BLOCK + r->used : 0;
    return true;
}

void trl_boost_raw_fini(trl_boost_raw *r)
{
    trl_store_free(r->store);
    trl_free(r->block);
    trl_free(r->row_end);
    *r = (trl_boost_raw){0};
}

trl_status trl_boost_no_room(const trl_store *s, trl_error *err)
{
    if (!trl_store_file_full(s))
        return trl_fail_mem(err);
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    trl_fail(err, TRL_EIO, "no room for the examples: neither in memory nor in a temporary file");
    trl_fail_where(err, TRL_EIO, folder, 0, 0);
    return trl_fail_hint(err, TRL_EIO, "TMPDIR names the folder of the temporary file");
}

/* ---- rows and columns ------------------------------------------------------------------------ */

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

/* number[old] = new, by falling count; features that never occur come last. */
static trl_status renumber_features(trl_boost_data *d, const trl_boost_raw *raw, size_t F,
                                    uint32_t *number, trl_error *err)
{
    counted *c = trl_zalloc(F + 1, sizeof *c);
    uint32_t *old = trl_alloc(F + 1, sizeof *old);
    trl_status st = c && old ? TRL_OK : trl_fail_mem(err);
    if (st == TRL_OK) {
        const uint64_t total = raw->n ? raw->row_end[raw->n - 1] : 0;
        for (uint64_t k = 0; k < total; k++)
            c[raw->block[k / BLOCK][k % BLOCK]].count++;
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

trl_status trl_boost_build_columns(trl_boost_data *d, trl_error *err)
{
    const uint64_t total = trl_boost_active(d);
    uint64_t *end = d->own_columns = trl_zalloc(d->n_features + 1, sizeof *end);
    if (!end)
        return trl_fail_mem(err);
    uint32_t *example = trl_store_get(d->store, (total + 1) * sizeof *example);
    if (!example)
        return trl_boost_no_room(d->store, err);
    for (uint64_t k = 0; k < total; k++)
        end[d->id[k] + 1]++;
    for (size_t a = 0; a < d->n_features; a++)
        end[a + 1] += end[a];
    for (size_t i = 0; i < d->n; i++)
        for (uint64_t k = trl_boost_begin(d->row_end, i); k < d->row_end[i]; k++)
            example[end[d->id[k]]++] = (uint32_t)i; /* end[a] moves from the beginning to the end */
    d->column_end = end;
    d->example = example;
    return TRL_OK;
}

trl_status trl_boost_build(trl_boost_data *d, trl_boost_raw *raw, size_t n_features, bool renumber,
                           size_t memory, trl_error *err)
{
    const uint64_t total = raw->n ? raw->row_end[raw->n - 1] : 0;
    uint32_t *number = renumber ? trl_alloc(n_features + 1, sizeof *number) : NULL, *id = NULL;
    trl_status st = trl_store_new(memory, &d->store, err);
    if (st == TRL_OK && renumber)
        st = number ? renumber_features(d, raw, n_features, number, err) : trl_fail_mem(err);
    if (st == TRL_OK && !(id = trl_store_get(d->store, (total + 1) * sizeof *id)))
        st = trl_boost_no_room(d->store, err);
    if (st == TRL_OK) {
        for (uint64_t k = 0; k < total; k++) {
            const uint32_t old = raw->block[k / BLOCK][k % BLOCK];
            id[k] = number ? number[old] : old;
        }
        for (size_t i = 0; i < raw->n; i++) {
            const uint64_t begin = trl_boost_begin(raw->row_end, i);
            sort_row(id + begin, raw->row_end[i] - begin, n_features);
        }
        d->row_end = d->own_rows = raw->row_end;
        raw->row_end = NULL;
        d->id = id;
        d->n = raw->n;
        d->n_features = n_features;
    }
    trl_free(number);
    trl_boost_raw_fini(raw); /* before columns need room */
    return st == TRL_OK ? trl_boost_build_columns(d, err) : st;
}

static trl_status copy_rows(trl_boost_raw *raw, const trl_boost_examples *x, trl_error *err)
{
    const size_t *end = x->end;
    const size_t n_features = x->n_features;
    const uint32_t *feature = x->feature;
    uint64_t *seen = trl_zalloc(n_features + 1, sizeof *seen);
    if (!seen)
        return trl_fail_mem(err);
    trl_status st = TRL_OK;
    for (size_t i = 0, k = 0; st == TRL_OK && i < x->n; i++) {
        if (end[i] < k)
            st = trl_fail(err, TRL_EINVAL, "example %zu ends before it begins", i);
        for (; st == TRL_OK && k < end[i]; k++) {
            if (feature[k] >= n_features || seen[feature[k]] == i + 1)
                st = trl_fail(err, TRL_EINVAL, "example %zu: feature %" PRIu32 " is %s", i,
                              feature[k], feature[k] < n_features ? "there twice" : "out of range");
            else if (!trl_boost_raw_id(raw, feature[k]))
                st = trl_boost_no_room(raw->store, err);
            else
                seen[feature[k]] = i + 1;
        }
        if (st == TRL_OK && !trl_boost_raw_row(raw))
            st = trl_fail_mem(err);
    }
    trl_free(seen);
    return st;
}

trl_status trl_boost_data_new(const trl_boost_examples *x, size_t memory, trl_boost_data **out,
                              trl_error *err)
{
    if (!x || !out || (x->n && !x->end) || (x->n && x->end[x->n - 1] && !x->feature))
        return trl_fail_null(err);
    if (x->n == 0 || x->n >= UINT32_MAX || x->n_features >= TRL_BOOST_MAX_FEATURES)
        return trl_fail(err, TRL_EINVAL, "%zu examples of %zu features: too many, or none", x->n,
                        x->n_features);
    trl_boost_data *d = trl_zalloc(1, sizeof *d);
    trl_boost_raw raw = {0};
    trl_status st = d ? trl_store_new(memory, &raw.store, err) : trl_fail_mem(err);
    if (st == TRL_OK)
        st = copy_rows(&raw, x, err);
    if (st == TRL_OK) /* the caller's numbers stay */
        st = trl_boost_build(d, &raw, x->n_features, false, memory, err);
    trl_boost_raw_fini(&raw);
    if (st != TRL_OK) {
        trl_boost_data_free(d);
        return st;
    }
    *out = d;
    return TRL_OK;
}

void trl_boost_data_free(trl_boost_data *d)
{
    if (!d)
        return;
    for (size_t k = 0; k < d->n_answers; k++)
        trl_free(d->answers[k].name);
    trl_free(d->answers);
    trl_strtab_fini(&d->names);
    trl_strtab_fini(&d->classes);
    trl_free(d->class_of);
    trl_free(d->value);
    trl_free(d->own_rows);
    trl_free(d->own_columns);
    trl_store_free(d->store);
    trl_container_free(d->cache);
    trl_free(d);
}

/* ---- answers --------------------------------------------------------------------------------- */

static trl_status add_answers(trl_boost_data *d, trl_str name, trl_boost_answers a, trl_error *err)
{
    trl_boost_answers *grown =
        trl_reserve(d->answers, &d->answers_cap, d->n_answers + 1, sizeof *d->answers);
    if (!grown)
        return trl_fail_mem(err);
    d->answers = grown;
    a.name = trl_strndup(name.p, name.n);
    if (!a.name)
        return trl_fail_mem(err);
    d->answers[d->n_answers++] = a;
    return TRL_OK;
}

trl_status trl_boost_data_answer(trl_boost_data *d, const char *name, const signed char *y,
                                 const double *value, trl_error *err)
{
    if (!d || !name || !y)
        return trl_fail_null(err);
    if (d->class_of)
        return trl_fail(err, TRL_EINVAL, "examples from a file bring their answers along");
    for (size_t i = 0; i < d->n; i++) {
        if (y[i] != 1 && y[i] != -1)
            return trl_fail(err, TRL_EINVAL, "the answer of example %zu is %d, not 1 or -1", i,
                            y[i]);
        if (value && !(value[i] >= 0.0 && isfinite(value[i])))
            return trl_fail(err, TRL_EINVAL, "the value of example %zu is %g", i, value[i]);
    }
    return add_answers(d, (trl_str){name, strlen(name)},
                       (trl_boost_answers){.y = y, .value = value}, err);
}

trl_status trl_boost_data_answer_by(trl_boost_data *d, trl_str name, trl_boost_fill_fn fill,
                                    const void *ctx, trl_error *err)
{
    return add_answers(d, name, (trl_boost_answers){.fill = fill, .ctx = ctx}, err);
}

size_t trl_boost_columns(const trl_boost_data *d)
{
    if (!d->class_of)
        return d->n_answers;
    return d->binary ? 1 : d->classes.n;
}

const char *trl_boost_column_name(const trl_boost_data *d, size_t k, char *scratch, size_t cap)
{
    if (!d->class_of)
        return d->answers[k].name;
    if (d->binary)
        return "+1";
    const trl_str s = trl_strtab_get(&d->classes, (uint32_t)k);
    snprintf(scratch, cap, "%.*s", (int)(s.n < cap ? s.n : cap - 1), s.p);
    return scratch;
}

void trl_boost_fill(const trl_boost_data *d, size_t k, double *v)
{
    const uint32_t positive = d->binary ? 1 : (uint32_t)k;
    if (d->class_of) {
        for (size_t i = 0; i < d->n; i++)
            v[i] = d->class_of[i] == TRL_NO_ID  ? 0.0
                   : d->class_of[i] == positive ? d->value[i]
                                                : -d->value[i];
        return;
    }
    const trl_boost_answers *a = &d->answers[k];
    if (a->fill) {
        a->fill(a->ctx, k, v);
        return;
    }
    for (size_t i = 0; i < d->n; i++)
        v[i] = a->y[i] * (a->value ? a->value[i] : 1.0);
}

trl_str trl_boost_feature_name(const trl_boost_data *d, uint32_t a, char *scratch)
{
    const trl_boost_data *named = d->like ? d->like : d;
    if (named->named)
        return trl_strtab_get(&named->names, a);
    return (trl_str){scratch, (size_t)snprintf(scratch, 24, "%" PRIu32, a)};
}

trl_boost_data_info trl_boost_data_get_info(const trl_boost_data *d)
{
    if (!d)
        return (trl_boost_data_info){0};
    size_t in_file;
    const size_t bytes = trl_store_bytes(d->store, &in_file);
    return (trl_boost_data_info){.examples = d->n,
                                 .features = d->n_features,
                                 .classifiers = trl_boost_columns(d),
                                 .active = trl_boost_active(d),
                                 .bytes = bytes,
                                 .in_file = in_file};
}
