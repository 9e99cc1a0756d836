/* tag_kernel.c -- looking up attributes in a pipeline and adding their weights. */
/* SPDX-License-Identifier: MIT */
#include "chain/tag_kernel.h"

#include <string.h>

#include "num/simd.h"

#define NO_SLOT SIZE_MAX

/* ---- look-up --------------------------------------------------------------------------------- */

static inline uint64_t load8(const void *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline uint32_t load4(const void *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* Bit 7 of the lowest zero byte of x (and perhaps of bytes above it). */
static inline uint64_t zero_bytes(uint64_t x)
{
    return (x - 0x0101010101010101u) & ~x & 0x8080808080808080u;
}

/* The first slot from `k` on with the tag, before any empty one; NO_SLOT: there is none.  No more
 * steps than there are slots: a mapped file may change while it is read. */
static inline size_t next_slot(const trl_model_family *f, size_t k, uint8_t tag)
{
    const size_t mask = f->names.n_slots - 1;
    for (size_t seen = 0; seen <= mask; seen += 8, k = (k + 8) & mask) {
        const uint64_t tags = load8(f->tag + k); /* 8 more than slots: no wrap inside */
        const uint64_t same = zero_bytes(tags ^ (0x0101010101010101u * tag));
        const uint64_t empty = zero_bytes(tags);
        if ((same & -same) - 1 < (empty & -empty) - 1) /* 0 - 1: none */
            return (k + (size_t)__builtin_ctzll(same) / 8) & mask;
        if (empty)
            return NO_SLOT;
    }
    return NO_SLOT;
}

/* Are n >= 8 bytes the same?  By overlapping words. */
static inline bool same_long(const char *a, const char *b, size_t n)
{
    uint64_t diff = (load8(a) ^ load8(b)) | (load8(a + n - 8) ^ load8(b + n - 8));
    if (n > 16)
        diff |= (load8(a + 8) ^ load8(b + 8)) | (load8(a + n - 16) ^ load8(b + n - 16));
    for (size_t i = 16; i + 16 < n; i += 8)
        diff |= load8(a + i) ^ load8(b + i);
    return diff == 0;
}

/* memcmp is a call; names are short. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
    if (n >= 8)
        return same_long(a, b, n);
    if (n >= 4)
        return ((load4(a) ^ load4(b)) | (load4(a + n - 4) ^ load4(b + n - 4))) == 0;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static inline trl_str name_of(const trl_strview *v, uint32_t id)
{
    const uint64_t to = v->end32 ? v->end32[id] : v->end64[id];
    const uint64_t from = id == 0 ? 0 : v->end32 ? v->end32[id - 1] : v->end64[id - 1];
    return (trl_str){v->pool + from, (size_t)(to - from)};
}

/* The id of a key, given the first slot with its tag. */
static inline uint32_t resolve(const trl_model_family *f, const trl_tag_key *key)
{
    size_t k = key->at;
    for (size_t tries = f->names.n_slots; k != NO_SLOT && tries > 0; tries--) {
        const uint32_t id = f->names.slot[k] - 1;
        const trl_str have = name_of(&f->names, id);
        if (have.n == key->n && same_bytes(have.p, key->p, key->n))
            return id;
        k = next_slot(f, (k + 1) & (f->names.n_slots - 1), trl_name_tag(key->hash));
    }
    return TRL_NO_ID;
}

/* Stages: hash; tag -> slot; slot -> end; end -> name. */
static void fetch_names(const trl_model_family *f, trl_tag_key *key, size_t n)
{
    const trl_strview *v = &f->names;
    const size_t mask = v->n_slots - 1;
    for (size_t i = 0; i < n; i++) {
        key[i].hash = trl_str_hash(key[i].p, key[i].n);
        __builtin_prefetch(&f->tag[key[i].hash & mask]);
    }
    for (size_t i = 0; i < n; i++) {
        key[i].at = next_slot(f, (size_t)key[i].hash & mask, trl_name_tag(key[i].hash));
        if (key[i].at != NO_SLOT)
            __builtin_prefetch(&v->slot[key[i].at]);
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = key[i].at != NO_SLOT ? v->slot[key[i].at] - 1 : 0;
        key[i].id = id;
        if (v->end32)
            __builtin_prefetch(&v->end32[id]);
        else
            __builtin_prefetch(&v->end64[id]);
    }
    for (size_t i = 0; i < n; i++)
        if (key[i].at != NO_SLOT) {
            const trl_str name = name_of(v, key[i].id);
            __builtin_prefetch(name.p);
            __builtin_prefetch(name.p + name.n); /* perhaps on the next line */
        }
}

/* As `locate`, where sums are single or, from attribute n_wide on, weights doubles: weights that
 * are added one by one. */
static inline bool locate_single(const trl_model_family *f, uint32_t id, trl_tag_key *key)
{
    const trl_weight_row row = trl_model_row_from(f, f->narrow_class, id);
    key->first = row.at;
    key->k = row.k;
    if (f->exact)
        __builtin_prefetch(f->exact + row.at);
    else if (f->weight)
        __builtin_prefetch(f->weight + row.at);
    if (row.k < f->width)
        __builtin_prefetch((const char *)f->cell + (row.at - f->n_full) * f->cell_size);
    return row.k > 0;
}

static inline bool locate_exact(const trl_model_family *f, uint32_t id, trl_tag_key *key)
{
    if (id >= f->n_wide)
        return locate_single(f, id, key);
    key->exact = id < f->n_full_attrs ? f->exact + id * f->width
                                      : f->wide_exact + (id - f->n_full_attrs) * f->step;
    for (size_t j = 0; j < f->width; j += 8) /* a line of the cache */
        __builtin_prefetch(key->exact + j);
    return true;
}

/* Finds the weights of an attribute and prefetches them.  False: it has none. */
static inline bool locate(const trl_model_family *f, uint32_t id, trl_tag_key *key)
{
    key->id = id;
    key->k = 0;
    if (f->single)
        return locate_single(f, id, key);
    if (f->exact)
        return locate_exact(f, id, key);
    if (id < f->n_full_attrs) {
        key->weight = f->weight + id * f->width;
    } else if (id < f->n_wide) {
        key->weight = f->wide + (id - f->n_full_attrs) * f->step;
    } else {
        const trl_weight_row row = trl_model_row_from(f, f->narrow_class, id);
        key->at = (size_t)(row.at - f->n_full);
        key->k = row.k;
        if (f->weight) {
            key->weight = f->weight + row.at;
            __builtin_prefetch(key->weight);
        } else {
            key->first = row.at;
            __builtin_prefetch(f->code ? (const char *)(f->code + row.at)
                                       : (const char *)(f->multiple + row.at));
        }
        __builtin_prefetch((const char *)f->cell + key->at * f->cell_size);
        return row.k > 0;
    }
    __builtin_prefetch(key->weight);
    __builtin_prefetch(key->weight + f->width - 1);
    return true;
}

static inline uint32_t number_of(const trl_model_family *f, const trl_tag_key *key)
{
    if (!f->prints.n_buckets)
        return resolve(f, key);
    return key->at == NO_SLOT ? TRL_NO_ID : f->prints.attr[key->at];
}

/* Keeps the keys that the model knows, prefetching their weights; returns their number. */
static size_t find_weights(const trl_model_family *f, trl_tag_key *key, size_t n, size_t *unknown)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = number_of(f, &key[i]);
        if (id == TRL_NO_ID) {
            ++*unknown;
            continue;
        }
        if (id == f->constant) /* is on everywhere already */
            continue;
        trl_tag_key *to = &key[kept];
        to->row = key[i].row;
        to->value = key[i].value;
        kept += locate(f, id, to);
    }
    return kept;
}

