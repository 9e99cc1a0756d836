/* store.c -- blocks on the heap or in a mapped file. */
/* SPDX-License-Identifier: MIT */
#include "base/store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/temporary.h"

#define CHUNK ((size_t)16 << 20)

typedef struct chunk {
    struct chunk *next;
    char *data;
    size_t size;
    int mapped;
} chunk;

struct trl_store {
    pthread_mutex_t lock;
    chunk *chunks; /* newest first: the one being filled */
    size_t used;   /* of it */
    size_t budget, bytes, on_heap, in_file;
    int fd; /* -1: no file yet */
    off_t end;
    bool file_full;
};

trl_status trl_store_new(size_t budget, trl_store **out, trl_error *err)
{
    trl_store *s = trl_zalloc(1, sizeof *s);
    if (!s)
        return trl_fail_mem(err);
    if (pthread_mutex_init(&s->lock, NULL) != 0) {
        trl_free(s);
        return trl_fail_mem(err);
    }
    s->budget = budget;
    s->fd = -1;
    *out = s;
    return TRL_OK;
}

void trl_store_free(trl_store *s)
{
    if (!s)
        return;
    for (chunk *c = s->chunks, *next; c; c = next) {
        next = c->next;
        if (c->mapped)
            munmap(c->data, c->size);
        else
            trl_free(c->data);
        trl_free(c);
    }
    if (s->fd >= 0)
        close(s->fd);
    pthread_mutex_destroy(&s->lock);
    trl_free(s);
}

/* posix_fallocate: a full disk is noticed here, not by a signal later. */
static char *map_file(trl_store *s, size_t size)
{
    if (s->fd < 0)
        s->fd = trl_temporary_unnamed();
    if (s->fd < 0 || posix_fallocate(s->fd, s->end, (off_t)size) != 0)
        return NULL;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, s->end);
    if (p == MAP_FAILED)
        return NULL;
    s->end += (off_t)size;
    return p;
}

static bool new_chunk(trl_store *s, size_t need)
{
    const size_t size = need > CHUNK ? (need + 4095) & ~(size_t)4095 : CHUNK;
    chunk *c = trl_zalloc(1, sizeof *c);
    if (!c)
        return false;
    const bool heap = s->on_heap + size <= s->budget;
    c->mapped = !heap;
    c->size = size;
    c->data = heap ? trl_alloc64(size, 1) : map_file(s, size);
    s->file_full = !c->data && !heap;
    if (!c->data) {
        trl_free(c);
        return false;
    }
    *(heap ? &s->on_heap : &s->in_file) += size;
    c->next = s->chunks;
    s->chunks = c;
    s->used = 0;
    return true;
}

void *trl_store_get(trl_store *s, size_t bytes)
{
    void *p = NULL;
    const size_t need = (bytes + 7) & ~(size_t)7;
    if (need < bytes)
        return NULL;
    pthread_mutex_lock(&s->lock);
    if ((s->chunks && s->chunks->size - s->used >= need) || new_chunk(s, need)) {
        p = s->chunks->data + s->used;
        s->used += need;
        s->bytes += need;
    }
    pthread_mutex_unlock(&s->lock);
    return p;
}

size_t trl_store_bytes(const trl_store *s, size_t *in_file)
{
    if (in_file)
        *in_file = s->in_file;
    return s->bytes;
}

bool trl_store_file_full(const trl_store *s)
{
    return s->file_full;
}
