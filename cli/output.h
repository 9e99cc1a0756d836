/* output.h -- where results go: standard output or a file, buffered, every error reported.
 *
 * A file is there as a whole or not at all (trellis/file.h); SIGINT, SIGTERM and SIGHUP remove
 * what is unfinished.  One file at a time.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"
#include "trellis/file.h"

typedef struct output {
    const char *path; /* NULL: standard output; borrowed */
    trl_writer *file; /* NULL: standard output */
    text pending;
    bool failed; /* already reported; what is put later is dropped */
} output;

/* NULL or "-": standard output.  All of these return false after a failure, reported once. */
bool output_open(output *o, const char *path);
bool output_put(output *o, const void *bytes, size_t n);
bool output_text(output *o, const text *t); /* also fails when the text did */
bool output_flush(output *o);
bool output_close(output *o);   /* flushes and renames, or, after a failure, removes */
void output_discard(output *o); /* removes what is unfinished */

/* Prints the text on standard output and frees it; the exit code. */
int output_print(text *t);

/* Can a file be created there?  To be asked before hours of work. */
bool output_check(const char *path);

/* Removes what is unfinished, from a signal handler that ends the program. */
void output_remove_unfinished(void);

#endif
