/* output.c -- buffered, checked, atomic output. */
/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

#define PENDING ((size_t)1 << 16)

static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP};
static char *volatile unfinished; /* what a fatal signal has to remove */

static void remove_unfinished(int sig)
{
    if (unfinished)
        unlink(unfinished);
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Sets or unsets the handlers; a signal that is ignored or handled otherwise stays so. */
static void guard(char *temp)
{
    unfinished = temp;
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++) {
        struct sigaction now, next = {0};
        sigaction(fatal_signals[i], NULL, &now);
        next.sa_handler = temp ? remove_unfinished : SIG_DFL;
        if (now.sa_handler == (temp ? SIG_DFL : remove_unfinished))
            sigaction(fatal_signals[i], &next, NULL);
    }
}

/* A reader that has seen enough, as head has, is told nothing. */
static bool fail(output *o, const char *what)
{
    if (!o->failed && errno != EPIPE)
        message_say("%s: cannot %s: %s", o->path ? o->path : "standard output", what,
                    strerror(errno));
    o->failed = true;
    return false;
}

/* Opens a temporary file with the rights the umask gives; *temp is NULL after a failure. */
static int open_temp(const char *path, char **temp)
{
    const size_t n = strlen(path) + 16;
    *temp = malloc(n);
    if (!*temp)
        return -1;
    snprintf(*temp, n, "%s.tmp-XXXXXX", path);
    const int fd = mkstemp(*temp);
    if (fd < 0) {
        const int why = errno;
        free(*temp);
        *temp = NULL;
        errno = why;
        return -1;
    }
    const mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    return fd;
}

static bool in_place(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && !S_ISREG(sb.st_mode);
}

bool output_open(output *o, const char *path)
{
    *o = (output){.fd = STDOUT_FILENO};
    if (!path || strcmp(path, "-") == 0)
        return true;
    o->path = path;
    o->fd = in_place(path) ? open(path, O_WRONLY | O_CLOEXEC) : open_temp(path, &o->temp);
    if (o->fd < 0)
        return fail(o, "create");
    if (o->temp)
        guard(o->temp);
    return true;
}

bool output_check(const char *path)
{
    output o = {.path = path, .fd = -1};
    if (in_place(path))
        return access(path, W_OK) == 0 || fail(&o, "write");
    o.fd = open_temp(path, &o.temp);
    if (o.fd < 0)
        return fail(&o, "create");
    close(o.fd);
    unlink(o.temp);
    free(o.temp);
    return true;
}

static bool write_all(output *o, const char *p, size_t n)
{
    while (n && !o->failed) {
        const ssize_t k = write(o->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return fail(o, "write");
        p += k;
        n -= (size_t)k;
    }
    return !o->failed;
}

bool output_flush(output *o)
{
    const size_t n = o->pending.n;
    o->pending.n = 0;
    return write_all(o, o->pending.p, n);
}

bool output_put(output *o, const void *bytes, size_t n)
{
    if (o->failed)
        return false;
    if (o->pending.n + n > PENDING && !output_flush(o))
        return false;
    if (n > PENDING)
        return write_all(o, bytes, n);
    text_add(&o->pending, bytes, n);
    errno = ENOMEM;
    return !o->pending.failed || fail(o, "write");
}

bool output_text(output *o, const text *t)
{
    errno = ENOMEM;
    return t->failed ? fail(o, "write") : output_put(o, t->p, t->n);
}

void output_discard(output *o)
{
    text_fini(&o->pending);
    if (o->path && o->fd >= 0)
        close(o->fd);
    if (o->temp) {
        unlink(o->temp);
        guard(NULL);
        free(o->temp);
    }
    *o = (output){.fd = -1, .failed = true};
}

bool output_close(output *o)
{
    bool ok = output_flush(o);
    if (ok && o->path) {
        if (o->temp && fsync(o->fd) != 0)
            ok = fail(o, "write");
        const int fd = o->fd;
        o->fd = -1;
        if (close(fd) != 0 && ok)
            ok = fail(o, "write");
    }
    if (ok && o->temp) {
        if (rename(o->temp, o->path) != 0)
            ok = fail(o, "create");
        else {
            guard(NULL);
            free(o->temp);
            o->temp = NULL;
        }
    }
    output_discard(o);
    return ok;
}

int output_print(text *t)
{
    output o;
    output_open(&o, NULL);
    output_text(&o, t);
    text_fini(t);
    return output_close(&o) ? CLI_DONE : CLI_FAILED;
}
