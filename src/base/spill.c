/* spill.c -- large blocks on the heap or in mapped files without a name. */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* madvise */
#include "base/spill.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/temporary.h"

#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)1 << 21)
#define MOST_BLOCKS 1024 /* of all runs together; the heap takes what is more */

struct trl_spill {
    uint64_t budget, on_heap, in_files;
    uint64_t refused; /* bytes that a file had no room for; 0: none */
};

typedef struct block {
    void *p;
    size_t bytes;
    bool mapped;
    trl_spill *owner;
} block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block blocks[MOST_BLOCKS];
static atomic_size_t n_blocks;
static _Thread_local trl_spill *current;

trl_status trl_spill_new(uint64_t budget, trl_spill **out, trl_error *err)
{
    trl_spill *s = trl_zalloc(1, sizeof *s);
    if (!s)
        return trl_fail_mem(err);
    s->budget = budget;
    *out = s;
    return TRL_OK;
}

void trl_spill_free(trl_spill *s)
{
    if (s == current)
        current = NULL;
    trl_free(s);
}

trl_spill *trl_spill_use(trl_spill *s)
{
    trl_spill *before = current;
    current = s;
    return before;
}

void trl_spill_set_budget(trl_spill *s, uint64_t budget)
{
    s->budget = budget;
}

void trl_spill_bytes(const trl_spill *s, uint64_t *on_heap, uint64_t *in_files)
{
    pthread_mutex_lock(&lock);
    *on_heap = s->on_heap;
    *in_files = s->in_files;
    pthread_mutex_unlock(&lock);
}

trl_status trl_spill_check(trl_spill *s, trl_error *err)
{
    const uint64_t refused = s->refused;
    s->refused = 0;
    if (!refused)
        return TRL_OK;
    const char *folder = trl_temporary_folder();
    const trl_status st =
        trl_fail(err, TRL_EIO, "there is no room for a temporary file of %.3g MB in %.200s",
                 (double)refused / 1e6, folder);
    return trl_fail_hint(err, st, "set TMPDIR to a folder with more room");
}

/* ---- blocks ---------------------------------------------------------------------------------- */

bool trl_spill_takes(size_t bytes)
{
    return bytes >= TRL_SPILL_LARGE && current;
}

/* posix_fallocate: a full disk is noticed here, not by a signal later. */
static void *map_file(size_t bytes)
{
    const int fd = trl_temporary_unnamed();
    if (fd < 0)
        return NULL;
    void *p = MAP_FAILED;
    if (bytes <= PTRDIFF_MAX && posix_fallocate(fd, 0, (off_t)bytes) == 0)
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

static void *take_heap(size_t bytes)
{
    const size_t align = bytes < 4 * HUGE_PAGE ? PAGE : HUGE_PAGE;
    const size_t whole = (bytes + align - 1) & ~(align - 1);
    void *p = aligned_alloc(align, whole);
#ifdef MADV_HUGEPAGE
    if (p && align == HUGE_PAGE)
        (void)madvise(p, whole, MADV_HUGEPAGE); /* advice only: failure does not matter */
#endif
    return p;
}

/* False: there is no place. */
static bool note(const block *b)
{
    bool noted = false;
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < MOST_BLOCKS && !noted; k++)
        if (!blocks[k].p) {
            blocks[k] = *b;
            *(b->mapped ? &b->owner->in_files : &b->owner->on_heap) += b->bytes;
            atomic_fetch_add(&n_blocks, 1);
            noted = true;
        }
    pthread_mutex_unlock(&lock);
    return noted;
}

void *trl_spill_get(size_t bytes, bool zero)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    const size_t whole = (bytes + PAGE - 1) & ~(PAGE - 1);
    const bool heap = current->on_heap + whole <= current->budget;
    block b = {heap ? take_heap(whole) : map_file(whole), whole, !heap, current};
    if (!b.p && !heap)
        current->refused = whole;
    if (b.p && !note(&b)) {
        if (heap)
            free(b.p);
        else
            munmap(b.p, whole);
        b.p = NULL;
    }
    if (b.p && heap && zero)
        memset(b.p, 0, whole);
    return b.p;
}

/* The place of p, MOST_BLOCKS when it is none; locked. */
static size_t find(const void *p)
{
    size_t k = 0;
    while (k < MOST_BLOCKS && blocks[k].p != p)
        k++;
    return k;
}

static bool may_be_block(const void *p)
{
    return p && ((uintptr_t)p & (PAGE - 1)) == 0 && atomic_load(&n_blocks) > 0;
}

size_t trl_spill_size(const void *p)
{
    if (!may_be_block(p))
        return 0;
    pthread_mutex_lock(&lock);
    const size_t k = find(p), bytes = k < MOST_BLOCKS ? blocks[k].bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

bool trl_spill_release(void *p)
{
    if (!may_be_block(p))
        return false;
    block b = {0};
    pthread_mutex_lock(&lock);
    const size_t k = find(p);
    if (k < MOST_BLOCKS) {
        b = blocks[k];
        blocks[k] = (block){0};
        *(b.mapped ? &b.owner->in_files : &b.owner->on_heap) -= b.bytes;
        atomic_fetch_sub(&n_blocks, 1);
    }
    pthread_mutex_unlock(&lock);
    if (!b.p)
        return false;
    if (b.mapped)
        munmap(b.p, b.bytes);
    else
        free(b.p);
    return true;
}
