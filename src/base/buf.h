/* buf.h -- a growing byte buffer for building text and file sections.
 *
 * Appending functions return false when memory ran out; the buffer then keeps what it
 * had.  `failed` stays set, so a writer may append freely and check once at the end.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BUF_H
#define TRL_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/buf.h"

bool trl_buf_add(trl_buf *b, const void *bytes, size_t n);
bool trl_buf_str(trl_buf *b, const char *s);
bool trl_buf_ch(trl_buf *b, char c);
bool trl_buf_fmt(trl_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The reverse of adding: copies the next `bytes` bytes at *p, of which *n are left, and advances
 * *p. False, with nothing changed, when fewer are left. */
bool trl_take(const unsigned char **p, size_t *n, void *to, size_t bytes);

#endif
