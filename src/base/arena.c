/* arena.c -- a bump allocator whose blocks merge on reset. */
/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>

#include "base/mem.h"

/* Under the address sanitizer only allocated bytes may be touched: a red zone of at least RED_ZONE
 * bytes lies between two arrays, and memory that a reset released stays poisoned until it is
 * allocated again. */
#if defined(__SANITIZE_ADDRESS__)
#define POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONED 1
#endif
#endif
#ifdef POISONED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#define RED_ZONE 64
#define FIRST ((size_t)1 << 16)

struct trl_arena_block {
    trl_arena_block *next; /* older, full */
    unsigned char *base;
    size_t used, cap;
};

static trl_arena_block *block_new(size_t cap, trl_arena_block *next)
{
    trl_arena_block *b = trl_alloc(1, sizeof *b);
    unsigned char *base = b ? trl_alloc64(cap, 1) : NULL;
    if (!base) {
        trl_free(b);
        return NULL;
    }
    *b = (trl_arena_block){.next = next, .base = base, .cap = cap};
    ASAN_POISON_MEMORY_REGION(base, cap);
    return b;
}

static void blocks_free(trl_arena_block *b)
{
    while (b) {
        trl_arena_block *next = b->next;
        ASAN_UNPOISON_MEMORY_REGION(b->base, b->cap);
        trl_free(b->base);
        trl_free(b);
        b = next;
    }
}

/* Shrinks the new block to what the limit leaves; false: that is less than `bytes`. */
static bool within_limit(trl_arena *a, size_t bytes, size_t *cap)
{
    size_t held = 0;
    for (const trl_arena_block *b = a->head; b; b = b->next)
        held += b->cap;
    const size_t room = a->limit > held ? a->limit - held : 0;
    if (bytes > room) {
        a->limited = true;
        return false;
    }
    *cap = *cap > room ? room & ~(size_t)63 : *cap;
    return true;
}

void *trl_arena_get(trl_arena *a, uint64_t count, size_t size)
{
    size_t asked;
    if (__builtin_mul_overflow(count, size, &asked) || asked > SIZE_MAX / 4)
        return NULL;
    const size_t bytes = (asked + RED_ZONE + 63) & ~(size_t)63;
    if (!a->head || bytes > a->head->cap - a->head->used) {
        size_t cap = a->head ? a->head->cap * 2 : FIRST;
        if (cap < bytes)
            cap = bytes;
        if (a->limit && !within_limit(a, bytes, &cap))
            return NULL;
        trl_arena_block *b = block_new(cap, a->head);
        if (!b)
            return NULL;
        a->head = b;
    }
    void *p = a->head->base + a->head->used;
    a->head->used += bytes;
    ASAN_UNPOISON_MEMORY_REGION(p, asked);
    return p;
}

void trl_arena_reset(trl_arena *a)
{
    if (!a->head)
        return;
    if (a->head->next) { /* several blocks: replaced by one that would have held them all */
        size_t total = 0;
        for (trl_arena_block *b = a->head; b; b = b->next)
            total += b->cap;
        trl_arena_block *merged = block_new(total, NULL);
        if (merged) {
            blocks_free(a->head);
            a->head = merged;
        } else { /* no memory for that: keep the newest, which is the largest */
            blocks_free(a->head->next);
            a->head->next = NULL;
        }
    }
    a->head->used = 0;
    ASAN_POISON_MEMORY_REGION(a->head->base, a->head->cap);
}

void trl_arena_fini(trl_arena *a)
{
    blocks_free(a->head);
    a->head = NULL;
}
