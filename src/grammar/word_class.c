/* word_class.c -- classes of words by their letters, after [KM03].
 *
 *     UNK, then
 *     -INITC   a capital first and no other, at the start of the sentence
 *     -CAP     a capital first
 *     -AC      several capitals and no small letter
 *     -MIXC    a capital further inside
 *     -LC      small letters only
 *     -NUM     a digit      -DASH   a hyphen      -PCT   neither letters nor digits
 *     -s, -ed  an ending, for words with small letters
 */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "grammar/lexicon.h"

typedef struct shape {
    size_t length, capitals, smalls, digits, dashes; /* in code points */
    bool capital_first;
} shape;

/* The next code point; an invalid byte stands for itself. */
static uint32_t next_point(trl_str w, size_t *at)
{
    const unsigned char *p = (const unsigned char *)w.p + *at;
    const size_t left = w.n - *at;
    const size_t n = p[0] < 0xc0 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n > 1 && n <= left) {
        uint32_t u = p[0] & (0xffu >> (n + 1));
        size_t k = 1;
        for (; k < n && (p[k] & 0xc0) == 0x80; k++)
            u = u << 6 | (p[k] & 0x3fu);
        if (k == n) {
            *at += n;
            return u;
        }
    }
    ++*at;
    return p[0];
}

/* Latin, Greek and Cyrillic; anything else beyond ASCII counts as a small letter. */
static bool is_capital(uint32_t u)
{
    return (u >= 'A' && u <= 'Z') || (u >= 0xc0 && u <= 0xde && u != 0xd7) ||
           (u >= 0x100 && u < 0x138 && u % 2 == 0) || (u >= 0x139 && u < 0x148 && u % 2 == 1) ||
           (u >= 0x391 && u <= 0x3a9) || (u >= 0x400 && u <= 0x42f);
}

static bool is_small(uint32_t u)
{
    return (u >= 'a' && u <= 'z') || (u >= 0xc0 && !is_capital(u) && !(u >= 0x2000 && u < 0x2c00));
}

static shape shape_of(trl_str w)
{
    shape s = {0};
    for (size_t at = 0; at < w.n; s.length++) {
        const uint32_t u = next_point(w, &at);
        const bool capital = is_capital(u);
        s.capital_first |= capital && s.length == 0;
        s.capitals += capital;
        s.smalls += is_small(u);
        s.digits += u >= '0' && u <= '9';
        s.dashes += u == '-' || (u >= 0x2010 && u <= 0x2015);
    }
    return s;
}

static const char *case_of(const shape *s, size_t at)
{
    if (s->capital_first && s->capitals == 1 && at == 0)
        return "-INITC";
    if (s->capitals >= 2 && s->smalls == 0)
        return "-AC";
    if (s->capital_first)
        return "-CAP";
    if (s->capitals)
        return "-MIXC";
    return s->smalls ? "-LC" : s->digits ? "" : "-PCT";
}

static bool ends_in(trl_str w, const char *ending)
{
    const size_t n = strlen(ending);
    return w.n >= n && memcmp(w.p + w.n - n, ending, n) == 0;
}

static const char *ending_of(trl_str w, const shape *s)
{
    static const char *const endings[] = {"able", "ment", "ness", "ing", "ion", "est", "ity", "ive",
                                          "ous",  "ed",   "er",   "or",  "ly",  "al",  "ic",  "y"};
    if (s->smalls == 0)
        return "";
    if (s->length >= 5)
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
            if (ends_in(w, endings[i]))
                return endings[i];
    if (s->length >= 3 && ends_in(w, "s") && !ends_in(w, "ss") && !ends_in(w, "is") &&
        !ends_in(w, "us"))
        return "s";
    return "";
}

void trl_word_class(trl_str word, size_t at, char name[64])
{
    const shape s = shape_of(word);
    const char *ending = ending_of(word, &s);
    snprintf(name, 64, "UNK%s%s%s%s%s", case_of(&s, at), s.digits ? "-NUM" : "",
             s.dashes ? "-DASH" : "", *ending ? "-" : "", ending);
}
