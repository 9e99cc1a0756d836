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
            const char *short_form = *p ? strchr("\\\\\tt\nn\rr", *p) : NULL;
            if (short_form)
                trl_buf_fmt(b, "\\%c", short_form[1]);
            else
                trl_buf_fmt(b, "\\x%02x", *p);
            width += b->len - before;
        }
        i += len ? len : 1;
    }
    return width;
}

void trl_put_number(trl_buf *b, const char *format, double x)
{
    char text[64];
    const int n = snprintf(text, sizeof text, format, x);
    for (int i = 0; i < n && i < (int)sizeof text - 1; i++) {
        if (strchr(" +-0123456789einfa", text[i])) {
            trl_buf_ch(b, text[i]);
        } else if (i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9') {
            trl_buf_ch(b, '.'); /* the locale's decimal point, perhaps several bytes */
        }
    }
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool trl_unescape_field(char *p, size_t *n)
{
    size_t to = 0;
    for (size_t i = 0; i < *n; i++) {
        char c = p[i];
        if (c == '\\') {
            const char next = i + 1 < *n ? p[i + 1] : '\0';
            const int high = next == 'x' && i + 3 < *n ? hex_digit(p[i + 2]) : -1;
            const int low = high >= 0 ? hex_digit(p[i + 3]) : -1;
            const char *at = next && next != 'x' ? strchr("t\tn\nr\r\\\\", next) : NULL;
            if (low >= 0) {
                c = (char)(unsigned char)(high * 16 + low);
                i += 3;
            } else if (at && (at - "") >= 0) {
                c = at[1];
                i++;
            } else {
                *n = i;
                return false;
            }
        }
        p[to++] = c;
    }
    *n = to;
    return true;
}
