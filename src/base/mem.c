/* mem.c -- checked allocation. */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/spill.h"

static _Thread_local size_t refused;

size_t trl_refused_bytes(void)
{
    return refused;
}

/* Passes p on, and remembers the request when it is NULL. */
static void *remember(void *p, size_t bytes)
{
    if (!p)
        refused = bytes;
    return p;
}

void *trl_alloc(uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return remember(NULL, 0);
    if (trl_spill_takes(bytes))
        return remember(trl_spill_get(bytes, false), bytes);
    return remember(malloc(bytes ? bytes : 1), bytes);
}

void *trl_zalloc(uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return remember(NULL, 0);
    if (trl_spill_takes(bytes))
        return remember(trl_spill_get(bytes, true), bytes);
    return remember(calloc(bytes ? bytes : 1, 1), bytes);
}

/* What p has, up to `old` bytes, in a new block. */
static void *move(void *p, size_t old, size_t bytes)
{
    void *q = trl_alloc(bytes, 1);
    if (q && old)
        memcpy(q, p, old < bytes ? old : bytes);
    if (q)
        trl_free(p);
    return q;
}

void *trl_realloc(void *p, uint64_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return remember(NULL, 0);
    const size_t old = trl_spill_size(p);
    if (old)
        return move(p, old, bytes);
    return remember(realloc(p, bytes ? bytes : 1), bytes);
}

void trl_free(void *p)
{
    if (!trl_spill_release(p))
        free(p);
}

/* Large blocks get huge pages where the system has them: access to them is random. */
#define HUGE_PAGE ((size_t)1 << 21)

static void *aligned(uint64_t count, size_t size, bool zero)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return remember(NULL, 0);
    bytes = (bytes + 64) & ~(size_t)63;
    if (trl_spill_takes(bytes))
        return remember(trl_spill_get(bytes, zero), bytes);
    const size_t page = bytes < 4 * HUGE_PAGE ? 64 : HUGE_PAGE;
    bytes = (bytes + page - 1) & ~(page - 1);
    void *p = remember(aligned_alloc(page, bytes), bytes);
#ifdef MADV_HUGEPAGE
    if (p && page == HUGE_PAGE)
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* advice only: failure does not matter */
#endif
    if (p && zero)
        memset(p, 0, bytes);
    return p;
}

void *trl_alloc64(uint64_t count, size_t size)
{
    return aligned(count, size, false);
}

void *trl_zalloc64(uint64_t count, size_t size)
{
    return aligned(count, size, true);
}

void trl_touch(void *p, size_t n)
{
#ifdef MADV_POPULATE_WRITE
    const uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) & ~(page - 1);
    const uintptr_t to = ((uintptr_t)p + n) & ~(page - 1);
    if (p && to > from && to - from >= 8 * page)
        (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE); /* advice only */
#else
    (void)p;
    (void)n;
#endif
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
    size_t bytes;
    const bool fits = !__builtin_mul_overflow(next, size, &bytes);
    void *q = p && fits && trl_spill_takes(bytes) ? move(p, *cap * size, bytes)
                                                  : trl_realloc(p, next, size);
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
