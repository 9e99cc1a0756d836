/* buf.h -- a growing string of bytes that functions of the library append to.
 *
 * Zero-initialise; data[0 .. len) are the bytes, no NUL after them.  Setting len to 0 keeps the
 * memory for the next use; trl_buf_fini releases it.
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

TRL_API void trl_buf_fini(trl_buf *b); /* leaves it empty and usable */

TRL_END_DECLS

#endif
