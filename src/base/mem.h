/* mem.h -- the only access to the heap: overflow-checked, never aborting.
 *
 * Counts are 64-bit: on a 32-bit machine a count read from a file that is too large fails instead
 * of wrapping around.
 *
 * Every function returns NULL on failure and leaves its inputs as they were.  Zero-sized
 * requests return a valid pointer.  Memory from all of them is released by trl_free.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MEM_H
#define TRL_MEM_H

#include <stddef.h>
#include <stdint.h>

void *trl_alloc(uint64_t count, size_t size);  /* uninitialised */
void *trl_zalloc(uint64_t count, size_t size); /* zeroed */
void *trl_realloc(void *p, uint64_t count, size_t size);
void trl_free(void *p); /* accepts NULL */

/* 64-byte aligned, for vector kernels and for large blocks that are read here and there, which get
 * huge pages where the system has them: uninitialised, or all 0. */
void *trl_alloc64(uint64_t count, size_t size);
void *trl_zalloc64(uint64_t count, size_t size);

/* The n bytes at p, which may be NULL, will all be used soon: where the system can it provides
 * their pages at once, which costs less than one by one. */
void trl_touch(void *p, size_t n);

/* Makes room for `need` elements: returns p itself when *cap suffices, else a block of at
 * least twice *cap, old content copied, *cap updated.  NULL: p and *cap are unchanged. */
void *trl_reserve(void *p, size_t *cap, uint64_t need, size_t size);

/* The size in bytes of this thread's last failed request; 0: none failed, or the size overflowed.
 * For messages, like errno. */
size_t trl_refused_bytes(void);

/* A copy of n bytes with a NUL after them. */
char *trl_strndup(const char *s, size_t n);

#endif
