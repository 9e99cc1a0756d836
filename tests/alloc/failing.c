/* failing.c -- the wrapped allocators. */
/* SPDX-License-Identifier: MIT */
#include "failing.h"

#include <errno.h>

static size_t count, bytes, fail_at; /* fail_at 0: never */
static bool for_good, failed;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);

void failing_start(size_t k, bool on)
{
    count = bytes = 0;
    fail_at = k;
    for_good = on;
    failed = false;
}

bool failing_end(void)
{
    fail_at = 0;
    return failed;
}

size_t failing_count(void)
{
    return count;
}

size_t failing_bytes(void)
{
    return bytes;
}

static bool fails(size_t n)
{
    count++;
    bytes += n;
    if (fail_at == 0 || count < fail_at || (count > fail_at && !for_good))
        return false;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t n)
{
    return fails(n) ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(n * size) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails(n) ? NULL : __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return fails(n) ? NULL : __real_aligned_alloc(align, n);
}
