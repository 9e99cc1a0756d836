/* rng.h -- xoshiro256** [BV21], seeded by splitmix64: the same stream on every machine.
 *
 * [BV21] Blackman, Vigna. Scrambled linear pseudorandom number generators. TOMS 47(4), 2021.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RNG_H
#define TRL_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct trl_rng {
    uint64_t s[4]; /* the whole state: copy it into a checkpoint to resume */
} trl_rng;

static inline trl_rng trl_rng_seed(uint64_t seed)
{
    trl_rng r;
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        r.s[i] = z ^ (z >> 31);
    }
    return r;
}

static inline uint64_t trl_rng_u64(trl_rng *r)
{
    uint64_t *s = r->s, x = s[1] * 5;
    const uint64_t out = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return out;
}

/* Uniform in [0, 1). */
static inline double trl_rng_unit(trl_rng *r)
{
    return (double)(trl_rng_u64(r) >> 11) * 0x1p-53;
}

/* The upper 64 bits of a b, by halves: no machine of 32 bits has a product of 128. */
static inline uint64_t trl_mul_high(uint64_t a, uint64_t b)
{
    const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    const uint64_t mid = a1 * b0 + (a0 * b0 >> 32), mid2 = a0 * b1 + (mid & UINT32_MAX);
    return a1 * b1 + (mid >> 32) + (mid2 >> 32);
}

/* Uniform in 0 .. n-1, n > 0; the bias, below n / 2^64, does not matter here. */
static inline uint64_t trl_rng_below64(trl_rng *r, uint64_t n)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)trl_rng_u64(r) * n) >> 64);
#else
    return trl_mul_high(trl_rng_u64(r), n);
#endif
}

static inline size_t trl_rng_below(trl_rng *r, size_t n)
{
    return (size_t)trl_rng_below64(r, n);
}

#endif
