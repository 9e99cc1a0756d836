/* output.c -- buffered, checked, atomic output. */
/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

#define PENDING ((size_t)1 << 16)

static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP};
static char
    unfinished[4096]; /* what a fatal signal has to remove: a copy, the writer frees its own */

void output_remove_unfinished(void)
{
    if (unfinished[0])
        unlink(unfinished);
}

static void remove_unfinished(int sig)
{
    output_remove_unfinished();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* Sets or unsets the handlers; a signal that is ignored or handled otherwise stays so. */
static void guard(const char *temp)
{
    const size_t n = temp ? strlen(temp) : 0;
    unfinished[0] = '\0';
    if (n && n < sizeof unfinished) { /* the first byte last: a handler sees all of it or none */
        memcpy(unfinished + 1, temp + 1, n);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        unfinished[0] = temp[0];
    }
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

static bool fail_file(output *o, const trl_error *err)
{
    if (!o->failed && errno != EPIPE)
        message_error(err);
    o->failed = true;
    return false;
}

bool output_open(output *o, const char *path)
{
    trl_error err = {0};
    *o = (output){0};
    if (!path || strcmp(path, "-") == 0)
        return true;
    o->path = path;
    errno = 0;
    if (trl_writer_open(path, &o->file, &err) != TRL_OK)
        return fail_file(o, &err);
    if (trl_writer_temporary(o->file))
        guard(trl_writer_temporary(o->file));
    return true;
}

bool output_check(const char *path)
{
    output o;
    const bool ok = output_open(&o, path);
    output_discard(&o);
    return ok;
}

static bool write_all(output *o, const char *p, size_t n)
{
    if (o->file && !o->failed) {
        trl_error err = {0};
        errno = 0;
        trl_status st = trl_writer_put(o->file, p, n, &err);
        if (st == TRL_OK)
            st = trl_writer_flush(o->file, &err);
        return st == TRL_OK || fail_file(o, &err);
    }
    while (n && !o->failed) {
        const ssize_t k = write(STDOUT_FILENO, p, n);
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
    const bool guarded = trl_writer_temporary(o->file) != NULL;
    text_fini(&o->pending);
    trl_writer_abort(o->file);
    if (guarded)
        guard(NULL);
    *o = (output){.failed = true};
}

bool output_close(output *o)
{
    bool ok = output_flush(o);
    if (ok && o->file) {
        trl_error err = {0};
        const bool guarded = trl_writer_temporary(o->file) != NULL;
        errno = 0;
        ok = trl_writer_commit(o->file, &err) == TRL_OK || fail_file(o, &err);
        o->file = NULL;
        if (guarded)
            guard(NULL);
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
