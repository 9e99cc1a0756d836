/* generative.c -- counts and probabilities of the generative transducer. */
/* SPDX-License-Identifier: MIT */
#include "translate/generative.h"

#include <math.h>

#include "base/mem.h"

/* ---- counts ---------------------------------------------------------------------------------- */

bool trl_counts_add(trl_counts *c, uint64_t key, uint32_t n)
{
    const uint32_t next = (uint32_t)c->index.n;
    uint64_t *keys = trl_reserve(c->key, &c->key_cap, next + (size_t)1, sizeof *keys);
    c->key = keys ? keys : c->key;
    uint32_t *counts = trl_reserve(c->count, &c->count_cap, next + (size_t)1, sizeof *counts);
    c->count = counts ? counts : c->count;
    const uint32_t at = keys && counts ? trl_key_index_add(&c->index, key, next) : TRL_NO_ID;
    if (at == TRL_NO_ID)
        return false;
    if (at == next) {
        keys[at] = key;
        counts[at] = 0;
    }
    counts[at] += n;
    return true;
}

uint32_t trl_counts_get(const trl_counts *c, uint64_t key)
{
    const uint32_t at = trl_key_index_find(&c->index, key);
    return at == TRL_NO_ID ? 0 : c->count[at];
}

void trl_counts_fini(trl_counts *c)
{
    trl_key_index_fini(&c->index);
    trl_free(c->key);
    trl_free(c->count);
    *c = (trl_counts){0};
}

void trl_generative_fini(trl_generative *g)
{
    trl_counts_fini(&g->base);
    trl_counts_fini(&g->base_total);
    trl_generative_clear(g);
}

void trl_generative_clear(trl_generative *g)
{
    trl_counts_fini(&g->context);
    trl_counts_fini(&g->triple);
    trl_counts_fini(&g->order);
}

/* ---- words ----------------------------------------------------------------------------------- */

static uint64_t join(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

bool trl_generative_add_word(trl_generative *g, uint32_t word, const uint32_t pair[2], uint32_t n)
{
    const uint64_t context = join(word, pair[0]);
    return trl_counts_add(&g->context, context, n) &&
           trl_counts_add(&g->triple, join(trl_key_index_find(&g->context.index, context), pair[1]),
                          n);
}

double trl_generative_word_cost(const trl_generative *g, uint32_t word, uint32_t head,
                                uint32_t target)
{
    const double null = target == TRL_NO_ID ? 0.5 : 0.0;
    const double base = (trl_counts_get(&g->base, join(word, target)) + null) /
                        (trl_counts_get(&g->base_total, word) + 0.5);
    const uint32_t context = trl_key_index_find(&g->context.index, join(word, head));
    if (context == TRL_NO_ID)
        return -log(base);
    const double c = trl_counts_get(&g->triple, join(context, target));
    return -log((c + TRL_BILEXICAL_PRIOR * base) /
                (g->context.count[context] + TRL_BILEXICAL_PRIOR));
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* 20 bits a label: numbers that agree in those share a key. */
static uint64_t order_key(const trl_source *s, size_t node)
{
    const trl_source_node *v = &s->node[node];
    const uint32_t mask = (1u << 20) - 1;
    return ((uint64_t)(v->label & mask) << 40 | (uint64_t)(s->node[v->left].label & mask) << 20 |
            (s->node[v->right].label & mask))
           << 1;
}

bool trl_generative_add_order(trl_generative *g, const trl_source *s, size_t node, bool swapped,
                              uint32_t n)
{
    return trl_counts_add(&g->order, order_key(s, node) | swapped, n);
}

double trl_generative_order_cost(const trl_generative *g, const trl_source *s, size_t node,
                                 bool swapped)
{
    const uint64_t key = order_key(s, node);
    const double this_one = trl_counts_get(&g->order, key | swapped);
    const double other = trl_counts_get(&g->order, key | !swapped);
    return -log((this_one + 1.0) / (this_one + other + 2.0));
}
