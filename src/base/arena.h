/* arena.h -- scratch memory that is reused from sentence to sentence.
 *
 * A chain of blocks that are filled from the start (a bump allocator).  trl_arena_reset empties it
 * without returning memory to the heap, and merges several blocks into one of their total size, so
 * that nothing is allocated any more once the longest sentence has been seen.  One arena per
 * thread.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ARENA_H
#define TRL_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trl_arena_block trl_arena_block;
typedef struct trl_arena {
    trl_arena_block *head; /* the block being filled; zero-initialise the struct */
    size_t limit;          /* bytes it may hold in all; 0: no limit */
    bool limited;          /* set when the limit refused an allocation */
} trl_arena;

/* count * size bytes, 64-byte aligned, uninitialised; NULL when memory ran out or the limit would
 * be exceeded.  Under the address sanitizer the bytes around them, and all of them after a reset,
 * are poisoned.
 */
void *trl_arena_get(trl_arena *a, uint64_t count, size_t size);

/* All pointers become invalid. */
void trl_arena_reset(trl_arena *a);
void trl_arena_fini(trl_arena *a);

#endif
