/* label_tuples.c -- tuples of numbers, each kept once. */
/* SPDX-License-Identifier: MIT */
#include "chain/label_tuples.h"

#include <string.h>

#include "base/mem.h"
#include "base/strtab.h"

#define EMPTY UINT32_MAX

void trl_tuples_init(trl_tuples *t, size_t width)
{
    *t = (trl_tuples){.width = width};
}

void trl_tuples_fini(trl_tuples *t)
{
    trl_free(t->item);
    trl_free(t->slot);
    *t = (trl_tuples){0};
}

void trl_tuples_clear(trl_tuples *t)
{
    t->n = 0;
    if (t->n_slots)
        memset(t->slot, 0xff, t->n_slots * sizeof *t->slot);
}

/* The slot of x: its own, or the empty one where it belongs. */
static uint32_t *find(const trl_tuples *t, const uint32_t *x)
{
    const size_t bytes = t->width * sizeof *x;
    size_t k = (size_t)trl_str_hash((const char *)x, bytes);
    for (;; k++) {
        uint32_t *slot = &t->slot[k & (t->n_slots - 1)];
        if (*slot == EMPTY || memcmp(trl_tuples_at(t, *slot), x, bytes) == 0)
            return slot;
    }
}

static bool grow(trl_tuples *t)
{
    const size_t n = t->n_slots ? 2 * t->n_slots : 64;
    uint32_t *slot = trl_alloc(n, sizeof *slot);
    if (!slot)
        return false;
    memset(slot, 0xff, n * sizeof *slot);
    trl_free(t->slot);
    t->slot = slot;
    t->n_slots = n;
    for (uint32_t k = 0; k < t->n; k++)
        *find(t, trl_tuples_at(t, k)) = k;
    return true;
}

bool trl_tuples_put(trl_tuples *t, const uint32_t *x, uint32_t *number)
{
    if (2 * (t->n + 1) > t->n_slots && !grow(t))
        return false;
    uint32_t *slot = find(t, x);
    if (*slot == EMPTY) {
        uint32_t *item = trl_reserve(t->item, &t->item_cap, (t->n + 1) * t->width, sizeof *t->item);
        if (!item)
            return false;
        t->item = item;
        memcpy(item + t->n * t->width, x, t->width * sizeof *x);
        *slot = (uint32_t)t->n++;
    }
    *number = *slot;
    return true;
}
