/* random_chain.h -- random chains and their enumeration: the oracle of test_chain and
 * test_decode.
 *
 * Cells that no function may look at (pads, the pair row of the first position, the triple
 * rows of the first two) hold NaN or numbers that would win or lose every comparison.  The
 * oracle has its own indexing and works in long double.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_RANDOM_CHAIN_H
#define TRL_TEST_RANDOM_CHAIN_H

#include "base/rng.h"
#include "chain/chain.h"
#include "num/simd.h"

typedef struct chain_shape {
    size_t T, L;
    int order;
    bool shared, edge_rows, tri_rows; /* which scores there are, besides the nodes' */
    double scale;                     /* scores are uniform in +-scale / 2 ... */
    double forbid;                    /* ... or, with this probability, -inf */
} chain_shape;

typedef struct random_chain {
    chain_shape shape;
    trl_tables s;
    trl_chain c; /* prepared */
} random_chain;

static inline double random_score(trl_rng *rng, const chain_shape *h)
{
    const bool forbidden = trl_rng_unit(rng) < h->forbid;
    const double x = h->scale * (trl_rng_unit(rng) - 0.5);
    return forbidden ? -HUGE_VAL : x;
}

/* [T][step] rows, valid from position `first` on. */
static inline double *random_rows(trl_rng *rng, const chain_shape *h, size_t width, size_t first,
                                  size_t step)
{
    const double unused[3] = {nan(""), 1e9, -1e9};
    double *x = malloc(h->T * step * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < h->T * step; k++)
        x[k] = k / step >= first && k % step < width ? random_score(rng, h) : unused[k % 3];
    return x;
}

static inline double *random_table(trl_rng *rng, const chain_shape *h, size_t width)
{
    double *x = malloc(width * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < width; k++)
        x[k] = random_score(rng, h);
    return x;
}

static inline void random_chain_make(trl_rng *rng, chain_shape h, random_chain *r)
{
    trl_error err;
    const size_t L = h.L, L2 = L * L, L3 = L2 * L;
    *r = (random_chain){.shape = h, .s = {.n = h.T}};
    r->s.step[TRL_NODE] = trl_padded(L);
    r->s.step[TRL_EDGE] = trl_padded(L2);
    r->s.step[TRL_TRI] = trl_padded(L3);
    r->s.row[TRL_NODE] = random_rows(rng, &h, L, 0, r->s.step[TRL_NODE]);
    if (h.edge_rows)
        r->s.row[TRL_EDGE] = random_rows(rng, &h, L2, 1, r->s.step[TRL_EDGE]);
    if (h.tri_rows && h.order == 2)
        r->s.row[TRL_TRI] = random_rows(rng, &h, L3, 2, r->s.step[TRL_TRI]);
    if (h.shared) {
        r->s.shared[TRL_EDGE] = random_table(rng, &h, L2);
        if (h.order == 2)
            r->s.shared[TRL_TRI] = random_table(rng, &h, L3);
    }
    assert_ok(trl_chain_init(&r->c, L, h.order, &err));
    assert_ok(trl_chain_prepare(&r->c, &r->s, &err));
}

static inline void random_chain_fini(random_chain *r)
{
    for (int f = 0; f < TRL_FAMILIES; f++) {
        free(r->s.row[f]);
        free(r->s.shared[f]);
    }
    trl_chain_fini(&r->c);
}

/* A small chain: T 1..5, L 1..4, anything else drawn too. */
static inline chain_shape random_shape(trl_rng *rng)
{
    static const double scale[] = {0.1, 1.0, 8.0, 30.0, 120.0, 200.0, 280.0, 400.0, 550.0, 2000.0};
    chain_shape h = {.T = 1 + trl_rng_below(rng, 5), .L = 1 + trl_rng_below(rng, 4)};
    h.order = 1 + (int)trl_rng_below(rng, 2);
    h.shared = trl_rng_below(rng, 4) != 0;
    h.edge_rows = trl_rng_below(rng, 2) != 0;
    h.tri_rows = trl_rng_below(rng, 3) == 0;
    h.scale = scale[trl_rng_below(rng, sizeof scale / sizeof *scale)];
    h.forbid = trl_rng_below(rng, 3) == 0 ? 0.15 : 0.0;
    return h;
}

/* Labelling number k of L^T; the latest position varies slowest, so that the numbers are in
 * the order in which ties are broken: lowest label at the latest position first. */
static inline void labelling(const chain_shape *h, size_t k, uint32_t *y)
{
    for (size_t t = 0; t < h->T; t++, k /= h->L)
        y[t] = (uint32_t)(k % h->L);
}

static inline size_t labellings(const chain_shape *h)
{
    size_t n = 1;
    for (size_t t = 0; t < h->T; t++)
        n *= h->L;
    return n;
}

static inline long double family_score(const random_chain *r, int f, size_t t, size_t cell)
{
    long double x = r->s.shared[f] ? (long double)r->s.shared[f][cell] : 0.0L;
    if (r->s.row[f])
        x += (long double)r->s.row[f][t * r->s.step[f] + cell];
    return x;
}

static inline long double score_of(const random_chain *r, const uint32_t *y)
{
    const size_t L = r->shape.L;
    long double x = 0.0L;
    for (size_t t = 0; t < r->shape.T; t++)
        x += family_score(r, TRL_NODE, t, y[t]);
    for (size_t t = 1; t < r->shape.T; t++)
        x += family_score(r, TRL_EDGE, t, L * y[t - 1] + y[t]);
    for (size_t t = 2; r->shape.order == 2 && t < r->shape.T; t++)
        x += family_score(r, TRL_TRI, t, L * L * y[t - 2] + L * y[t - 1] + y[t]);
    return x;
}

#endif
