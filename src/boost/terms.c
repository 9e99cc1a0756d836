/* terms.c -- open addressing over sums of hashes; sets that share a sum are distinguished. */
/* SPDX-License-Identifier: MIT */
#include "boost/terms.h"

#include <string.h>

#include "base/mem.h"

static void put(trl_boost_terms *t, size_t k)
{
    size_t at = t->term[k].hash & (t->n_slots - 1);
    while (t->slot[at])
        at = (at + 1) & (t->n_slots - 1);
    t->slot[at] = (uint32_t)k + 1;
}

bool trl_boost_terms_index(trl_boost_terms *t)
{
    size_t n_slots = 64;
    while (n_slots < 2 * (t->n + 1))
        n_slots *= 2;
    uint32_t *slot = trl_zalloc(n_slots, sizeof *slot);
    if (!slot)
        return false;
    trl_free(t->slot);
    t->slot = slot;
    t->n_slots = n_slots;
    for (size_t k = 0; k < t->n; k++)
        put(t, k);
    return true;
}

bool trl_boost_terms_may_have(const trl_boost_terms *t, uint64_t hash)
{
    if (!t->n_slots)
        return false;
    for (size_t at = hash & (t->n_slots - 1); t->slot[at]; at = (at + 1) & (t->n_slots - 1))
        if (t->term[t->slot[at] - 1].hash == hash)
            return true;
    return false;
}

size_t trl_boost_terms_find(const trl_boost_terms *t, uint64_t hash, const uint32_t *literal,
                            size_t n)
{
    if (!t->n_slots)
        return SIZE_MAX;
    for (size_t at = hash & (t->n_slots - 1); t->slot[at]; at = (at + 1) & (t->n_slots - 1)) {
        const trl_boost_term *term = &t->term[t->slot[at] - 1];
        if (term->hash == hash && term->n == n &&
            (n == 0 || memcmp(t->literal + term->begin, literal, n * sizeof *literal) == 0))
            return t->slot[at] - 1;
    }
    return SIZE_MAX;
}

size_t trl_boost_terms_add(trl_boost_terms *t, uint64_t hash, const uint32_t *literal, size_t n)
{
    trl_boost_term *term = trl_reserve(t->term, &t->cap, t->n + 1, sizeof *term);
    if (!term)
        return SIZE_MAX;
    t->term = term;
    uint32_t *all = trl_reserve(t->literal, &t->literal_cap, t->n_literals + n, sizeof *all);
    if (!all)
        return SIZE_MAX;
    t->literal = all;
    if (2 * (t->n + 1) > t->n_slots && !trl_boost_terms_index(t))
        return SIZE_MAX;
    if (n)
        memcpy(all + t->n_literals, literal, n * sizeof *literal);
    term[t->n] = (trl_boost_term){.hash = hash, .begin = t->n_literals, .n = n};
    t->n_literals += n;
    put(t, t->n);
    return t->n++;
}

void trl_boost_terms_fini(trl_boost_terms *t)
{
    trl_free(t->term);
    trl_free(t->literal);
    trl_free(t->slot);
    *t = (trl_boost_terms){0};
}
