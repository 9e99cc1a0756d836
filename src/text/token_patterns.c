/* token_patterns.c -- columns of times, dates and names.
 *
 * Patterns are looked for in the text, not in tokens: they are the same for fine tokens. The kinds
 * of patterns are those of [SM04], which the seminar announcements have been studied with.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "text/token_columns.h"
#include "text/tokens.h"

static bool is_digit(trl_str s, size_t at)
{
    return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

static bool is_word(trl_str s, size_t at)
{
    const trl_char c = trl_char_at(s, at);
    return trl_char_is_letter(c.class) || c.class == TRL_CHAR_DIGIT;
}

static bool after_word(trl_str s, size_t at)
{
    const trl_char c = trl_char_before(s, at);
    return trl_char_is_letter(c.class) || c.class == TRL_CHAR_DIGIT;
}

/* One or two digits of at most `most`; their end, or `at`. */
static size_t number_end(trl_str s, size_t at, unsigned most)
{
    unsigned x = 0;
    size_t end = at;
    while (end - at < 3 && is_digit(s, end))
        x = 10 * x + (unsigned)(s.p[end++] - '0');
    return end > at && end - at <= 2 && x <= most ? end : at;
}

static size_t skip_spaces(trl_str s, size_t at)
{
    const size_t from = at;
    while (at < s.n && at - from < 4 && (s.p[at] == ' ' || s.p[at] == '\t'))
        at++;
    return at;
}

/* am, pm, a.m., P.M.; the end, or `at`. */
static size_t half_day_end(trl_str s, size_t at)
{
    size_t i = at;
    if (i >= s.n || ((s.p[i] | 32) != 'a' && (s.p[i] | 32) != 'p'))
        return at;
    i++;
    i += i < s.n && s.p[i] == '.';
    if (i >= s.n || (s.p[i] | 32) != 'm' || is_word(s, i + 1))
        return at;
    return i + 1 < s.n && s.p[i] != '.' && s.p[i + 1] == '.' && s.p[i - 1] == '.' ? i + 2 : i + 1;
}

static bool is_word_of(trl_str s, const char *list)
{
    for (const char *p = list; *p; p += strcspn(p, " ") + 1) {
        const size_t n = strcspn(p, " ");
        size_t i = 0;
        while (i < n && n == s.n && (s.p[i] | 32) == p[i])
            i++;
        if (n == s.n && i == n)
            return true;
    }
    return false;
}

/* 3:30, 3:30 pm, 15.30 Uhr is not; 3 pm, noon.  The end, or `at`. */
static size_t time_end(trl_str s, size_t at)
{
    if (after_word(s, at) || (at > 0 && (s.p[at - 1] == ':' || s.p[at - 1] == '.')))
        return at;
    const size_t hours = number_end(s, at, 24);
    if (hours == at) {
        size_t end = at;
        while (end - at < 9 && end < s.n && is_word(s, end))
            end++;
        return is_word_of((trl_str){s.p + at, end - at}, "noon midnight ") ? end : at;
    }
    size_t end = hours;
    if (end < s.n && s.p[end] == ':') {
        const size_t minutes = number_end(s, end + 1, 59);
        end = minutes == end + 3 && !is_digit(s, minutes) ? minutes : hours;
    }
    const size_t half = skip_spaces(s, end), after = half_day_end(s, half);
    if (after > half)
        return after;
    return end > hours && !(end < s.n && s.p[end] == ':') && !is_word(s, end) ? end : at;
}

/* A dash, or the word "to", at `at` after blanks. */
static bool dash_follows(trl_str s, size_t at)
{
    at = skip_spaces(s, at);
    const trl_char c = trl_char_at(s, at);
    return c.code == '-' || c.code == 0x2013 || c.code == 0x2014 ||
           (at + 2 < s.n && memcmp(s.p + at, "to", 2) == 0 && !is_word(s, at + 2));
}

static void fill(const trl_token_text *x, size_t *t, size_t end, trl_str value, trl_str *cell,
                 size_t stride)
{
    while (*t < x->n && x->token[*t].begin < end)
        cell[(*t)++ * stride] = value;
}

void trl_time_column(const trl_token_text *x, trl_str *cell, size_t stride)
{
    size_t started = 0; /* where the time ended that a dash follows */
    for (size_t t = 0; t < x->n;) {
        const size_t at = x->token[t].begin, end = time_end(x->text, at);
        if (end == at) {
            cell[t++ * stride] = TRL_STR("-");
            continue;
        }
        const bool range = started && at - started < 12;
        started = dash_follows(x->text, end) ? end : 0;
        fill(x, &t, end,
             range     ? TRL_STR("end")
             : started ? TRL_STR("start")
                       : TRL_STR("time"),
             cell, stride);
    }
}

