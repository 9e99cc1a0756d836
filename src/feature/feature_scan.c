/* feature_scan.c -- lines of a template in words, piece by piece. */
/* SPDX-License-Identifier: MIT */
#include "feature/feature_scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/fail.h"
#include "text/utf8.h"

const char *trl_feature_scan_begin(trl_str text)
{
    return text.p + (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
}

const char *trl_feature_scan_line(trl_feature_scan *s, const char *at)
{
    const char *lf = memchr(at, '\n', (size_t)(s->end - at));
    const char *stop = lf ? lf : s->end;
    bool quoted = false;
    s->row++;
    s->line = s->p = s->mark = at;
    for (s->stop = at; s->stop < stop && (quoted || *s->stop != '#'); s->stop++) {
        if (*s->stop == '"')
            quoted = !quoted;
        else if (quoted && *s->stop == '\\' && s->stop + 1 < stop)
            s->stop++;
    }
    return lf ? lf + 1 : s->end;
}

trl_status trl_feature_scan_check(trl_feature_scan *s)
{
    uint32_t code;
    for (const char *p = s->line; p < s->stop;) {
        const size_t n = trl_utf8_next(p, (size_t)(s->stop - p), &code);
        if (n == 0 || code == 0)
            return trl_feature_scan_fail_at(
                s,
                trl_fail(s->err, TRL_EPARSE, "%s",
                         n ? "a NUL byte: this is not text" : "this byte is not UTF-8"),
                p);
        p += n;
    }
    return TRL_OK;
}

static void skip_blanks(trl_feature_scan *s)
{
    while (s->p < s->stop && (*s->p == ' ' || (*s->p >= '\t' && *s->p <= '\r')))
        s->p++;
}

bool trl_feature_scan_at_end(trl_feature_scan *s)
{
    skip_blanks(s);
    return s->p >= s->stop;
}

void trl_feature_scan_mark(trl_feature_scan *s)
{
    skip_blanks(s);
    s->mark = s->p;
}

uint64_t trl_feature_scan_col(const trl_feature_scan *s)
{
    return (uint64_t)(s->mark - s->line) + 1;
}

trl_status trl_feature_scan_fail_at(trl_feature_scan *s, trl_status st, const char *at)
{
    return trl_fail_where(s->err, st, s->name, s->row, (uint64_t)(at - s->line) + 1);
}

trl_status trl_feature_scan_fail(trl_feature_scan *s, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return trl_feature_scan_fail_at(s, trl_fail(s->err, TRL_EPARSE, "%s", text), s->mark);
}

bool trl_feature_scan_sign(trl_feature_scan *s, char c)
{
    skip_blanks(s);
    const bool is = s->p < s->stop && *s->p == c;
    s->p += is;
    return is;
}

static bool starts_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

bool trl_feature_scan_any_word(trl_feature_scan *s, trl_str *out)
{
    skip_blanks(s);
    const char *from = s->p;
    if (from >= s->stop || !starts_word(*from))
        return false;
    while (s->p < s->stop && (starts_word(*s->p) || (*s->p >= '0' && *s->p <= '9') || *s->p == '-'))
        s->p++;
    *out = (trl_str){from, (size_t)(s->p - from)};
    return true;
}

bool trl_feature_scan_word(trl_feature_scan *s, const char *word)
{
    trl_str have;
    const char *from = s->p;
    if (trl_feature_scan_any_word(s, &have) && trl_str_is(have, word))
        return true;
    s->p = from;
    return false;
}

bool trl_feature_scan_marker(trl_feature_scan *s, const char *word)
{
    const char *from = s->p;
    if (trl_feature_scan_word(s, word) && s->p < s->stop && *s->p == ':') {
        s->p++;
        return true;
    }
    s->p = from;
    return false;
}

trl_status trl_feature_scan_string(trl_feature_scan *s, const char *what, trl_str *out)
{
    trl_feature_scan_mark(s);
    if (!trl_feature_scan_sign(s, '"'))
        return trl_feature_scan_fail(s, "%s in quotes is expected here", what);
    const char *from = s->p;
    while (s->p < s->stop && *s->p != '"')
        s->p += *s->p == '\\' && s->p + 1 < s->stop ? 2 : 1;
    if (s->p >= s->stop)
        return trl_feature_scan_fail(s, "the quote is not closed");
    *out = (trl_str){from, (size_t)(s->p - from)};
    s->p++;
    return TRL_OK;
}

static bool read_number(trl_feature_scan *s, int64_t *out)
{
    const char *from = s->p;
    const bool minus = s->p < s->stop && *s->p == '-';
    if (s->p < s->stop && (*s->p == '-' || *s->p == '+'))
        s->p++;
    const char *digits = s->p;
    int64_t v = 0;
    for (; s->p < s->stop && *s->p >= '0' && *s->p <= '9'; s->p++)
        v = v < 1000000000 ? v * 10 + (*s->p - '0') : v;
    *out = minus ? -v : v;
    if (s->p == digits)
        s->p = from;
    return s->p > digits;
}

bool trl_feature_scan_number_is_next(trl_feature_scan *s)
{
    int64_t v;
    skip_blanks(s);
    const char *from = s->p;
    const bool is = read_number(s, &v);
    s->p = from;
    return is;
}

trl_status trl_feature_scan_numbers(trl_feature_scan *s, int64_t least, int64_t most,
                                    const char *what, trl_numbers *out)
{
    out->n = 0;
    do {
        int64_t from, to;
        trl_feature_scan_mark(s);
        if (!read_number(s, &from))
            return trl_feature_scan_fail(s, "%s is expected here", what);
        to = from;
        if (s->stop - s->p >= 2 && s->p[0] == '.' && s->p[1] == '.') {
            s->p += 2;
            if (!read_number(s, &to))
                return trl_feature_scan_fail(s, "%s is expected after '..'", what);
        }
        if (from < least || to > most)
            return trl_feature_scan_fail(s, "%s is from %lld to %lld", what, (long long)least,
                                         (long long)most);
        if (to < from)
            return trl_feature_scan_fail(s, "the range ends before it begins");
        if ((size_t)(to - from) >= TRL_NUMBERS_MAX - out->n)
            return trl_feature_scan_fail(s, "more than %d numbers", TRL_NUMBERS_MAX - 1);
        for (; from <= to; from++)
            out->v[out->n++] = from;
    } while (trl_feature_scan_sign(s, ','));
    return TRL_OK;
}
