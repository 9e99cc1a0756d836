/* text.c -- growing buffers, numbers and JSON values in them.
 *
 * The program never calls setlocale, so printf and strtod keep to the "C" locale.
 */
/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(text *t, size_t more)
{
    if (t->failed || more > SIZE_MAX / 2 - t->n) {
        t->failed = true;
        return false;
    }
    if (t->n + more <= t->cap)
        return true;
    size_t cap = t->cap ? t->cap : 256;
    while (cap < t->n + more)
        cap *= 2;
    char *p = realloc(t->p, cap);
    if (!p) {
        t->failed = true;
        return false;
    }
    t->p = p;
    t->cap = cap;
    return true;
}

void text_add(text *t, const void *bytes, size_t n)
{
    if (n == 0 || !reserve(t, n))
        return;
    memcpy(t->p + t->n, bytes, n);
    t->n += n;
}

void text_str(text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_char(text *t, char c)
{
    text_add(t, &c, 1);
}

void text_fmt(text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        t->failed = true;
    else if (reserve(t, (size_t)n + 1)) {
        vsnprintf(t->p + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

/* Digits by integer arithmetic, six times as fast as printf; what is close enough to a tie for
 * the product's rounding error to matter is left to printf. */
void text_fixed6(text *t, double x)
{
    const double v = x * 1e6, whole = floor(v);
    if (!(x >= 0.0 && x < 1e6) || fabs(v - whole - 0.5) < 1e-3) {
        text_fmt(t, "%.6f", x);
        return;
    }
    uint64_t k = (uint64_t)(v - whole > 0.5 ? whole + 1.0 : whole);
    char digits[24];
    size_t at = sizeof digits;
    for (int i = 0; i < 6; i++, k /= 10)
        digits[--at] = (char)('0' + k % 10);
    digits[--at] = '.';
    do
        digits[--at] = (char)('0' + k % 10);
    while ((k /= 10) != 0);
    text_add(t, digits + at, sizeof digits - at);
}

void text_fini(text *t)
{
    free(t->p);
    *t = (text){0};
}

/* ---- JSON and markup
 * ------------------------------------------------------------------------------------ */

/* The length of the well-formed UTF-8 character at s [Unicode 15, table 3-7], of at most
 * `left` bytes; 0: none. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    const size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || outside ? 0 : n;
}

void text_json_bytes(text *t, const char *s, size_t len)
{
    text_char(t, '"');
    for (const char *end = s + len; s < end;) {
        const unsigned char c = (unsigned char)*s;
        const size_t n = utf8_length((const unsigned char *)s, (size_t)(end - s));
        if (c == '"' || c == '\\') {
            text_char(t, '\\');
            text_char(t, (char)c);
        } else if (c < 0x20 || c == 0x7f)
            text_fmt(t, "\\u%04x", c);
        else if (n == 0)
            text_str(t, "\\ufffd");
        else
            text_add(t, s, n);
        s += n ? n : 1;
    }
    text_char(t, '"');
}

void text_json_str(text *t, const char *s)
{
    if (s)
        text_json_bytes(t, s, strlen(s));
    else
        text_str(t, "null");
}

void text_json_real(text *t, double x)
{
    if (!isfinite(x)) {
        text_str(t, "null");
        return;
    }
    char s[40];
    for (int digits = 15; digits <= 17; digits++) { /* the fewest that suffice */
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtod(s, NULL) == x)
            break;
    }
    text_str(t, s);
}

void text_xml(text *t, const char *s, size_t len)
{
    for (const char *end = s + len; s < end;) {
        const unsigned char c = (unsigned char)*s;
        const size_t n = utf8_length((const unsigned char *)s, (size_t)(end - s));
        const bool noncharacter = n == 3 && c == 0xef && (unsigned char)s[1] == 0xbf &&
                                  (unsigned char)s[2] >= 0xbe; /* U+FFFE, U+FFFF */
        if (c == '&' || c == '<' || c == '>' || c == '"')
            text_str(t, c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&quot;");
        else if (n == 0 || noncharacter || c == 0x7f || (c < 0x20 && c != '\t' && c != '\n'))
            text_str(t, "\xef\xbf\xbd");
        else
            text_add(t, s, n);
        s += n ? n : 1;
    }
}
