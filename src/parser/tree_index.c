/* tree_index.c -- building the index. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_index.h"

#include <string.h>

#include "base/mem.h"

static void put(uint64_t *keys, uint32_t *numbers, size_t mask, uint64_t key, uint32_t number)
{
    size_t at = trl_tree_hash(key) & mask;
    while (keys[at])
        at = (at + 1) & mask;
    keys[at] = key;
    numbers[at] = number;
}

static bool grow(trl_tree_index *x)
{
    const size_t slots = x->n_slots ? 2 * x->n_slots : 1024;
    uint64_t *keys = trl_zalloc(slots, sizeof *keys);
    uint32_t *numbers = trl_alloc(slots, sizeof *numbers);
    if (!keys || !numbers) {
        trl_free(keys);
        trl_free(numbers);
        return false;
    }
    for (size_t at = 0; at < x->n_slots; at++)
        if (x->own_key[at])
            put(keys, numbers, slots - 1, x->own_key[at], x->own_number[at]);
    trl_free(x->own_key);
    trl_free(x->own_number);
    x->key = x->own_key = keys;
    x->number = x->own_number = numbers;
    x->n_slots = slots;
    return true;
}

uint32_t trl_tree_index_add(trl_tree_index *x, uint64_t key)
{
    const uint32_t known = trl_tree_index_find(x, key);
    if (known != TRL_NO_ID)
        return known;
    if (2 * (x->n + 1) > x->n_slots && !grow(x))
        return TRL_NO_ID;
    if (x->n >= TRL_NO_ID - 1)
        return TRL_NO_ID;
    put(x->own_key, x->own_number, x->n_slots - 1, key, (uint32_t)x->n);
    return (uint32_t)x->n++;
}

void trl_tree_index_fini(trl_tree_index *x)
{
    trl_free(x->own_key);
    trl_free(x->own_number);
    *x = (trl_tree_index){0};
}
