/* buf.h -- text in memory: a growing string of bytes that functions of the library append to, and
 * text that they read.
 *
 * trl_buf: zero-initialise; data[0 .. len) are the bytes, no NUL after them.  Setting len to 0
 * keeps the memory for the next use; trl_buf_fini releases it.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_BUF_H
#define TRELLIS_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/status.h"

TRL_BEGIN_DECLS

typedef struct trl_buf {
    char *data; /* NULL until the first byte */
    size_t len, cap;
    bool failed; /* memory ran out: what was appended since is lost */
} trl_buf;

/* Text in memory, read like a file. */
typedef struct trl_text {
    const char *name; /* for messages */
    const char *p;    /* [n] */
    size_t n;
} trl_text;

TRL_API void trl_buf_fini(trl_buf *b); /* leaves it empty and usable */

TRL_END_DECLS

#endif
