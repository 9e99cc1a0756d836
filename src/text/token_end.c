/* token_end.c -- how far a token goes. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/tokens.h"

static bool in_word(trl_char c)
{
    return (trl_char_is_letter(c.class) && c.class != TRL_CHAR_IDEOGRAPH) ||
           c.class == TRL_CHAR_DIGIT || c.class == TRL_CHAR_NUMBER || c.class == TRL_CHAR_MARK ||
           c.code == '_';
}

static bool is_letter(trl_char c)
{
    return trl_char_is_letter(c.class) || c.class == TRL_CHAR_MARK;
}

static size_t skip_marks(trl_str text, size_t at)
{
    for (;;) {
        const trl_char c = trl_char_at(text, at);
        if (c.class != TRL_CHAR_MARK)
            return at;
        at += c.n;
    }
}

/* ---- pictographs and punctuation ------------------------------------------------------------- */

#define JOINER 0x200d

static bool is_flag_letter(uint32_t code)
{
    return code >= 0x1f1e6 && code <= 0x1f1ff;
}

/* A symbol with what belongs to it: marks, skin tones, what a joiner ties to it; two letters of a
 * flag. */
static size_t symbol_end(trl_str text, size_t at)
{
    const trl_char first = trl_char_at(text, at);
    size_t end = at + first.n;
    if (is_flag_letter(first.code) && is_flag_letter(trl_char_at(text, end).code))
        return end + 4;
    for (;;) {
        const trl_char c = trl_char_at(text, end), before = trl_char_before(text, end);
        const bool tone = c.code >= 0x1f3fb && c.code <= 0x1f3ff;
        const bool tied = before.code == JOINER && c.class == TRL_CHAR_SYMBOL;
        if (c.class != TRL_CHAR_MARK && !(tone && first.code >= 0x2600) && !tied)
            return end;
        end += c.n;
    }
}

