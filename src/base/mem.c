/* mem.c -- checked allocation. */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *trl_alloc(uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return malloc(bytes ? bytes : 1);
}

void *trl_zalloc(uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return calloc(bytes ? bytes : 1, 1);
}

void *trl_realloc(void *p, uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return realloc(p, bytes ? bytes : 1);
}

void trl_free(void *p)
{
    free(p);
}

/* Large blocks are given huge pages where the system has them: they are read in no order. */
#define HUGE_PAGE ((size_t)1 << 21)

void *trl_alloc64(uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + 64) & ~(size_t)63;
    if (bytes < 4 * HUGE_PAGE)
        return aligned_alloc(64, bytes);
    bytes = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    void *p = aligned_alloc(HUGE_PAGE, bytes);
#ifdef MADV_HUGEPAGE
    if (p)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* a wish, not a condition */
#endif
    return p;
}

void *trl_reserve(void *p, size_t *cap, uint64_t need, size_t size)
{
    if (p && need <= *cap)
        return p;
    size_t next = *cap < 16 ? 16 : *cap;
    while (next < need) {
        if (next > SIZE_MAX / 2)
            return NULL;
        next *= 2;
    }
    void *q = trl_realloc(p, next, size);
    if (q)
        *cap = next;
    return q;
}

char *trl_strndup(const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? trl_alloc(n + 1, 1) : NULL;
    if (copy) {
        memcpy(copy, s, n);
        copy[n] = '\0';
    }
    return copy;
}
