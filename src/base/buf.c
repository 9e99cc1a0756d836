/* buf.c -- a growing byte buffer. */
/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"

static bool make_room(trl_buf *b, size_t n)
{
    char *grown =
        n <= SIZE_MAX - b->len - 1 ? trl_reserve(b->data, &b->cap, b->len + n + 1, 1) : NULL;
    if (!grown) {
        b->failed = true;
        return false;
    }
    b->data = grown;
    return true;
}

bool trl_buf_add(trl_buf *b, const void *bytes, size_t n)
{
    if (!make_room(b, n))
        return false;
    if (n)
        memcpy(b->data + b->len, bytes, n);
    b->len += n;
    return true;
}

bool trl_buf_str(trl_buf *b, const char *s)
{
    return trl_buf_add(b, s, strlen(s));
}

bool trl_buf_ch(trl_buf *b, char c)
{
    return trl_buf_add(b, &c, 1);
}

bool trl_buf_fmt(trl_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = trl_vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !make_room(b, (size_t)n)) {
        b->failed = true;
        return false;
    }
    va_start(ap, fmt);
    trl_vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return true;
}

void trl_buf_fini(trl_buf *b)
{
    if (!b)
        return;
    trl_free(b->data);
    *b = (trl_buf){0};
}

bool trl_take(const unsigned char **p, size_t *n, void *to, size_t bytes)
{
    if (bytes > *n)
        return false;
    if (bytes)
        memcpy(to, *p, bytes);
    *p += bytes;
    *n -= bytes;
    return true;
}
