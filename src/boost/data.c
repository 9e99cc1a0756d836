/* data.c -- rows of examples from memory, answers, release. */
/* SPDX-License-Identifier: MIT */
#include "boost/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* ---- raw rows -------------------------------------------------------------------------------- */

bool trl_boost_raw_id(trl_boost_raw *r, uint32_t id)
{
    if (r->n_blocks == 0 || r->used == TRL_BOOST_RAW_BLOCK) {
        uint32_t **grown = trl_reserve(r->block, &r->block_cap, r->n_blocks + 1, sizeof *r->block);
        if (!grown)
            return false;
        r->block = grown;
        r->block[r->n_blocks] = trl_store_get(r->store, TRL_BOOST_RAW_BLOCK * sizeof(uint32_t));
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
    r->row_end[r->n++] = r->n_blocks ? (r->n_blocks - 1) * TRL_BOOST_RAW_BLOCK + r->used : 0;
    return true;
}

void trl_boost_raw_fini(trl_boost_raw *r)
{
    trl_store_free(r->store);
    trl_free(r->block);
    trl_free(r->row_end);
    trl_free(r->feature);
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

/* ---- rows from memory -------------------------------------------------------------------------
 */

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
        st = trl_boost_build(
            d,
            &(trl_boost_rows){.raw = &raw, .n = 1, .n_features = x->n_features, .memory = memory},
            err);
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