/* Rules of --- and ***, and ... and ?! */
static size_t run_end(trl_str text, size_t at)
{
    const char c = text.p[at];
    size_t end = at + 1;
    if (c == '!' || c == '?') {
        while (end < text.n && (text.p[end] == '!' || text.p[end] == '?'))
            end++;
    } else if (memchr(".-=*_~+#", c, 8)) {
        while (end < text.n && text.p[end] == c)
            end++;
    } else if ((c == '`' || c == '\'') && end < text.n && text.p[end] == c) {
        end++; /* quotes of the Penn Treebank */
    }
    return end;
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_apostrophe(uint32_t code)
{
    return code == '\'' || code == 0x2019 || code == 0x2bc;
}

static bool is_hyphen(uint32_t code)
{
    return code == '-' || code == 0x2010 || code == 0x2011;
}

/* Is [from, to) one of the words of the list, in small letters of ASCII, each followed by a blank?
 */
static bool is_one_of(trl_str text, size_t from, size_t to, const char *list)
{
    const size_t n = to - from;
    for (const char *p = list; *p;) {
        const size_t len = strcspn(p, " ");
        size_t i = 0;
        while (i < n && len == n && (text.p[from + i] | 32) == p[i])
            i++;
        if (len == n && i == n)
            return true;
        p += len + (p[len] == ' ');
    }
    return false;
}

/* The end of the letters at `at`, at most a few characters. */
static size_t letters_end(trl_str text, size_t at)
{
    size_t end = at;
    for (int k = 0; k < 4; k++) {
        const trl_char c = trl_char_at(text, end);
        if (!is_letter(c) && c.class != TRL_CHAR_DIGIT)
            break;
        end += c.n;
    }
    return end;
}

/* Where the ending 's, 'll, n't... starts that the apostrophe at `at` belongs to; `none` when it
 * belongs to none. */
static size_t clitic_start(trl_str text, size_t word, size_t at, size_t none)
{
    const size_t from = at + trl_char_at(text, at).n, to = letters_end(text, from);
    if (is_one_of(text, from, to, "s re ve ll d m"))
        return at;
    if (is_one_of(text, from, to, "t") && at > word + 1 && (text.p[at - 1] | 32) == 'n')
        return at - 1;
    return none;
}

/* French, Italian and Catalan: l' d' qu' dell' ... before a word. */
static bool is_elided(trl_str text, size_t word, size_t at)
{
    const size_t from = at + trl_char_at(text, at).n;
    return letters_end(text, from) > from + 1 &&
           is_one_of(text, word, at,
                     "l d j c s t m n qu lorsqu puisqu jusqu quoiqu all dell "
                     "nell sull dall un");
}

typedef struct word_scan {
    trl_str text;
    size_t start, at;
    trl_char before, next; /* around the character at `at` */
    bool lower, letters;   /* small letters seen; any letters */
    bool colon, digit_first;
    size_t hyphens;
} word_scan;

/* 3-1, 412-268-2144; but 3:30-5:00 and 4-5:30 are three tokens. */
static bool joins_digits(const word_scan *w)
{
    for (size_t at = w->at, k = 0; k < 24; k++) {
        const trl_char c = trl_char_at(w->text, at);
        if (c.code == ':')
            return false;
        if (c.class != TRL_CHAR_DIGIT && !is_hyphen(c.code))
            break;
        at += c.n;
    }
    return !w->colon;
}

/* Does the character between two characters of words join them? */
static bool joins(const word_scan *w, trl_char c)
{
    const bool digits = w->before.class == TRL_CHAR_DIGIT && w->next.class == TRL_CHAR_DIGIT;
    if (digits && is_hyphen(c.code))
        return w->letters || joins_digits(w);
    if (is_hyphen(c.code) && w->next.class == TRL_CHAR_DIGIT && w->digit_first && !w->hyphens)
        return false; /* 3pm-5pm; but 13-Apr-94 */
    if (digits)
        return c.code == '.' || c.code == ',' || c.code == ':' || c.code == '/' ||
               c.code == 0x66b || c.code == 0x66c;
    if (c.code == '.') /* not where only the blank after a sentence is missing */
        return is_letter(w->before) && (!w->lower || w->next.class != TRL_CHAR_UPPER);
    if (c.code == '&')
        return w->before.class == TRL_CHAR_UPPER && w->next.class == TRL_CHAR_UPPER;
    if (c.code == '/') { /* w/o, n/a */
        const size_t from = w->at + 1;
        return is_letter(w->before) && w->at == w->start + w->before.n &&
               letters_end(w->text, from) == from + w->next.n;
    }
    return is_hyphen(c.code) || is_apostrophe(c.code) || c.code == 0xb7; /* Catalan l·l */
}

static void seen(word_scan *w, trl_char c)
{
    w->lower |= c.class == TRL_CHAR_LOWER;
    w->letters |= is_letter(c);
    w->colon |= c.code == ':';
    w->digit_first |= w->at == w->start && c.class == TRL_CHAR_DIGIT;
    w->hyphens += is_hyphen(c.code);
    w->before = c;
    w->at += c.n;
}

static size_t word_end(trl_str text, size_t start, bool *letters)
{
    word_scan w = {.text = text, .start = start, .at = start};
    for (;;) {
        const trl_char c = trl_char_at(text, w.at);
        if (!in_word(c)) {
            w.next = trl_char_at(text, w.at + c.n);
            if (c.n == 0 || w.at == start || !in_word(w.next) || w.next.class == TRL_CHAR_MARK ||
                !joins(&w, c))
                break;
            if (is_apostrophe(c.code)) {
                const size_t none = text.n + 1, clitic = clitic_start(text, start, w.at, none);
                if (clitic != none && clitic > start) {
                    w.at = clitic;
                    break;
                }
                if (is_elided(text, start, w.at)) {
                    w.at += c.n;
                    break;
                }
            }
        }
        seen(&w, c);
    }
    *letters = w.letters;
    return w.at;
}

/* n't and, with an apostrophe first, 's 'll ...: what word_end left of a word. */
static size_t clitic_end(trl_str text, size_t at)
{
    const trl_char before = trl_char_before(text, at);
    const size_t mark = at + ((text.p[at] | 32) == 'n'); /* of n't */
    const trl_char c = trl_char_at(text, mark);
    if (!is_letter(before) || !is_apostrophe(c.code))
        return at;
    const size_t from = mark + c.n, to = letters_end(text, from);
    const char *list = mark > at ? "t" : "s re ve ll d m";
    return is_one_of(text, from, to, list) ? to : at;
}

/* -18 and +3 where no word ends before. */
static bool is_signed(trl_str text, size_t at, trl_char c)
{
    const trl_char before = trl_char_before(text, at);
    return (c.code == '-' || c.code == '+' || c.code == 0x2212) &&
           trl_char_at(text, at + c.n).class == TRL_CHAR_DIGIT &&
           (before.n == 0 || before.class == TRL_CHAR_BLANK || before.code == '(');
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static size_t plain_end(trl_str text, size_t at, trl_token_kind *kind, bool runs)
{
    const trl_char c = trl_char_at(text, at);
    if (c.class == TRL_CHAR_IDEOGRAPH) {
        *kind = TRL_TOKEN_WORD;
        return skip_marks(text, at + c.n);
    }
    *kind = c.class == TRL_CHAR_PUNCTUATION ? TRL_TOKEN_PUNCTUATION : TRL_TOKEN_SYMBOL;
    if (runs && c.n == 1 && c.class != TRL_CHAR_OTHER) {
        const size_t end = run_end(text, at);
        if (end > at + 1)
            return end;
    }
    return c.class == TRL_CHAR_OTHER ? at + c.n : symbol_end(text, at);
}

static size_t fine_end(trl_str text, size_t at, trl_token_kind *kind)
{
    size_t end = at;
    bool letters = false;
    for (trl_char c; in_word(c = trl_char_at(text, end)); end += c.n)
        letters |= is_letter(c);
    if (end == at)
        return plain_end(text, at, kind, false);
    *kind = letters ? TRL_TOKEN_WORD : TRL_TOKEN_NUMBER;
    return end;
}

size_t trl_token_end(trl_str text, size_t at, trl_grain grain, trl_token_kind *kind)
{
    if (grain == TRL_GRAIN_FINE)
        return fine_end(text, at, kind);
    size_t end = trl_link_end(text, at);
    if (end > at) {
        *kind = TRL_TOKEN_LINK;
        return end;
    }
    *kind = TRL_TOKEN_WORD;
    end = clitic_end(text, at);
    if (end > at)
        return end;
    const trl_char c = trl_char_at(text, at);
    const size_t start = is_signed(text, at, c) ? at + c.n : at;
    if (start == at && (!in_word(c) || (c.code == '_' && trl_char_at(text, at + 1).code == '_')))
        return plain_end(text, at, kind, true);
    bool letters;
    end = word_end(text, start, &letters);
    if (!letters)
        *kind = TRL_TOKEN_NUMBER;
    if (end < text.n && text.p[end] == '.' && letters &&
        trl_abbreviation_of((trl_str){text.p + at, end - at},
                            (trl_str){text.p + end + 1, text.n - end - 1}) !=
            TRL_ABBREVIATION_NONE) {
        *kind = TRL_TOKEN_ABBREVIATION;
        end++;
    }
    return end;
}
