/* spec_scan.c -- words of a model file. */
/* SPDX-License-Identifier: MIT */
#include "graph_model/spec_scan.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(trl_spec_scan *s)
{
    while (s->p < s->end && is_blank(*s->p))
        s->p++;
    if (s->p < s->end && *s->p == '#')
        while (s->p < s->end && *s->p != '\n')
            s->p++;
}

static void take_line_end(trl_spec_scan *s)
{
    s->line = ++s->p;
    s->row++;
}

bool trl_spec_more(trl_spec_scan *s)
{
    skip_blanks(s);
    while (s->p < s->end && *s->p == '\n') {
        trl_spec_scan ahead = *s;
        take_line_end(&ahead);
        const bool indented = ahead.p < ahead.end && is_blank(*ahead.p);
        skip_blanks(&ahead);
        const bool empty = ahead.p < ahead.end && *ahead.p == '\n';
        if (!indented && !empty)
            return false;
        *s = ahead;
    }
    return s->p < s->end;
}

bool trl_spec_next(trl_spec_scan *s)
{
    skip_blanks(s);
    while (s->p < s->end && *s->p == '\n') {
        take_line_end(s);
        skip_blanks(s);
    }
    return s->p < s->end;
}

trl_spec_place trl_spec_here(const trl_spec_scan *s)
{
    return (trl_spec_place){s->row, (uint64_t)(s->p - s->line) + 1};
}

trl_status trl_spec_at(const trl_spec_scan *s, trl_status st, trl_spec_place at)
{
    return trl_fail_where(s->err, st, s->name, at.row, at.col);
}

trl_str trl_spec_peek(trl_spec_scan *s)
{
    if (!trl_spec_more(s))
        return (trl_str){"", 0};
    const char *to = s->p;
    while (to < s->end && is_word(*to))
        to++;
    return (trl_str){s->p, (size_t)(to - s->p)};
}

trl_str trl_spec_word(trl_spec_scan *s)
{
    const trl_str word = trl_spec_peek(s);
    s->p += word.n;
    return word;
}

bool trl_spec_take(trl_spec_scan *s, const char *sign)
{
    const size_t n = strlen(sign);
    if (!trl_spec_more(s) || (size_t)(s->end - s->p) < n || memcmp(s->p, sign, n) != 0)
        return false;
    s->p += n;
    return true;
}

trl_status trl_spec_expect(trl_spec_scan *s, const char *sign, const char *where)
{
    return trl_spec_take(s, sign)
               ? TRL_OK
               : trl_spec_fail(s, trl_spec_here(s), "'%s' expected %s", sign, where);
}

trl_status trl_spec_number(trl_spec_scan *s, const char *what, int64_t *out)
{
    const trl_spec_place at = trl_spec_more(s) ? trl_spec_here(s) : trl_spec_here(s);
    const trl_str word = trl_spec_word(s);
    int64_t v = 0;
    bool good = word.n > 0 && word.n < 10;
    for (size_t k = 0; good && k < word.n; k++) {
        good = word.p[k] >= '0' && word.p[k] <= '9';
        v = v * 10 + (word.p[k] - '0');
    }
    *out = v;
    return good ? TRL_OK : trl_spec_fail(s, at, "%s expected: a number below 10^9", what);
}

trl_status trl_spec_token(trl_spec_scan *s, trl_token_place *out)
{
    trl_spec_more(s);
    const trl_spec_place at = trl_spec_here(s);
    const trl_str word = trl_spec_word(s);
    if (!trl_spec_is(word, "i") && !trl_spec_is(word, "j"))
        return trl_spec_fail(s, at, "a token expected: i, j, i-1, j+2");
    *out = (trl_token_place){.j = word.p[0] == 'j'};
    const bool minus = trl_spec_take(s, "-");
    if (!minus && !trl_spec_take(s, "+"))
        return TRL_OK;
    int64_t n = 0;
    const trl_status st = trl_spec_number(s, "how many tokens further on", &n);
    out->offset = (int32_t)(minus ? -n : n);
    return st;
}

bool trl_spec_is(trl_str word, const char *text)
{
    return word.n == strlen(text) && memcmp(word.p, text, word.n) == 0;
}
