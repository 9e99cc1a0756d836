/* model_bytes.h -- any bytes as a model file: magic, size, kind and checksums are put right, so
 * that the checks after them are reached. */
/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_MODEL_BYTES_H
#define TESTS_FUZZ_MODEL_BYTES_H

#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

static inline void put_right(unsigned char *p, size_t n, const char *kind)
{
    const uint64_t size = n;
    uint64_t sum = XXH3_64bits(p + 64, n - 64);
    memcpy(p, "TRELLIS\x1a\1\0\0", 12);
    memcpy(p + 16, &size, 8);
    memcpy(p + 24, &sum, 8);
    memset(p + 32, 0, 32);
    memcpy(p + 40, kind, strlen(kind));
    sum = XXH3_64bits(p, 64);
    memcpy(p + 32, &sum, 8);
}

/* The bytes as a file of *n bytes, to be freed with trl_free; NULL: too few of them, or no memory.
 * `kind` has at most 8 letters. */
static inline unsigned char *model_bytes(const uint8_t *data, size_t size, const char *kind,
                                         size_t *n)
{
    *n = (size + 63) / 64 * 64;
    unsigned char *p = size < 64 ? NULL : trl_alloc64(*n, 1);
    if (!p)
        return NULL;
    memset(p, 0, *n);
    memcpy(p, data, size);
    put_right(p, *n, kind);
    return p;
}

#endif
