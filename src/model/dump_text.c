/* dump_text.c -- escaping, numbers whatever the locale, buffered output. */
/* SPDX-License-Identifier: MIT */
#include "model/dump_text.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define PIECE ((size_t)1 << 16)

trl_status trl_printer_flush(trl_printer *p, bool all, trl_error *err)
{
    if (p->buf.failed)
        return trl_fail_mem(err);
    if (p->buf.len == 0 || (!all && p->buf.len < PIECE))
        return TRL_OK;
    const size_t n = p->buf.len;
    p->buf.len = 0;
    return p->write(p->ctx, p->buf.data, n, err);
}

/* The length of the printable UTF-8 character at p, or 0 when there is none. */
static size_t character(const unsigned char *p, size_t n)
{
    static const uint32_t least[5] = {0, 0, 0xa0, 0x800, 0x10000}; /* 0x80 .. 0x9f: controls */
    if (p[0] < 0x80)
        return p[0] >= ' ' && p[0] != 127 && p[0] != '\\';
    const size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
        return 0;
    uint32_t c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    return c >= least[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? len : 0;
}

static void put_escape(trl_buf *b, unsigned char c)
{
    switch (c) {
    case '\t':
        trl_buf_str(b, "\\t");
        break;
    case '\n':
        trl_buf_str(b, "\\n");
        break;
    case '\r':
        trl_buf_str(b, "\\r");
        break;
    case '\\':
        trl_buf_str(b, "\\\\");
        break;
    default:
        trl_buf_fmt(b, "\\x%02x", c);
        break;
    }
}

size_t trl_put_field(trl_buf *b, trl_str s)
{
    size_t width = 0;
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        const size_t len = character(p, s.n - i), before = b->len;
        if (len) {
            trl_buf_add(b, p, len);
            width++;
        } else {
            put_escape(b, *p);
            width += b->len - before;
        }
        i += len ? len : 1;
    }
    return width;
}

void trl_put_number(trl_buf *b, const char *format, double x)
{
    trl_buf_fmt(b, format, x);
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The byte that the escape at p (a backslash) stands for, and the escape's length; 0: not an
 * escape. */
static size_t escape(const char *p, size_t n, char *out)
{
    const int high = n >= 4 && p[1] == 'x' ? hex_digit(p[2]) : -1;
    const int low = high >= 0 ? hex_digit(p[3]) : -1;
    if (low >= 0) {
        *out = (char)(unsigned char)(high * 16 + low);
        return 4;
    }
    switch (n >= 2 ? p[1] : '\0') {
    case 't':
        *out = '\t';
        return 2;
    case 'n':
        *out = '\n';
        return 2;
    case 'r':
        *out = '\r';
        return 2;
    case '\\':
        *out = '\\';
        return 2;
    default:
        return 0;
    }
}

void trl_put_line(trl_buf *b, const char *what, trl_str field)
{
    trl_buf_str(b, what);
    trl_buf_ch(b, '\t');
    trl_put_field(b, field);
    trl_buf_ch(b, '\n');
}

void trl_put_lines(trl_buf *b, const char *what, trl_str text)
{
    for (size_t at = 0; at < text.n;) {
        size_t end = at;
        while (end < text.n && text.p[end] != '\n')
            end++;
        trl_put_line(b, what, (trl_str){text.p + at, end - at});
        at = end + 1;
    }
}

bool trl_unescape_field(char *p, size_t *n)
{
    size_t to = 0;
    for (size_t i = 0, len; i < *n; i += len) {
        char c = p[i];
        len = c == '\\' ? escape(p + i, *n - i, &c) : 1;
        if (len == 0) {
            *n = i;
            return false;
        }
        p[to++] = c;
    }
    *n = to;
    return true;
}