/* ---- adding ---------------------------------------------------------------------------------- */

typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));

/* out[0 .. n) += value * w, by eights: reads and writes up to seven elements more. */
TRL_INLINE void add_whole(size_t n, double value, const float *w, double *out)
{
    for (size_t j = 0; j < n; j += 8)
        *(trl_v8 *)(out + j) += value * __builtin_convertvector(*(const f8 *)(w + j), trl_v8);
}

/* Adds weights one by one; `type` is that of a cell. */
#define ADD_CELLS(type)                                                                            \
    do {                                                                                           \
        const type *cell = (const type *)f->cell + key[i].at;                                      \
        for (size_t j = 0; j < key[i].k; j++)                                                      \
            out[cell[j]] += key[i].value * (double)key[i].weight[j];                               \
    } while (0)

/* As the tool that trained the model adds: in the order of the attributes, products rounded before
 * they are added.  Here are no products, so that nothing is fused; the zeros of a spread row change
 * no sum. */
TRL_CLONES static void add_doubles(const trl_model_family *f, const trl_tag_key *key, size_t n,
                                   double *rows)
{
    for (size_t i = 0; i < n; i++) {
        double *out = rows + key[i].row * f->step;
        if (key[i].value != 1.0 || (key[i].k && f->cell_size != 1)) {
            trl_tag_add_exact(f, &key[i], 1, rows);
        } else if (key[i].k) {
            const uint8_t *cell = (const uint8_t *)f->cell + (key[i].first - f->n_full);
            const double *w = f->exact + key[i].first;
            for (size_t j = 0; j < key[i].k; j++)
                out[cell[j]] += w[j];
        } else if (key[i].id >= f->n_full_attrs) {
            for (size_t j = 0; j < f->step; j += TRL_LANES)
                *(trl_v8 *)(out + j) += *(const trl_v8 *)(key[i].exact + j);
        } else {
            for (size_t j = 0; j < f->width; j++)
                out[j] += key[i].exact[j];
        }
    }
}

