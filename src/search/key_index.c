/* key_index.c -- feature keys to dense numbers. */
/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "search/span_features.h"

static size_t slot_of(uint64_t key, size_t n_slots)
{
    key ^= key >> 31;
    key *= 0x9e3779b97f4a7c15u;
    return (size_t)(key >> 20) & (n_slots - 1);
}

uint32_t trl_key_index_find(const trl_key_index *x, uint64_t key)
{
    if (!x->n_slots)
        return TRL_NO_ID;
    for (size_t at = slot_of(key, x->n_slots);; at = (at + 1) & (x->n_slots - 1))
        if (x->id[at] == TRL_NO_ID || x->key[at] == key)
            return x->id[at];
}

static void put(trl_key_index *x, uint64_t key, uint32_t id)
{
    size_t at = slot_of(key, x->n_slots);
    while (x->id[at] != TRL_NO_ID)
        at = (at + 1) & (x->n_slots - 1);
    x->key[at] = key;
    x->id[at] = id;
}

static bool grow(trl_key_index *x)
{
    const size_t n = x->n_slots ? 2 * x->n_slots : 1024;
    trl_key_index y = {trl_alloc(n, sizeof *y.key), trl_alloc(n, sizeof *y.id), x->n, n};
    if (!y.key || !y.id) {
        trl_key_index_fini(&y);
        return false;
    }
    for (size_t k = 0; k < n; k++)
        y.id[k] = TRL_NO_ID;
    for (size_t k = 0; k < x->n_slots; k++)
        if (x->id[k] != TRL_NO_ID)
            put(&y, x->key[k], x->id[k]);
    trl_key_index_fini(x);
    *x = y;
    return true;
}

uint32_t trl_key_index_add(trl_key_index *x, uint64_t key, uint32_t next)
{
    const uint32_t found = trl_key_index_find(x, key);
    if (found != TRL_NO_ID)
        return found;
    if (2 * (x->n + 1) > x->n_slots && !grow(x))
        return TRL_NO_ID;
    put(x, key, next);
    x->n++;
    return next;
}

void trl_key_index_fini(trl_key_index *x)
{
    trl_free(x->key);
    trl_free(x->id);
    *x = (trl_key_index){0};
}
