/* tree_index.h -- features of tree models by key, and their numbers.
 *
 * A key is the feature itself, packed: family (8 bits), class of the tree part (20), the
 * observations (36: one in full, two with 18 bits each, three with 12; more bits are hashed in).
 * Key 0 is not a feature: families count from 1.
 *
 * Open addressing with linear probing.  While training, slots hold dense numbers; in a model file
 * the number is the slot itself, so that one probe finds key and weight.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_INDEX_H
#define TRL_TREE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strtab.h"

typedef struct trl_tree_index {
    const uint64_t *key;    /* [n_slots], 0: free */
    const uint32_t *number; /* [n_slots]; NULL: the slot itself */
    size_t n_slots;         /* a power of two */
    size_t n;               /* features */
    uint64_t *own_key;      /* what _add made */
    uint32_t *own_number;
} trl_tree_index;

static inline uint64_t trl_tree_key(size_t family, uint32_t cls, const uint32_t *seen, size_t n)
{
    static const uint8_t bits[4] = {36, 36, 18, 12};
    uint64_t obs = 0;
    for (size_t k = 0; k < n; k++) {
        uint64_t v = seen[k];
        while (v >> bits[n])
            v = (v & ((1u << bits[n]) - 1)) ^ (v >> bits[n]);
        obs = obs << bits[n] | v;
    }
    return (uint64_t)(family + 1) << 56 | (uint64_t)(cls & 0xfffff) << 36 | obs;
}

static inline size_t trl_tree_hash(uint64_t key)
{
    key ^= key >> 32;
    key *= 0xd6e8feb86659fd93u;
    key ^= key >> 32;
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 16);
}

/* The number of the feature, or TRL_NO_ID. */
static inline uint32_t trl_tree_index_find(const trl_tree_index *x, uint64_t key)
{
    if (x->n_slots == 0)
        return TRL_NO_ID;
    const size_t mask = x->n_slots - 1;
    for (size_t at = trl_tree_hash(key) & mask;; at = (at + 1) & mask) {
        if (x->key[at] == key)
            return x->number ? x->number[at] : (uint32_t)at;
        if (x->key[at] == 0)
            return TRL_NO_ID;
    }
}

/* The number, given to new keys in order.  TRL_NO_ID: out of memory. */
uint32_t trl_tree_index_add(trl_tree_index *x, uint64_t key);
void trl_tree_index_fini(trl_tree_index *x);

#endif
