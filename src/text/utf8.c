/* utf8.c -- bytes as characters. */
/* SPDX-License-Identifier: MIT */
#include "text/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

size_t trl_utf8_next(const char *p, size_t n, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)p, c = s[0];
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t len = c < 0x80 ? 1 : c < 0xc2 || c > 0xf4 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    if (len == 0 || len > n)
        return 0;
    uint32_t x = len == 1 ? c : c & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        x = x << 6 | (s[i] & 0x3f);
    }
    if (x < least[len] || (x >= 0xd800 && x < 0xe000) || x > 0x10ffff)
        return 0;
    *code = x;
    return len;
}

bool trl_utf8_valid(trl_str s)
{
    uint32_t code;
    for (size_t i = 0, n; i < s.n; i += n) {
        n = trl_utf8_next(s.p + i, s.n - i, &code);
        if (n == 0)
            return false;
    }
    return true;
}

typedef struct range {
    uint32_t from, to;
} range;

static bool is_in(uint32_t x, const range *r, size_t n)
{
    for (size_t i = 0; i < n && r[i].from <= x; i++)
        if (x <= r[i].to)
            return true;
    return false;
}

unsigned trl_utf8_columns_of(uint32_t x)
{
    static const range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
        {0x6d6, 0x6dc},   {0x93c, 0x93c},   {0x94d, 0x94d},   {0xe31, 0xe31},   {0xe34, 0xe3a},
        {0xe47, 0xe4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},
        {0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
    };
    static const range wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
        {0x20000, 0x3fffd},
    };
    if (x < 0x300)
        return 1;
    return is_in(x, none, sizeof none / sizeof *none)   ? 0
           : is_in(x, wide, sizeof wide / sizeof *wide) ? 2
                                                        : 1;
}

/* Control characters (C0, DEL, C1) and the two that XML forbids. */
static bool is_control(uint32_t x)
{
    return x < 0x20 || (x >= 0x7f && x < 0xa0) || x == 0xfffe || x == 0xffff;
}

size_t trl_utf8_columns(trl_str s)
{
    size_t columns = 0;
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t x;
        n = trl_utf8_next(s.p + i, s.n - i, &x);
        columns += n && !is_control(x) ? trl_utf8_columns_of(x) : 1;
        n = n ? n : 1;
    }
    return columns;
}

bool trl_buf_shown(trl_buf *b, trl_str s)
{
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t x;
        n = trl_utf8_next(s.p + i, s.n - i, &x);
        if (n && !is_control(x))
            trl_buf_add(b, s.p + i, n);
        else
            trl_buf_str(b, REPLACEMENT);
        n = n ? n : 1;
    }
    return !b->failed;
}

bool trl_buf_json(trl_buf *b, trl_str s)
{
    trl_buf_ch(b, '"');
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t x;
        n = trl_utf8_next(s.p + i, s.n - i, &x);
        if (n == 0)
            trl_buf_str(b, "\\ufffd");
        else if (x == '"' || x == '\\')
            trl_buf_fmt(b, "\\%c", (char)x);
        else if (x < 0x20 || x == 0x7f)
            trl_buf_fmt(b, "\\u%04x", (unsigned)x);
        else
            trl_buf_add(b, s.p + i, n);
        n = n ? n : 1;
    }
    return trl_buf_ch(b, '"') && !b->failed;
}

bool trl_buf_xml(trl_buf *b, trl_str s)
{
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t x;
        n = trl_utf8_next(s.p + i, s.n - i, &x);
        if (n == 0 || is_control(x))
            trl_buf_str(b, REPLACEMENT);
        else if (x == '&' || x == '<' || x == '>' || x == '"')
            trl_buf_str(b, x == '&' ? "&amp;" : x == '<' ? "&lt;" : x == '>' ? "&gt;" : "&quot;");
        else
            trl_buf_add(b, s.p + i, n);
        n = n ? n : 1;
    }
    return !b->failed;
}
