/* file.c -- whole files: read, mapped, replaced. */
/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/temporary.h"

struct trl_writer {
    int fd;
    char *path;   /* as given, for messages */
    char *target; /* after symbolic links */
    char *tmp;    /* NULL: written in place */
    char *buf;
    size_t used;
};

#define WRITE_BUF ((size_t)1 << 20)

static trl_status fail_sys(trl_error *err, const char *what, const char *path)
{
    const int e = errno;
    const trl_status st = e == ENOMEM ? TRL_ENOMEM : TRL_EIO;
    trl_fail(err, st, "%s: %s", what, strerror(e));
    trl_fail_where(err, st, path, 0, 0);
    errno = e; /* for callers that treat a closed pipe differently */
    return st;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* An open descriptor and the file's size, 0 when it is not a regular file. */
static trl_status open_file(const char *path, int *fd, size_t *size, trl_error *err)
{
    struct stat sb;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return fail_sys(err, "cannot open", path);
    bool ok = fstat(*fd, &sb) == 0;
    if (ok && S_ISDIR(sb.st_mode)) {
        errno = EISDIR;
        ok = false;
    } else if (ok && (uintmax_t)sb.st_size > SIZE_MAX / 2) {
        errno = ENOMEM;
        ok = false;
    }
    if (ok) {
        *size = S_ISREG(sb.st_mode) ? (size_t)sb.st_size : 0;
        return TRL_OK;
    }
    const trl_status st = fail_sys(err, "cannot read", path);
    close(*fd);
    return st;
}

trl_status trl_map_file(const char *path, trl_mapped *out, trl_error *err)
{
    int fd;
    *out = (trl_mapped){0};
    trl_status st = open_file(path, &fd, &out->size, err);
    if (st != TRL_OK)
        return st;
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

/* Up to n bytes; fewer when the file has been truncated meanwhile. */
static bool read_all(int fd, unsigned char *p, size_t n, size_t *got)
{
    for (*got = 0; *got < n;) {
        const ssize_t k = read(fd, p + *got, n - *got);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return false;
        if (k == 0)
            break;
        *got += (size_t)k;
    }
    return true;
}

trl_status trl_read_file(const char *path, trl_mapped *out, trl_error *err)
{
    int fd;
    size_t size = 0;
    *out = (trl_mapped){0};
    trl_status st = open_file(path, &fd, &size, err);
    if (st != TRL_OK)
        return st;
    unsigned char *data = size ? trl_alloc64(size, 1) : NULL;
    if (size && !data)
        st = trl_fail_where(err, trl_fail_mem(err), path, 0, 0);
    trl_touch(data, size);
    if (st == TRL_OK && size && !read_all(fd, data, size, &out->size))
        st = fail_sys(err, "cannot read", path);
    if (st == TRL_OK && out->size)
        out->data = data;
    else
        trl_free(data);
    if (st != TRL_OK)
        *out = (trl_mapped){0};
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

/* ---- writing --------------------------------------------------------------------------------- */

static void writer_free(trl_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    trl_free(w->path);
    trl_free(w->target);
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

/* Gives the new file the permissions of the one it will replace and, where allowed, its owner. */
static void take_over(int fd, const struct stat *old)
{
    struct stat now;
    if (fstat(fd, &now) == 0 && (now.st_uid != old->st_uid || now.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        (void)!fchown(fd, (uid_t)-1, old->st_gid);
    (void)fchmod(fd, old->st_mode & 0777);
}

static bool open_target(trl_writer *w)
{
    struct stat sb;
    w->target = trl_follow_links(w->path);
    if (!w->target)
        return false;
    const bool exists = stat(w->target, &sb) == 0;
    if (exists && !S_ISREG(sb.st_mode)) {
        w->fd = open(w->target, O_WRONLY | O_CLOEXEC);
        return w->fd >= 0;
    }
    w->fd = trl_temporary_create(w->target, &w->tmp);
    if (w->fd >= 0 && exists)
        take_over(w->fd, &sb);
    return w->fd >= 0;
}

trl_status trl_writer_open(const char *path, trl_writer **out, trl_error *err)
{
    if (!path || !out)
        return trl_fail_null(err);
    trl_writer *w = trl_zalloc(1, sizeof *w);
    if (!w)
        return trl_fail_mem(err);
    w->fd = -1;
    w->path = trl_strndup(path, strlen(path));
    w->buf = trl_alloc(WRITE_BUF, 1);
    if (!w->path || !w->buf) {
        writer_free(w);
        return trl_fail_mem(err);
    }
    if (!open_target(w)) {
        const trl_status st = fail_sys(err, "cannot create", path);
        writer_free(w);
        return st;
    }
    *out = w;
    return TRL_OK;
}

const char *trl_writer_temporary(const trl_writer *w)
{
    return w ? w->tmp : NULL;
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
    if (!w || (!bytes && n))
        return trl_fail_null(err);
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

trl_status trl_writer_flush(trl_writer *w, trl_error *err)
{
    if (!w)
        return trl_fail_null(err);
    const size_t n = w->used;
    w->used = 0;
    return flush_buf(w, w->buf, n, err);
}

/* Makes the rename itself durable; a folder that cannot be synced is not a failure. */
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
    trl_status st = trl_writer_flush(w, err);
    if (!w)
        return st;
    if (st == TRL_OK && w->tmp && fsync(w->fd) != 0)
        st = fail_sys(err, "cannot write", w->path);
    if (st == TRL_OK && w->tmp && rename(w->tmp, w->target) != 0)
        st = fail_sys(err, "cannot replace", w->path);
    if (st == TRL_OK) { /* the lock is released last: until the rename the name was ours */
        const int fd = w->fd;
        w->fd = -1;
        if (close(fd) != 0 && !w->tmp) /* after fsync there is nothing left to fail */
            st = fail_sys(err, "cannot write", w->path);
    }
    if (st != TRL_OK) {
        trl_writer_abort(w);
        return st;
    }
    if (w->tmp)
        sync_folder(w->target);
    writer_free(w);
    return TRL_OK;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder that the path is in. */
static bool stat_folder(const char *path, struct stat *sb)
{
    const size_t n = (size_t)(last_part(path) - path);
    char *folder = n ? trl_strndup(path, n) : trl_strndup(".", 1);
    const bool ok = folder && stat(folder, sb) == 0;
    trl_free(folder);
    return ok;
}

static bool one_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* For two paths of which neither exists yet. */
static bool one_place(const char *a, const char *b)
{
    struct stat sa, sb;
    char *ra = trl_follow_links(a), *rb = trl_follow_links(b);
    const bool same = ra && rb && strcmp(last_part(ra), last_part(rb)) == 0 &&
                      stat_folder(ra, &sa) && stat_folder(rb, &sb) && one_inode(&sa, &sb);
    trl_free(ra);
    trl_free(rb);
    return same;
}

bool trl_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    if (!a || !b || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    const bool has_a = stat(a, &sa) == 0, has_b = stat(b, &sb) == 0;
    if (has_a && has_b)
        return S_ISREG(sa.st_mode) && one_inode(&sa, &sb);
    return !has_a && !has_b && one_place(a, b);
}
