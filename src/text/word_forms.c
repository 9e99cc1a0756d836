/* word_forms.c -- forms of words, character by character. */
/* SPDX-License-Identifier: MIT */
#include "text/word_forms.h"

#include <string.h>

static size_t put_utf8(char *to, uint32_t x)
{
    if (x < 0x80) {
        to[0] = (char)x;
        return 1;
    }
    const size_t n = x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; x >>= 6)
        to[i] = (char)(0x80 | (x & 0x3f));
    to[0] = (char)((0xf00 >> n & 0xff) | x);
    return n;
}

/* Small letters: up to three bytes may come of two (U+023A). */
bool trl_word_lower(trl_str s, trl_arena *arena, trl_str *out)
{
    char *to = trl_arena_get(arena, (uint64_t)s.n + s.n / 2 + 1, 1);
    if (!to)
        return false;
    size_t n = 0;
    for (size_t at = 0; at < s.n;) {
        const trl_char c = trl_char_at(s, at);
        const uint32_t small = trl_char_lower(c.code);
        if (small != c.code) {
            n += put_utf8(to + n, small);
        } else {
            memcpy(to + n, s.p + at, c.n);
            n += c.n;
        }
        at += c.n;
    }
    *out = (trl_str){to, n};
    return true;
}

bool trl_word_shape(trl_str s, bool runs_once, trl_arena *arena, trl_str *out)
{
    static const char letters[] = {
        [TRL_CHAR_UPPER] = 'X',     [TRL_CHAR_LOWER] = 'x', [TRL_CHAR_LETTER] = 'c',
        [TRL_CHAR_IDEOGRAPH] = 'c', [TRL_CHAR_DIGIT] = 'd', [TRL_CHAR_NUMBER] = 'd',
        [TRL_CHAR_PUNCTUATION] = 0, [TRL_CHAR_SYMBOL] = 0};
    char *to = trl_arena_get(arena, s.n, 1);
    if (!to)
        return false;
    size_t n = 0, last = 0, at = 0; /* the last character written: to[n - last .. n) */
    for (trl_char c; (c = trl_char_at(s, at)).n; at += c.n) {
        const char letter = letters[c.class];
        const char *p = letter ? &letter : s.p + at;
        const size_t len = letter ? 1 : c.n;
        if ((c.class == TRL_CHAR_MARK && n) ||
            (runs_once && len == last && memcmp(to + n - last, p, len) == 0))
            continue;
        memcpy(to + n, p, len);
        n += len;
        last = len;
    }
    *out = (trl_str){to, n};
    return true;
}

trl_str trl_word_case(trl_str s)
{
    size_t upper = 0, small = 0, letters = 0;
    bool first = false;
    trl_char c;
    for (size_t at = 0; (c = trl_char_at(s, at)).n; at += c.n) {
        first |= at == 0 && c.class == TRL_CHAR_UPPER;
        upper += c.class == TRL_CHAR_UPPER;
        small += c.class == TRL_CHAR_LOWER;
        letters += trl_char_is_letter(c.class);
    }
    if (upper + small == 0)
        return letters ? TRL_STR("uncased") : TRL_STR("none");
    if (upper == 0)
        return TRL_STR("lower");
    if (small == 0)
        return upper == 1 ? TRL_STR("initial") : TRL_STR("upper");
    return first && upper == 1 ? TRL_STR("title") : TRL_STR("mixed");
}

bool trl_word_zeros(trl_str s, trl_arena *arena, trl_str *out)
{
    char *to = trl_arena_get(arena, (uint64_t)s.n + 1, 1);
    if (!to)
        return false;
    size_t n = 0;
    trl_char c;
    for (size_t at = 0; (c = trl_char_at(s, at)).n; at += c.n) {
        if (c.class == TRL_CHAR_DIGIT) {
            to[n++] = '0';
        } else {
            memcpy(to + n, s.p + at, c.n);
            n += c.n;
        }
    }
    *out = (trl_str){to, n};
    return true;
}

trl_str trl_word_kind(trl_str s)
{
    size_t letters = 0, digits = 0, joints = 0, marks = 0, symbols = 0, all = 0;
    trl_char c;
    for (size_t at = 0; (c = trl_char_at(s, at)).n; at += c.n) {
        if (c.class == TRL_CHAR_MARK)
            continue;
        all++;
        letters += trl_char_is_letter(c.class);
        digits += c.class == TRL_CHAR_DIGIT || c.class == TRL_CHAR_NUMBER;
        marks += c.class == TRL_CHAR_PUNCTUATION;
        symbols += c.class == TRL_CHAR_SYMBOL;
        joints += c.code < 128 && c.code && strchr(".,:/-", (int)c.code);
    }
    return all == 0                           ? TRL_STR("")
           : letters == all                   ? TRL_STR("letters")
           : digits == all                    ? TRL_STR("digits")
           : digits && digits + joints == all ? TRL_STR("number")
           : letters + digits == all          ? TRL_STR("letters-digits")
           : marks == all                     ? TRL_STR("punctuation")
           : symbols == all                   ? TRL_STR("symbols")
                                              : TRL_STR("mixed");
}

trl_str trl_word_script(trl_str s)
{
    const char *found = "";
    trl_char c;
    for (size_t at = 0; (c = trl_char_at(s, at)).n; at += c.n) {
        const char *one = trl_char_is_letter(c.class) ? trl_char_script(c.code) : "";
        if (*one && *found && strcmp(one, found) != 0)
            return TRL_STR("mixed");
        if (*one)
            found = one;
    }
    return (trl_str){found, strlen(found)};
}