TRL_CLONES static void add_rows(const trl_model_family *f, const trl_tag_key *key, size_t n,
                                double *rows)
{
    if (f->single) {
        trl_tag_add_exact(f, key, n, rows);
        return;
    }
    if (f->exact) {
        add_doubles(f, key, n, rows);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double *out = rows + key[i].row * f->step;
        const bool in_file = key[i].id < f->n_full_attrs; /* no vector past the end there */
        if (key[i].k == 0 && (!in_file || key[i].id * f->width + f->step <= f->n_weights))
            add_whole(f->step, key[i].value, key[i].weight, out);
        else if (key[i].k == 0)
            for (size_t j = 0; j < f->width; j++)
                out[j] += key[i].value * (double)key[i].weight[j];
        else if (!f->weight)
            trl_tag_add_small(f, &key[i], out);
        else if (f->cell_size == 1)
            ADD_CELLS(uint8_t);
        else if (f->cell_size == 2)
            ADD_CELLS(uint16_t);
        else
            ADD_CELLS(uint32_t);
    }
}

size_t trl_tag_add(const trl_model_family *f, trl_tag_key *key, size_t n, double *rows)
{
    size_t unknown = 0;
    if (f->prints.n_buckets)
        trl_tag_fetch_prints(&f->prints, key, n);
    else
        fetch_names(f, key, n);
    const size_t kept = find_weights(f, key, n, &unknown);
    add_rows(f, key, kept, rows);
    return unknown;
}

size_t trl_tag_add_numbers(const trl_model_family *f, trl_tag_key *key, size_t n, double *rows)
{
    size_t kept = 0, unknown = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t id = key[i].id;
        unknown += id == TRL_NO_ID;
        if (id == TRL_NO_ID || id == f->constant)
            continue;
        trl_tag_key *to = &key[kept];
        to->row = key[i].row;
        to->value = key[i].value;
        kept += locate(f, id, to);
    }
    add_rows(f, key, kept, rows);
    return unknown;
}
