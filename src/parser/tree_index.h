/* tree_index.h -- features of tree models by key, and their numbers.
 *
 * A key is the feature itself, packed: family (8 bits), class of the tree part (20), the
 * observations (36: one in full, two with 18 bits each, three with 12; more bits are hashed in).
 * Key 0 is not a feature: families count from 1.
 *
 * Open addressing with linear probing.  While training, slots hold dense numbers; in a model file
 * the number is the slot itself, so that one probe finds key and weight.  A shrunk model may have
 * fingerprints in place of keys: 32 other bits of a hash.  No two of its features are taken for
 * each other; one that it does not have is taken for one of its own with a chance of 2^-32 a slot
 * that is looked at.
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
    const uint32_t *print;  /* [n_slots], 0: free; in place of key, which is then NULL */
    uint64_t seed;          /* of print */
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

/* The fingerprint of a key, not 0. */
static inline uint32_t trl_tree_fingerprint(uint64_t key, uint64_t seed)
{
    key = (key ^ seed << 32 ^ seed) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    const uint32_t print = (uint32_t)(key * 0xbf58476d1ce4e5b9u >> 32);
    return print ? print : 1;
}

/* Slots of a model file for n features: at most four fifths are taken. */
static inline size_t trl_tree_slots_for(size_t n)
{
    size_t slots = 1024;
    while (slots * 4 < n * 5)
        slots *= 2;
    return slots;
}

/* Fetches the place where the look-up of a key begins. */
static inline void trl_tree_index_prefetch(const trl_tree_index *x, uint64_t key)
{
    if (x->n_slots == 0)
        return;
    const size_t at = trl_tree_hash(key) & (x->n_slots - 1);
    if (x->print)
        __builtin_prefetch(&x->print[at]);
    else
        __builtin_prefetch(&x->key[at]);
}

static inline uint32_t trl_tree_index_find_print(const trl_tree_index *x, uint64_t key)
{
    const size_t mask = x->n_slots - 1;
    const uint32_t print = trl_tree_fingerprint(key, x->seed);
    for (size_t at = trl_tree_hash(key) & mask;; at = (at + 1) & mask) {
        if (x->print[at] == print)
            return (uint32_t)at;
        if (x->print[at] == 0)
            return TRL_NO_ID;
    }
}

/* The number of the feature, or TRL_NO_ID. */
static inline uint32_t trl_tree_index_find(const trl_tree_index *x, uint64_t key)
{
    if (x->n_slots == 0)
        return TRL_NO_ID;
    if (x->print)
        return trl_tree_index_find_print(x, key);
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
