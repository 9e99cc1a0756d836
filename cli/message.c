/* message.c -- lines on standard error. */
/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library_options.h"
#include "memory.h"
#include "style.h"

static bool status_shown; /* the cursor is after a status line */

/* One write per line, so that lines of several programs on one terminal do not mix. */
static void put_line(const char *head, const char *fmt, va_list ap)
{
    char line[1600];
    const size_t cap = sizeof line - 1; /* room for the LF */
    message_status(NULL);
    int n = snprintf(line, cap, "%s", head);
    const int k = vsnprintf(line + n, cap - (size_t)n, fmt, ap);
    if (k > 0)
        n += k;
    size_t len = (size_t)n < cap ? (size_t)n : cap - 1;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    line[len++] = '\n';
    fwrite(line, 1, len, stderr);
}

static void put(const char *head, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *head, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line(head, fmt, ap);
    va_end(ap);
}

void message_say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line("trellis: ", fmt, ap);
    va_end(ap);
}

void message_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line("trellis: warning: ", fmt, ap);
    va_end(ap);
}

void message_hint(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line("trellis: hint: ", fmt, ap);
    va_end(ap);
}

void message_line(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line("", fmt, ap);
    va_end(ap);
}

int message_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line("trellis: ", fmt, ap);
    va_end(ap);
    return CLI_FAILED;
}

int message_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_line("trellis: ", fmt, ap);
    va_end(ap);
    return CLI_USAGE;
}

int message_memory(void)
{
    message_say("out of memory for the program's own tables");
    memory_hint();
    return CLI_FAILED;
}

/* ---- the library's words --------------------------------------------------------------------- */

static const option *options_here; /* of the verb that runs; NULL: none yet */

void message_set_options(const option *rows)
{
    options_here = rows;
}

static void say_words(const char *head, const char *s)
{
    text t = {0};
    if (options_here)
        library_words(options_here, s, &t);
    text_char(&t, '\0');
    put(head, "%s", options_here && !t.failed ? t.p : s);
    text_fini(&t);
}

void message_hint_words(const char *hint)
{
    say_words("trellis: hint: ", hint);
}

void message_warn_words(const char *note)
{
    say_words("trellis: warning: ", note);
}

void message_line_words(const char *note)
{
    say_words("", note);
}

void message_error(const trl_error *err)
{
    char line[1000];
    trl_error_text(err, line, sizeof line);
    message_say("%s", line);
    if (err->hint[0])
        message_hint_words(err->hint);
    else if (err->code == TRL_ENOMEM)
        memory_hint();
}

void message_status(const char *line)
{
    if (line) {
        const size_t n = strlen(line), room = style_width(STDERR_FILENO, 80) - 1;
        fprintf(stderr, "\r%.*s\033[K", (int)(n < room ? n : room), line);
        status_shown = true;
    } else if (status_shown) {
        fputs("\r\033[K", stderr);
        status_shown = false;
    }
}

const char *message_counted(uint64_t n, const char *what, message_count *out)
{
    snprintf(out->text, sizeof out->text, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
    return out->text;
}
