/* message.h -- what the program says on standard error.
 *
 *     trellis: data.txt:17:4: 3 columns here, but 4 on line 1
 *     trellis: hint: what to do about it
 *
 * Control characters are shown as '?'.  A status line on a terminal is taken away before
 * anything else is printed.  Main thread only.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdint.h>

#include "trellis/status.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 }; /* exit codes */

void message_error(const trl_error *err); /* with its hint */

/* What the library says names options in single quotes: `rows` are those of the verb that runs. */
struct option;
void message_set_options(const struct option *rows);
void message_hint_words(const char *hint);
void message_warn_words(const char *note);
void message_line_words(const char *note);
void message_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* To follow the name of what has such labels. */
#define BROKEN_IOBES                                                                               \
    "have S-TYPE, but are not well-formed IOBES: chunks are counted as conlleval does, which "     \
    "joins "                                                                                       \
    "neighbours of one type"

void message_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void message_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As message_say, and the exit code to return with. */
int message_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));  /* CLI_FAILED */
int message_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* CLI_USAGE */
int message_memory(void);                                                      /* CLI_FAILED */

/* A line without the program's name: progress, tables. */
void message_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "1 sequence", "2 sequences": out->text, which is returned. */
typedef struct message_count {
    char text[64];
} message_count;
const char *message_counted(uint64_t n, const char *what, message_count *out);

/* Rewrites the status line of a terminal, cut to its width; NULL takes it away. */
void message_status(const char *line);

#endif
