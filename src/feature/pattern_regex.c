/* pattern_regex.c -- backtracking that remembers failures.
 *
 * Whether the elements i.. match from position j on does not depend on how (i, j) was reached, so a
 * repeated element that failed at j once need not be tried there again, not even for a later start
 * of the match.  One bit per repeated element and position records this: the time is linear in the
 * string for any expression, and the match is the one that plain backtracking finds, since only
 * failures are cut short.
 */
/* SPDX-License-Identifier: MIT */
#include "feature/pattern_regex.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

typedef enum repeat { ONCE, MAYBE, ANY } repeat;

typedef struct element {
    uint64_t set[4]; /* bit per byte it matches */
    repeat repeat;
    uint32_t mark; /* number among the repeated elements */
} element;

struct trl_regex {
    bool at_start, at_end;
    size_t n, n_marks;
    element el[]; /* [n] */
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool in_range(int c, int lo, int hi)
{
    return lo <= c && c <= hi;
}

/* The C locale's classes. */
static bool in_class(char class, int c)
{
    const bool lower = in_range(c, 'a', 'z'), upper = in_range(c, 'A', 'Z');
    const bool digit = in_range(c, '0', '9');
    switch (class) {
    case 'a':
        return lower || upper;
    case 'd':
        return digit;
    case 'l':
        return lower;
    case 'p':
        return in_range(c, '!', '~') && !lower && !upper && !digit;
    case 's':
        return c == ' ' || in_range(c, '\t', '\r');
    case 'u':
        return upper;
    default: /* 'w' */
        return lower || upper || digit;
    }
}

static void set_byte(element *e, unsigned char c)
{
    e->set[c >> 6] |= UINT64_C(1) << (c & 63);
}

static void set_class(element *e, char class, bool complement)
{
    for (int c = 0; c < 256; c++)
        if (in_class(class, c) != complement)
            set_byte(e, (unsigned char)c);
}

/* The element at re[i]; returns the offset after it. */
static size_t read_element(const char *re, size_t i, element *e)
{
    *e = (element){.repeat = ONCE};
    if (re[i] == '.') {
        memset(e->set, 0xff, sizeof e->set);
        return i + 1;
    }
    if (re[i] != '\\') {
        set_byte(e, (unsigned char)re[i]);
        return i + 1;
    }
    const char c = re[i + 1];
    const char lower = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    if (lower && strchr("adlpsuw", lower))
        set_class(e, lower, lower != c);
    else
        set_byte(e, (unsigned char)c);
    return i + 2;
}

static trl_status read_elements(const char *s, size_t n, trl_regex *re, size_t *at, trl_error *err)
{
    size_t i = n > 0 && s[0] == '^';
    re->at_start = i == 1;
    while (i < n) {
        *at = i;
        if (s[i] == '*' || s[i] == '?')
            return trl_fail(err, TRL_EPARSE, "'%c' repeats nothing", s[i]);
        if (s[i] == '\\' && i + 1 == n)
            return trl_fail(err, TRL_EPARSE, "a backslash ends the expression");
        if (s[i] == '$' && i + 1 == n) {
            re->at_end = true;
            break;
        }
        if (re->n == TRL_REGEX_MAX)
            return trl_fail(err, TRL_EPARSE, "more than %d elements", TRL_REGEX_MAX);
        element *e = &re->el[re->n++];
        i = read_element(s, i, e);
        if (i < n && (s[i] == '*' || s[i] == '?')) {
            e->repeat = s[i++] == '*' ? ANY : MAYBE;
            e->mark = (uint32_t)re->n_marks++;
        }
    }
    return TRL_OK;
}

trl_status trl_regex_new(const char *s, size_t n, trl_regex **out, size_t *at, trl_error *err)
{
    const size_t room = n < TRL_REGEX_MAX ? n : TRL_REGEX_MAX;
    trl_regex *re = trl_zalloc(1, sizeof *re + room * sizeof re->el[0]);
    *at = 0;
    if (!re)
        return trl_fail_mem(err);
    const trl_status st = read_elements(s, n, re, at, err);
    if (st != TRL_OK) {
        trl_regex_free(re);
        return st;
    }
    *out = re;
    return TRL_OK;
}

void trl_regex_free(trl_regex *re)
{
    trl_free(re);
}

/* ---- matching -------------------------------------------------------------------------------- */

typedef struct search {
    const trl_regex *re;
    const unsigned char *s;
    size_t n;
    unsigned char *failed; /* bit mark (n + 1) + j */
} search;

static inline bool takes(const search *m, const element *e, size_t j)
{
    return j < m->n && (e->set[m->s[j] >> 6] >> (m->s[j] & 63) & 1);
}

/* True on the first visit of the repeated element e at j. */
static inline bool enter(const search *m, const element *e, size_t j)
{
    const size_t bit = e->mark * (m->n + 1) + j;
    const unsigned char mask = (unsigned char)(1u << (bit & 7));
    const bool first = !(m->failed[bit >> 3] & mask);
    m->failed[bit >> 3] |= mask;
    return first;
}

/* Do the elements from i on match from j on?  *end is then the end of the match.  Recursion is
 * as deep as there are repeated elements. */
static bool match_here(const search *m, size_t i, size_t j, size_t *end)
{
    const trl_regex *re = m->re;
    for (; i < re->n; i++) {
        const element *e = &re->el[i];
        switch (e->repeat) {
        case ONCE:
            if (!takes(m, e, j))
                return false;
            j++;
            break;
        case MAYBE:
            if (!enter(m, e, j))
                return false;
            if (takes(m, e, j) && match_here(m, i + 1, j + 1, end))
                return true;
            break;
        case ANY:
            for (;; j++) {
                if (!enter(m, e, j))
                    return false;
                if (match_here(m, i + 1, j, end))
                    return true;
                if (!takes(m, e, j))
                    return false;
            }
        }
    }
    *end = j;
    return !re->at_end || j == m->n;
}

trl_regex_answer trl_regex_find(const trl_regex *re, const char *s, size_t n, size_t *from,
                                size_t *len)
{
    unsigned char few[256];
    if (n > SIZE_MAX / (2 * TRL_REGEX_MAX))
        return TRL_REGEX_NOMEM;
    const size_t bytes = (re->n_marks * (n + 1) + 7) / 8;
    search m = {.re = re, .s = (const unsigned char *)s, .n = n, .failed = few};
    if (bytes > sizeof few) {
        m.failed = trl_zalloc(bytes, 1);
        if (!m.failed)
            return TRL_REGEX_NOMEM;
    } else {
        memset(few, 0, bytes);
    }
    bool found = false;
    size_t start = 0, end = 0;
    for (;; start++) {
        found = match_here(&m, 0, start, &end);
        if (found || re->at_start || start == n)
            break;
    }
    if (bytes > sizeof few)
        trl_free(m.failed);
    if (!found)
        return TRL_REGEX_NO;
    *from = start;
    *len = end - start;
    return TRL_REGEX_YES;
}
