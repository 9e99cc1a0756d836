/* crfsuite_hash.c -- Jenkins' lookup3: three words are mixed with twelve bytes at a time. */
/* SPDX-License-Identifier: MIT */
#include "foreign/crfsuite_hash.h"

static uint32_t rotate(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

/* Up to twelve bytes, little-endian, added to three words. */
static void add(uint32_t v[3], const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i / 4] += (uint32_t)p[i] << (8 * (i % 4));
}

/* v[x] -= v[y]; v[x] ^= v[y] rotated by k; v[y] += v[z] */
static void mix(uint32_t v[3])
{
    static const int turn[] = {4, 6, 8, 16, 19, 4};
    for (int i = 0; i < 6; i++) {
        uint32_t *a = &v[i % 3], *b = &v[(i + 1) % 3], *c = &v[(i + 2) % 3];
        *a -= *c;
        *a ^= rotate(*c, turn[i]);
        *c += *b;
    }
}

static void finish(uint32_t v[3])
{
    static const int turn[] = {14, 11, 25, 16, 4, 14, 24};
    for (int i = 0; i < 7; i++) {
        uint32_t *c = &v[(i + 2) % 3], *b = &v[(i + 1) % 3];
        *c ^= *b;
        *c -= rotate(*b, turn[i]);
    }
}

uint32_t trl_crfsuite_hash(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    const uint32_t seed = 0xdeadbeef + (uint32_t)n;
    uint32_t v[3] = {seed, seed, seed};
    if (n == 0)
        return v[2];
    for (; n > 12; n -= 12, p += 12) {
        add(v, p, 12);
        mix(v);
    }
    add(v, p, n);
    finish(v);
    return v[2];
}
