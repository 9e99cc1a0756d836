/* token_classes.c -- sorting things into classes by what they have in common. */
/* SPDX-License-Identifier: MIT */
#include "feature/token_classes.h"

#include <string.h>

#include "base/mem.h"

#define SAMPLE 4096 /* things looked at for the choice of the key */

typedef struct table { /* of pairs, and the number each became */
    uint64_t *key;
    uint32_t *value;
} table;

static size_t mask_for(size_t n)
{
    size_t mask = 15;
    while (mask < 2 * n)
        mask = 2 * mask + 1;
    return mask;
}

/* The number of distinct pairs among the first n; with `out`, the pairs' numbers, too. */
static size_t pair_up(table *h, size_t n, const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    const size_t mask = mask_for(n);
    size_t found = 0;
    memset(h->key, 0xff, (mask + 1) * sizeof *h->key);
    for (size_t t = 0; t < n; t++) {
        const uint64_t key = (uint64_t)a[t] << 32 | b[t];
        size_t k = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
        while (h->key[k] != key && h->key[k] != UINT64_MAX)
            k = (k + 1) & mask;
        if (h->key[k] == UINT64_MAX) {
            h->key[k] = key;
            h->value[k] = (uint32_t)found++;
        }
        if (out)
            out[t] = h->value[k];
    }
    return found;
}

/* What slot k, as the key, would save on the sample, by slots that it nearly determines. */
static double settles(const trl_classes *x, table *h, size_t k, size_t n)
{
    const uint32_t *key = x->at + k * x->n;
    const size_t alone = pair_up(h, n, key, key, NULL);
    double saved = 0.0;
    for (size_t s = 0; s < x->n_slots; s++)
        if (!x->bad[s]) {
            const size_t both = s == k ? alone : pair_up(h, n, key, x->at + s * x->n, NULL);
            if ((double)both <= 1.2 * (double)alone)
                saved += (double)x->cost[s] * (1.0 - x->cost_factor * (double)both / (double)n);
        }
    return saved;
}

static size_t choose_key(const trl_classes *x, table *h)
{
    const size_t n = x->n < SAMPLE ? x->n : SAMPLE;
    size_t best = TRL_SLOTS;
    double most = 0.0;
    for (size_t k = 0; k < x->n_slots; k++) {
        const double saved = x->bad[k] ? 0.0 : settles(x, h, k, n);
        if (saved > most) {
            most = saved;
            best = k;
        }
    }
    return best;
}

/* The cost with m classes: that of the classes and the things' own. */
static double cost_with(const trl_classes *x, size_t m)
{
    double shared = 0.0, own = (double)x->other;
    for (size_t s = 0; s < x->n_slots; s++)
        *(x->taken[s] ? &shared : &own) += (double)x->cost[s];
    return own + x->cost_factor * shared * (double)m / (double)x->n;
}

static void take_slots(trl_classes *x, table *h, size_t key, uint32_t *next)
{
    x->taken[key] = true;
    x->n_classes = pair_up(h, x->n, x->at + key * x->n, x->at + key * x->n, x->class);
    for (size_t s = 0; s < x->n_slots; s++) {
        if (s == key || x->bad[s])
            continue;
        const double before = cost_with(x, x->n_classes);
        const size_t m = pair_up(h, x->n, x->class, x->at + s * x->n, next);
        x->taken[s] = true;
        if (cost_with(x, m) < before) {
            x->n_classes = m;
            memcpy(x->class, next, x->n * sizeof *next);
        } else {
            x->taken[s] = false;
        }
    }
}

bool trl_classes_make(trl_classes *x, double *left)
{
    const size_t size = mask_for(x->n) + 1;
    table h = {trl_alloc(size, sizeof *h.key), trl_alloc(size, sizeof *h.value)};
    uint32_t *next = trl_alloc(x->n, sizeof *next);
    x->class = trl_alloc(x->n, sizeof *x->class);
    const bool good = h.key && h.value && next && x->class;
    const double without = cost_with(x, 0);
    const size_t key = good ? choose_key(x, &h) : TRL_SLOTS;
    *left = 1.0;
    if (key < TRL_SLOTS) {
        take_slots(x, &h, key, next);
        *left = cost_with(x, x->n_classes) / without;
    }
    trl_free(h.key);
    trl_free(h.value);
    trl_free(next);
    return good;
}

void trl_classes_fini(trl_classes *x)
{
    trl_free(x->at);
    trl_free(x->class);
    x->at = x->class = NULL;
}
