/* file.c -- mapped reading and atomic writing. */
/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"

struct trl_writer {
    int fd;
    char *path, *tmp; /* tmp NULL: written in place */
    char *buf;
    size_t used;
};

#define WRITE_BUF ((size_t)1 << 20)

static trl_status fail_sys(trl_error *err, const char *what, const char *path)
{
    const int e = errno;
    trl_fail(err, e == ENOMEM ? TRL_ENOMEM : TRL_EIO, "%s: %s", what, strerror(e));
    return trl_fail_where(err, e == ENOMEM ? TRL_ENOMEM : TRL_EIO, path, 0, 0);
}

trl_status trl_map_file(const char *path, trl_mapped *out, trl_error *err)
{
    *out = (trl_mapped){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_sys(err, "cannot open", path);
    struct stat sb;
    if (fstat(fd, &sb) != 0 || S_ISDIR(sb.st_mode)) {
        if (S_ISDIR(sb.st_mode))
            errno = EISDIR;
        const trl_status st = fail_sys(err, "cannot read", path);
        close(fd);
        return st;
    }
    out->size = (size_t)sb.st_size;
    trl_status st = TRL_OK;
    if (out->size) {
        void *p = mmap(NULL, out->size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            st = fail_sys(err, "cannot map", path);
            *out = (trl_mapped){0};
        } else {
            out->data = p;
            out->mapped = true;
        }
    }
    close(fd);
    return st;
}

void trl_unmap(trl_mapped *m)
{
    union { /* drops const: the memory is ours */
        const unsigned char *c;
        void *v;
    } p = {.c = m->data};
    if (m->mapped)
        munmap(p.v, m->size);
    else
        trl_free(p.v);
    *m = (trl_mapped){0};
}

static void writer_free(trl_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    trl_free(w->path);
    trl_free(w->tmp);
    trl_free(w->buf);
    trl_free(w);
}

void trl_writer_abort(trl_writer *w)
{
    if (!w)
        return;
    if (w->tmp)
        unlink(w->tmp);
    writer_free(w);
}

trl_status trl_writer_open(const char *path, trl_writer **out, trl_error *err)
{
    trl_writer *w = trl_zalloc(1, sizeof *w);
    if (!w)
        return trl_fail_mem(err);
    w->fd = -1;
    const size_t n = strlen(path);
    w->path = trl_strndup(path, n);
    w->buf = trl_alloc(WRITE_BUF, 1);
    if (!w->path || !w->buf) {
        writer_free(w);
        return trl_fail_mem(err);
    }
    struct stat sb;
    if (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode)) {
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        w->tmp = trl_alloc(n + 16, 1);
        if (!w->tmp) {
            writer_free(w);
            return trl_fail_mem(err);
        }
        snprintf(w->tmp, n + 16, "%s.tmp-XXXXXX", path);
        w->fd = mkstemp(w->tmp);
        if (w->fd >= 0) { /* mkstemp is private; a model should obey the umask like any file */
            const mode_t mask = umask(0);
            umask(mask);
            (void)fchmod(w->fd, 0666 & ~mask);
        } else {
            trl_free(w->tmp); /* nothing to unlink */
            w->tmp = NULL;
        }
    }
    if (w->fd < 0) {
        const trl_status st = fail_sys(err, "cannot create", path);
        writer_free(w);
        return st;
    }
    *out = w;
    return TRL_OK;
}

static trl_status flush_buf(trl_writer *w, const char *p, size_t n, trl_error *err)
{
    while (n) {
        const ssize_t k = write(w->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return fail_sys(err, "cannot write", w->path);
        p += k;
        n -= (size_t)k;
    }
    return TRL_OK;
}

trl_status trl_writer_put(trl_writer *w, const void *bytes, size_t n, trl_error *err)
{
    trl_status st = TRL_OK;
    if (n > WRITE_BUF - w->used) {
        st = flush_buf(w, w->buf, w->used, err);
        w->used = 0;
    }
    if (st != TRL_OK || n == 0)
        return st;
    if (n >= WRITE_BUF)
        return flush_buf(w, bytes, n, err);
    memcpy(w->buf + w->used, bytes, n);
    w->used += n;
    return TRL_OK;
}

/* Makes the rename itself durable; a folder that cannot be synced is no reason to fail. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    const int fd = open(slash ? (slash == path ? "/" : path) : ".", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

trl_status trl_writer_commit(trl_writer *w, trl_error *err)
{
    trl_status st = flush_buf(w, w->buf, w->used, err);
    if (st == TRL_OK && w->tmp && fsync(w->fd) != 0)
        st = fail_sys(err, "cannot write", w->path);
    if (st == TRL_OK) {
        const int fd = w->fd;
        w->fd = -1;
        if (close(fd) != 0)
            st = fail_sys(err, "cannot write", w->path);
    }
    if (st == TRL_OK && w->tmp && rename(w->tmp, w->path) != 0)
        st = fail_sys(err, "cannot replace", w->path);
    if (st != TRL_OK) {
        trl_writer_abort(w);
        return st;
    }
    sync_folder(w->path);
    writer_free(w);
    return TRL_OK;
}
