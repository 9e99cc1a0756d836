/* temporary.c -- temporary files, locked as long as the process that made them lives. */
/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* flock */
#include "base/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define MARK ".tmp-"
#define DIGITS 12
#define SUFFIX (sizeof MARK - 1 + DIGITS)
#define NAME_MOST 255 /* bytes of a file name on every common file system */
#define MOST_LINKS 40

/* ---- names ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder of `path` with its slash, then `name`. */
static char *beside(const char *path, const char *name)
{
    const size_t dir = (size_t)(base_name(path) - path), n = strlen(name);
    char *out = trl_alloc(dir + n + 1, 1);
    if (out) {
        memcpy(out, path, dir);
        memcpy(out + dir, name, n + 1);
    } else {
        errno = ENOMEM;
    }
    return out;
}

/* The target of the symbolic link at `path`, as a path that can be opened; NULL: errno. */
static char *read_link(const char *path)
{
    char text[4096];
    const ssize_t n = readlink(path, text, sizeof text - 1);
    if (n < 0)
        return NULL;
    text[n] = '\0';
    return text[0] == '/' ? trl_strndup(text, (size_t)n) : beside(path, text);
}

char *trl_follow_links(const char *path)
{
    char *at = trl_strndup(path, strlen(path));
    struct stat sb;
    for (int k = 0; at && lstat(at, &sb) == 0 && S_ISLNK(sb.st_mode); k++) {
        char *next = NULL;
        if (k == MOST_LINKS)
            errno = ELOOP;
        else
            next = read_link(at);
        trl_free(at);
        at = next;
    }
    return at;
}

/* ---- left by dead processes ------------------------------------------------------------------ */

/* The part of the target's name that the names of its temporary files begin with. */
static size_t stem_size(const char *base)
{
    const size_t n = strlen(base);
    return n + SUFFIX <= NAME_MOST ? n : NAME_MOST - SUFFIX;
}

static bool is_temporary_of(const char *name, const char *base, size_t stem)
{
    if (strlen(name) != stem + SUFFIX || memcmp(name, base, stem) != 0 ||
        memcmp(name + stem, MARK, sizeof MARK - 1) != 0)
        return false;
    return strspn(name + stem + sizeof MARK - 1, "0123456789abcdef") == DIGITS;
}

/* A living writer holds the lock; the lock of a dead process is gone. */
static void remove_if_stale(const char *path)
{
    struct stat sb;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(path);
    close(fd);
}

static void remove_stale(const char *target)
{
    const char *base = base_name(target);
    const size_t stem = stem_size(base);
    char *folder = beside(target, ".");
    DIR *d = folder ? opendir(folder) : NULL;
    trl_free(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char *path = is_temporary_of(e->d_name, base, stem) ? beside(target, e->d_name) : NULL;
        if (path)
            remove_if_stale(path);
        trl_free(path);
    }
    if (d)
        closedir(d);
}

/* ---- creating -------------------------------------------------------------------------------- */

/* The name need not be unpredictable: O_EXCL fails when it exists already. */
static uint64_t some_number(const void *salt, unsigned attempt)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 40 ^
                 (uint64_t)(uintptr_t)salt ^ attempt;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u; /* splitmix64's mixing */
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Locks it. False when another process has just taken it for a stale one and is removing it. */
static bool lock_new(int fd)
{
    struct stat sb;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK; /* a file system without locks */
    return fstat(fd, &sb) != 0 || sb.st_nlink > 0;
}

int trl_temporary_create(const char *target, char **name)
{
    const char *base = base_name(target);
    const size_t stem = stem_size(base);
    char text[NAME_MOST + 1];
    remove_stale(target);
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        memcpy(text, base, stem);
        snprintf(text + stem, sizeof text - stem, MARK "%012llx",
                 (unsigned long long)(some_number(text, attempt) & 0xffffffffffffu));
        char *path = beside(target, text);
        const int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
        if (fd >= 0 && lock_new(fd)) {
            *name = path;
            return fd;
        }
        const int why = errno;
        if (fd >= 0)
            close(fd);
        trl_free(path);
        errno = why;
        if (fd < 0 && why != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}
