/* sentence_end.c -- does a sentence end between two tokens?
 *
 * It does after final punctuation (and the quotes and brackets that close with it) when white
 * space and anything but a small letter follow; in scripts that write no blanks, without them.
 * The full stop of an abbreviation ends one only before a word that mostly starts sentences, and
 * that of a title or initial never.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/tokens.h"

static bool is_one(uint32_t code, const uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == code)
            return true;
    return false;
}

#define CLOSING_MOST 8
#define IS_ONE(code, list) is_one(code, list, sizeof(list) / sizeof *(list))

static bool is_final(uint32_t code)
{
    static const uint32_t list[] = {'.',    '!',    '?',    0x2026, 0x203c, 0x203d, 0x2047, 0x2048,
                                    0x2049, 0x37e,  0x589,  0x61f,  0x6d4,  0x964,  0x965,  0x104a,
                                    0x104b, 0x1362, 0x1367, 0x17d4, 0x17d5, 0xf0d,  0xf0e};
    return IS_ONE(code, list);
}

static bool is_final_unspaced(uint32_t code)
{
    static const uint32_t list[] = {0x3002, 0xff01, 0xff0e, 0xff1f, 0xff61};
    return IS_ONE(code, list);
}

static bool is_closing(uint32_t code)
{
    static const uint32_t list[] = {'"',    '\'',   ')',    ']',    '}',    0xbb,   0x2019, 0x201d,
                                    0x203a, 0x3009, 0x300b, 0x300d, 0x300f, 0x3011, 0xff09, 0xff3d};
    return IS_ONE(code, list);
}

static bool is_opening(uint32_t code)
{
    static const uint32_t list[] = {'"',    '\'',   '(',    '[',    '{',  '`',  0xab,
                                    0x2018, 0x201c, 0x201e, 0x2039, 0xa1, 0xbf, 0x300c};
    return IS_ONE(code, list);
}

/* Words that start sentences far more often than they follow an abbreviation inside one. */
static bool is_starter(trl_str text, const trl_token *t)
{
    static const char list[] =
        "The This That These Those There It He She We They You I In On At For From If "
        "When While After Before But And So As A An What Who How Why Please "
        "However His Her Its Our Their My Your All Some Many ";
    const size_t n = t->end - t->begin;
    for (const char *p = list; *p; p += strcspn(p, " ") + 1)
        if (strcspn(p, " ") == n && memcmp(p, text.p + t->begin, n) == 0)
            return true;
    return false;
}

/* The word that ends before the full stop at `stop`: of fine tokens several, p . m */
static trl_str word_before(trl_str text, size_t stop)
{
    size_t from = stop;
    while (from > 0 && stop - from < 40) {
        const trl_char c = trl_char_before(text, from);
        if (!trl_char_is_letter(c.class) && c.class != TRL_CHAR_MARK && c.code != '.')
            break;
        from -= c.n;
    }
    while (from < stop && text.p[from] == '.')
        from++;
    return (trl_str){text.p + from, stop - from};
}

/* What the next sentence would start with. */
static trl_char start_of(trl_str text, size_t at)
{
    for (int k = 0; k < 8; k++) {
        const trl_char c = trl_char_at(text, at);
        if (!is_opening(c.code))
            return c;
        at += c.n;
    }
    return trl_char_at(text, at);
}

bool trl_sentence_ends(trl_str text, const trl_token *first, const trl_token *token)
{
    const trl_token *t = token - 1;
    const bool gap = t->end < token->begin;
    trl_char c = trl_char_before(text, t->end);
    while (t > first && token - t < CLOSING_MOST && is_closing(c.code) && t[-1].end == t->begin) {
        t--;
        c = trl_char_before(text, t->end);
    }
    const trl_char next = trl_char_at(text, token->begin);
    if (is_final_unspaced(c.code))
        return gap || !is_closing(next.code);
    if (!gap || !is_final(c.code) || t->kind == TRL_TOKEN_LINK)
        return false;
    if (start_of(text, token->begin).class == TRL_CHAR_LOWER || is_final(next.code))
        return false;
    if (c.code != '.' || (t->end - t->begin > 1 && t->kind != TRL_TOKEN_ABBREVIATION))
        return true; /* ! ? ... */
    const size_t stop = t->end - 1;
    const trl_str rest = {text.p + stop + 1, text.n - stop - 1};
    switch (trl_abbreviation_of(word_before(text, stop), rest)) {
    case TRL_ABBREVIATION_TITLE:
        return false;
    case TRL_ABBREVIATION_OTHER:
        return is_starter(text, token);
    case TRL_ABBREVIATION_NONE:
    default:
        return true;
    }
}
