/* strtab.c -- interned byte strings. */
/* SPDX-License-Identifier: MIT */
#include "base/strtab.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

uint64_t trl_str_hash(const char *p, size_t n)
{
    return XXH3_64bits(p, n);
}

/* ---- views ----------------------------------------------------------------------------------- */

static uint64_t view_end(const trl_strview *v, size_t id)
{
    return v->end32 ? v->end32[id] : v->end64[id];
}

trl_str trl_strview_get(const trl_strview *v, uint32_t id)
{
    const uint64_t from = id ? view_end(v, id - 1) : 0;
    return (trl_str){v->pool + from, (size_t)(view_end(v, id) - from)};
}

uint32_t trl_strview_find(const trl_strview *v, const char *p, size_t n, uint64_t hash)
{
    if (v->n_slots == 0)
        return TRL_NO_ID;
    const size_t mask = v->n_slots - 1;
    for (size_t i = 0; i < v->n_slots; i++) { /* bounded: a mapped file may change */
        const uint32_t s = v->slot[((size_t)hash + i) & mask];
        if (s == 0)
            return TRL_NO_ID;
        const trl_str have = trl_strview_get(v, s - 1);
        if (have.n == n && memcmp(have.p, p, n) == 0)
            return s - 1;
    }
    return TRL_NO_ID;
}

bool trl_strview_check(const trl_strview *v, size_t pool_size)
{
    uint64_t at = 0;
    for (size_t i = 0; i < v->n; i++) {
        const uint64_t end = view_end(v, i);
        if (end < at || end > pool_size)
            return false;
        at = end;
    }
    if (v->n_slots == 0)
        return v->n == 0;
    if (v->n_slots <= v->n || (v->n_slots & (v->n_slots - 1)))
        return false;
    size_t used = 0; /* a free slot ends every probe */
    for (size_t k = 0; k < v->n_slots; k++) {
        if (v->slot[k] > v->n)
            return false;
        used += v->slot[k] != 0;
    }
    return used < v->n_slots;
}

/* ---- the growing table ----------------------------------------------------------------------- */

trl_str trl_strtab_get(const trl_strtab *t, uint32_t id)
{
    const uint64_t from = id ? t->end[id - 1] : 0;
    return (trl_str){t->pool + from, (size_t)(t->end[id] - from)};
}

/* The slot of the string, or the free slot where it would go. */
static size_t probe(const trl_strtab *t, const char *p, size_t n, uint64_t hash)
{
    const size_t mask = t->n_slots - 1;
    const uint32_t tag = (uint32_t)(hash >> 32);
    size_t k = (size_t)hash & mask;
    for (; t->slot[k]; k = (k + 1) & mask) {
        if (t->tag[k] != tag)
            continue;
        const trl_str have = trl_strtab_get(t, t->slot[k] - 1);
        if (have.n == n && memcmp(have.p, p, n) == 0)
            break;
    }
    return k;
}

static bool rehash(trl_strtab *t, size_t n_slots)
{
    uint32_t *slot = trl_zalloc(n_slots, sizeof *slot);
    uint32_t *tag = slot ? trl_alloc(n_slots, sizeof *tag) : NULL;
    if (!tag) {
        trl_free(slot);
        return false;
    }
    for (size_t i = 0; i < t->n; i++) {
        const trl_str s = trl_strtab_get(t, (uint32_t)i);
        const uint64_t hash = trl_str_hash(s.p, s.n);
        size_t k = (size_t)hash & (n_slots - 1);
        while (slot[k])
            k = (k + 1) & (n_slots - 1);
        slot[k] = (uint32_t)i + 1;
        tag[k] = (uint32_t)(hash >> 32);
    }
    trl_free(t->slot);
    trl_free(t->tag);
    t->slot = slot;
    t->tag = tag;
    t->n_slots = n_slots;
    return true;
}

uint32_t trl_strtab_find(const trl_strtab *t, const char *p, size_t n)
{
    if (t->n == 0)
        return TRL_NO_ID;
    const uint32_t s = t->slot[probe(t, p, n, trl_str_hash(p, n))];
    return s ? s - 1 : TRL_NO_ID;
}

