/* input.h -- lines of text from a file, a pipe or memory, compressed or not.
 *
 * gzip and zstd are recognised by their first bytes and unpacked on the fly; a UTF-8 byte
 * order mark at the start and a CR before each LF are dropped; the last line needs no LF.
 * Nothing is limited to 32 bits; a line may be as long as memory allows.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_INPUT_H
#define TRL_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strtab.h"
#include "trellis/status.h"

typedef struct trl_input trl_input;

/* "-" is standard input.  TRL_EIO, TRL_ENOMEM. */
trl_status trl_input_open(const char *path, trl_input **out, trl_error *err);

/* Borrows `bytes` until freed; `name` (copied) appears in messages. */
trl_status trl_input_memory(const char *name, const void *bytes, size_t n, trl_input **out,
                            trl_error *err);
void trl_input_free(trl_input *in); /* accepts NULL */

/* The next line without its end.  *line is borrowed until the next call.  *more is false at
 * the end of the input.  TRL_EIO for a read error or damaged compressed data. */
trl_status trl_input_line(trl_input *in, trl_str *line, bool *more, trl_error *err);

/* As _line, but a copy in the arena with 32 LFs after it, which no line holds: scans end there
 * without a bounds check, also by words.  *n is without them; *line is NULL at the end of the
 * input.  Also TRL_ENOMEM. */
#define TRL_LINE_ENDS 32
trl_status trl_input_line_copy(trl_input *in, trl_arena *text, char **line, size_t *n,
                               trl_error *err);

/* Nothing but blanks and tabs up to the LF? */
static inline bool trl_line_is_blank(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return *p == '\n';
}

/* Whether text that satisfies `whole` can be read without waiting: always true for memory, regular
 * files and at the end of the input. From a pipe or terminal the available bytes are read and
 * `whole` is asked about the text not yet returned; for compressed input it is true as soon as
 * there are bytes. Invalidates the line that _line returned. */
bool trl_input_ready(trl_input *in, bool (*whole)(trl_str unread));

uint64_t trl_input_row(const trl_input *in);     /* of the line last returned, 1-based */
const char *trl_input_name(const trl_input *in); /* for messages; "-" reads "<stdin>" */

/* The bytes already read but not yet returned (at least one block when there is one): for
 * guessing a format.  Valid until the next call. */
trl_status trl_input_peek(trl_input *in, trl_str *head, trl_error *err);

/* All that is left, as it is: line ends and a byte order mark included.  Borrowed until the next
 * call.  TRL_EIO, TRL_ENOMEM. */
trl_status trl_input_all(trl_input *in, trl_str *text, trl_error *err);

/* Sets the place in err: this input's name, the current row and `col` (0: none). */
trl_status trl_input_fail(const trl_input *in, trl_error *err, trl_status code, uint64_t col);

/* TRL_EPARSE, with its place, when the current line has a NUL byte, which text never has. */
trl_status trl_input_check_text(const trl_input *in, trl_str line, trl_error *err);

/* The same, and for bytes that are not UTF-8, for formats that are defined in it. */
trl_status trl_input_check_utf8(const trl_input *in, trl_str line, trl_error *err);

#endif