/* ---- dates ----------------------------------------------------------------------------------- */

static const char days[] =
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur "
    "thurs fri sat sun ";
static const char months[] =
    "january february march april may june july august september october november "
    "december jan feb mar apr jun jul aug sep sept oct nov dec ";

static size_t letters_end(trl_str s, size_t at)
{
    size_t end = at;
    while (end < s.n && end - at < 10 && (s.p[end] | 32) >= 'a' && (s.p[end] | 32) <= 'z')
        end++;
    return end;
}

/* 10/12/94, 10/12, 13-Apr-94, 1994-10-12; the end, or `at`. */
static size_t date_end(trl_str s, size_t at)
{
    if (!is_digit(s, at) || after_word(s, at))
        return at;
    size_t end = at, parts = 1;
    char mark = '\0';
    while (is_digit(s, end) && end - at < 4)
        end++;
    for (; parts < 3 && end + 1 < s.n && (s.p[end] == '/' || s.p[end] == '-'); parts++) {
        size_t next = end + 1;
        if (mark && s.p[end] != mark)
            break;
        mark = s.p[end];
        while (is_digit(s, next) && next - end < 5)
            next++;
        if (next == end + 1) {
            next = letters_end(s, next);
            if (!is_word_of((trl_str){s.p + end + 1, next - end - 1}, months))
                break;
        }
        end = next;
    }
    const bool enough = parts == 3 || (parts == 2 && mark == '/');
    return enough && !is_word(s, end) ? end : at;
}

void trl_date_column(const trl_token_text *x, trl_str *cell, size_t stride)
{
    for (size_t t = 0; t < x->n;) {
        const size_t at = x->token[t].begin, end = date_end(x->text, at);
        if (end > at) {
            fill(x, &t, end, TRL_STR("date"), cell, stride);
            continue;
        }
        trl_str s = trl_token_str(x, t);
        s.n -= s.n > 1 && s.p[s.n - 1] == '.';
        const bool capital = *s.p >= 'A' && *s.p <= 'Z';
        cell[t++ * stride] = capital && is_word_of(s, days)     ? TRL_STR("day")
                             : capital && is_word_of(s, months) ? TRL_STR("month")
                                                                : TRL_STR("-");
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char honorifics[] =
    "mr mrs ms dr prof professor rev sir sr sra mme herr frau president director chair ";

typedef enum part { PART_NONE, PART_TITLE, PART_INITIAL, PART_CAPITAL, PART_STOP } part;

static part part_of(const trl_token_text *x, size_t t)
{
    trl_str s = trl_token_str(x, t);
    const bool stop = s.n > 1 && s.p[s.n - 1] == '.';
    if (s.n == 1 && *s.p == '.')
        return PART_STOP;
    s.n -= stop;
    const trl_char c = trl_char_at(s, 0);
    if (c.class != TRL_CHAR_UPPER)
        return PART_NONE;
    if (is_word_of(s, honorifics))
        return PART_TITLE;
    if (c.n == s.n)
        return stop || (x->token[t].end < x->text.n && x->text.p[x->token[t].end] == '.')
                   ? PART_INITIAL
                   : PART_NONE;
    return trl_char_at(s, c.n).class == TRL_CHAR_LOWER ||
                   trl_char_at(s, c.n).class == TRL_CHAR_UPPER
               ? PART_CAPITAL
               : PART_NONE;
}

/* A run of titles, initials and capitalised words on a line; full stops after the first two belong
 * to it. */
static size_t name_run(const trl_token_text *x, size_t t, bool *certain)
{
    part last = PART_NONE;
    size_t words = 0, end = t;
    *certain = false;
    for (size_t i = t; i < x->n && x->token[i].line <= x->token[t].line + 1; i++) {
        const part p = part_of(x, i);
        if (p == PART_NONE || (p == PART_STOP && last != PART_TITLE && last != PART_INITIAL))
            break;
        *certain |= p == PART_TITLE || p == PART_INITIAL;
        words += p == PART_CAPITAL;
        end = i + 1;
        last = p;
    }
    *certain &= words > 0;
    return end;
}

void trl_name_column(const trl_token_text *x, trl_str *cell, size_t stride)
{
    for (size_t t = 0; t < x->n;) {
        bool certain = false;
        const size_t end = part_of(x, t) == PART_STOP ? t : name_run(x, t, &certain);
        for (const size_t to = end > t ? end : t + 1; t < to; t++) {
            const bool title = part_of(x, t) == PART_TITLE;
            cell[t * stride] = title ? TRL_STR("title") : certain ? TRL_STR("name") : TRL_STR("-");
        }
    }
}
