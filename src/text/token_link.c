/* token_link.c -- URLs, e-mail addresses, @names and #topics. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/tokens.h"

#define SCHEME_MOST 20
#define LOCAL_MOST 64 /* of an address before its @ (RFC 5321) */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool follows(trl_str text, size_t at, const char *what)
{
    const size_t n = strlen(what);
    return text.n - at >= n && memcmp(text.p + at, what, n) == 0;
}

/* Without the punctuation of the sentence around it; brackets stay where they are closed. */
static size_t trim(trl_str text, size_t from, size_t end)
{
    size_t count[4] = {0};
    static const char brackets[] = "()[]";
    for (size_t i = from; i < end; i++) {
        const char *b = memchr(brackets, text.p[i], 4);
        if (b)
            count[b - brackets]++;
    }
    for (; end > from; end--) {
        const char *b = memchr(brackets, text.p[end - 1], 4);
        if (b && (b - brackets) % 2 == 1 && count[b - brackets] > count[b - brackets - 1])
            count[b - brackets]--;
        else if (!memchr(".,;:!?'*", text.p[end - 1], 8))
            break;
    }
    return end;
}

static size_t url_end(trl_str text, size_t from)
{
    size_t end = from;
    for (;;) {
        const trl_char c = trl_char_at(text, end);
        const bool foreign =
            c.code >= 128 && (c.class == TRL_CHAR_PUNCTUATION || c.class == TRL_CHAR_IDEOGRAPH);
        if (c.n == 0 || c.class == TRL_CHAR_BLANK || c.class == TRL_CHAR_OTHER || foreign ||
            (c.code < 128 && memchr("<>\"`{}|\\^", (int)c.code, 9)))
            return trim(text, from, end);
        end += c.n;
    }
}

/* The start of what follows NAME:// or www., which must be there. */
static size_t url_start(trl_str text, size_t at)
{
    size_t i = at;
    if (follows(text, at, "www.") || follows(text, at, "WWW."))
        return at + 4;
    while (i < text.n && i - at < SCHEME_MOST && (is_alnum(text.p[i]) || text.p[i] == '+'))
        i++;
    return i > at + 1 && follows(text, i, "://") ? i + 3 : at;
}

static size_t address_end(trl_str text, size_t at)
{
    size_t i = at;
    while (i < text.n && i - at <= LOCAL_MOST &&
           (is_alnum(text.p[i]) || memchr("._%+-", text.p[i], 5)))
        i++;
    if (i == at || i == text.n || text.p[i] != '@')
        return at;
    const size_t domain = ++i;
    while (i < text.n && (is_alnum(text.p[i]) || text.p[i] == '.' || text.p[i] == '-'))
        i++;
    while (i > domain && !is_alnum(text.p[i - 1]))
        i--;
    return i > domain && is_alnum(text.p[domain]) ? i : at;
}

/* @name, #topic: not inside a word. */
static size_t name_end(trl_str text, size_t at)
{
    const trl_char before = trl_char_before(text, at);
    const trl_char first = trl_char_at(text, at + 1);
    if ((before.n && before.class != TRL_CHAR_BLANK && before.class != TRL_CHAR_PUNCTUATION) ||
        !trl_char_is_letter(first.class) || before.code == (unsigned char)text.p[at])
        return at;
    size_t end = at + 1;
    for (;;) {
        const trl_char c = trl_char_at(text, end);
        if (!trl_char_is_letter(c.class) && c.class != TRL_CHAR_MARK && c.class != TRL_CHAR_DIGIT &&
            c.code != '_')
            return end;
        end += c.n;
    }
}

size_t trl_link_end(trl_str text, size_t at)
{
    const char c = text.p[at];
    if (c == '@' || c == '#')
        return name_end(text, at);
    if (!is_alnum(c) && c != '_')
        return at;
    const size_t start = url_start(text, at);
    if (start > at) {
        const size_t end = url_end(text, start);
        if (end > start)
            return end;
    }
    return address_end(text, at);
}