static bool make_room(trl_strtab *t, size_t n)
{
    size_t slots = t->n_slots ? t->n_slots : 64;
    while (slots - slots / 4 < t->n + n)
        slots *= 2;
    return slots == t->n_slots || rehash(t, slots);
}

/* There is a free slot. */
static uint32_t add_hashed(trl_strtab *t, const char *p, size_t n, uint64_t hash)
{
    const size_t k = probe(t, p, n, hash);
    if (t->slot[k])
        return t->slot[k] - 1;
    if (t->n >= UINT32_MAX - 2)
        return TRL_NO_ID;
    uint64_t *end = trl_reserve(t->end, &t->cap, t->n + 1, sizeof *end);
    if (!end)
        return TRL_NO_ID;
    t->end = end;
    char *pool = trl_reserve(t->pool, &t->pool_cap, t->pool_len + n, 1);
    if (!pool)
        return TRL_NO_ID;
    t->pool = pool;
    if (n)
        memcpy(pool + t->pool_len, p, n);
    t->pool_len += n;
    t->end[t->n] = t->pool_len;
    t->slot[k] = (uint32_t)++t->n;
    t->tag[k] = (uint32_t)(hash >> 32);
    return (uint32_t)t->n - 1;
}

uint32_t trl_strtab_add(trl_strtab *t, const char *p, size_t n)
{
    return make_room(t, 1) ? add_hashed(t, p, n, trl_str_hash(p, n)) : TRL_NO_ID;
}

bool trl_strtab_add_many(trl_strtab *t, const trl_str *s, size_t n, uint32_t *id)
{
    uint64_t hash[TRL_STRTAB_MANY];
    if (!make_room(t, n))
        return false;
    const size_t mask = t->n_slots - 1;
    for (size_t i = 0; i < n; i++) {
        hash[i] = trl_str_hash(s[i].p, s[i].n);
        __builtin_prefetch(&t->slot[hash[i] & mask]);
        __builtin_prefetch(&t->tag[hash[i] & mask]);
    }
    for (size_t i = 0; i < n; i++) { /* where the string ends, if it is the first one probed */
        id[i] = t->slot[hash[i] & mask];
        if (id[i])
            __builtin_prefetch(&t->end[id[i] - 1]);
    }
    for (size_t i = 0; i < n; i++) /* and the string itself */
        if (id[i] && t->end[id[i] - 1])
            __builtin_prefetch(t->pool + (t->end[id[i] - 1] - 1));
    for (size_t i = 0; i < n; i++) {
        id[i] = add_hashed(t, s[i].p, s[i].n, hash[i]);
        if (id[i] == TRL_NO_ID)
            return false;
    }
    return true;
}

bool trl_strtab_select(trl_strtab *t, const uint32_t *old, size_t n)
{
    trl_strtab out = {0};
    size_t bytes = 0, slots = 64;
    for (size_t i = 0; i < n; i++)
        bytes += trl_strtab_get(t, old[i]).n;
    while (slots - slots / 4 <= n)
        slots *= 2;
    out.pool = trl_reserve(NULL, &out.pool_cap, bytes, 1);
    out.end = out.pool ? trl_alloc(n, sizeof *out.end) : NULL;
    if (!out.end)
        goto fail;
    out.cap = n;
    for (size_t i = 0; i < n; i++) {
        const trl_str s = trl_strtab_get(t, old[i]);
        if (s.n)
            memcpy(out.pool + out.pool_len, s.p, s.n);
        out.end[i] = out.pool_len += s.n;
    }
    out.n = n;
    if (!rehash(&out, slots))
        goto fail;
    trl_strtab_fini(t);
    *t = out;
    return true;
fail:
    trl_strtab_fini(&out);
    return false;
}

trl_strview trl_strtab_view(const trl_strtab *t)
{
    return (trl_strview){
        .n = t->n, .pool = t->pool, .end64 = t->end, .slot = t->slot, .n_slots = t->n_slots};
}

void trl_strtab_fini(trl_strtab *t)
{
    trl_free(t->pool);
    trl_free(t->end);
    trl_free(t->slot);
    trl_free(t->tag);
    *t = (trl_strtab){0};
}
