/* test_pattern_regex.c -- the little regular expressions, against a matcher that enumerates. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "base/rng.h"
#include "feature/pattern_regex.h"

static trl_error err;

/* ---- the oracle: the text of the expression is interpreted, every choice is tried in its
 * order of preference, nothing is remembered.  It reads NUL-terminated strings. ------------
 */

static bool naive_one(const char *re, char c)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz",
                      upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char digit[] = "0123456789", space[] = " \t\n\v\f\r";
    static const char punct[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    if (*re != '\\')
        return *re == '.' || *re == c;
    switch (re[1]) {
    case 'a':
        return strchr(lower, c) || strchr(upper, c);
    case 'A':
        return !strchr(lower, c) && !strchr(upper, c);
    case 'd':
        return strchr(digit, c);
    case 'D':
        return !strchr(digit, c);
    case 'l':
        return strchr(lower, c);
    case 'L':
        return !strchr(lower, c);
    case 'u':
        return strchr(upper, c);
    case 'U':
        return !strchr(upper, c);
    case 'p':
        return strchr(punct, c);
    case 'P':
        return !strchr(punct, c);
    case 's':
        return strchr(space, c);
    case 'S':
        return !strchr(space, c);
    case 'w':
        return strchr(lower, c) || strchr(upper, c) || strchr(digit, c);
    case 'W':
        return !strchr(lower, c) && !strchr(upper, c) && !strchr(digit, c);
    default:
        return re[1] == c;
    }
}

/* The end of the match of re at s, or NULL. */
static const char *naive_at(const char *re, const char *s)
{
    if (!*re)
        return s;
    if (re[0] == '$' && !re[1])
        return *s ? NULL : s;
    const char *rest = re + (*re == '\\' ? 2 : 1), *end = NULL;
    if (*rest == '*') {
        for (rest++; !(end = naive_at(rest, s)) && *s && naive_one(re, *s);)
            s++;
        return end;
    }
    const bool one = *s && naive_one(re, *s);
    if (*rest == '?') {
        rest++;
        if (one)
            end = naive_at(rest, s + 1);
        return end ? end : naive_at(rest, s);
    }
    return one ? naive_at(rest, s + 1) : NULL;
}

static const char *naive_find(const char *re, const char *s, const char **end)
{
    if (*re == '^')
        return (*end = naive_at(re + 1, s)) ? s : NULL;
    for (;; s++) {
        if ((*end = naive_at(re, s)))
            return s;
        if (!*s)
            return NULL;
    }
}

/* ---- tests ------------------------------------------------------------------------ */

static trl_regex *compiled(const char *re)
{
    trl_regex *r = NULL;
    size_t at;
    assert_ok(trl_regex_new(re, strlen(re), &r, &at, &err));
    return r;
}

/* want: the matched part, NULL for none; from: where it starts. */
static void expect(const char *re, const char *s, const char *want, size_t from)
{
    trl_regex *r = compiled(re);
    size_t got = 99, len = 99;
    const trl_regex_answer a = trl_regex_find(r, s, strlen(s), &got, &len);
    trl_regex_free(r);
    if (!want) {
        assert_int_equal(a, TRL_REGEX_NO);
        return;
    }
    if (a != TRL_REGEX_YES || got != from || len != strlen(want) || memcmp(s + got, want, len))
        fail_msg("'%s' on '%s': %d at %zu, %zu bytes", re, s, (int)a, got, len);
}

static void test_examples(void **state)
{
    (void)state;
    expect("", "abc", "", 0);
    expect("^", "abc", "", 0);
    expect("$", "abc", "", 3);
    expect("^$", "abc", NULL, 0);
    expect("^$", "", "", 0);
    expect("b", "abc", "b", 1);
    expect("^b", "abc", NULL, 0);
    expect("b$", "abc", NULL, 0);
    expect("c$", "abc", "c", 2);
    expect("^.?.?", "abc", "ab", 0);
    expect("^.?.?.?.?", "abc", "abc", 0);
    expect(".?.?$", "abc", "bc", 1);
    expect("a*", "aaa", "", 0); /* as few as will do */
    expect("^a*b", "aaab", "aaab", 0);
    expect("a.*c", "xabcbc", "abc", 1);
    expect("a.*c$", "xabcbc", "abcbc", 1);
    expect("^\\d*$", "1984", "1984", 0);
    expect("^\\d*$", "19x4", NULL, 0);
    expect("\\u", "abCd", "C", 2);
    expect("\\p", "it's", "'", 2);
    expect(".\\p.", "it's", "t's", 1);
    expect("\\.\\*\\?\\\\", "a.*?\\", ".*?\\", 1);
    expect("a^b$c", "a^b$c", "a^b$c", 0);
    expect("a\\$", "a$", "a$", 0);
    expect("^^$*x", "^$$x", "^$$x", 0);
    expect("a?ab", "abc", "ab", 0); /* Wapiti: one byte more */
    expect(".?\\d", "5x", "5", 0);
    expect("\\A", "\xc3", "\xc3", 0);
    expect("\\w", "\xc3", NULL, 0);
    expect("\\q", "q", "q", 0);
    expect("\\s", "a\vb", "\v", 1);
}

static void expect_fault(const char *re, size_t n, size_t at_want)
{
    trl_regex *r = NULL;
    size_t at = 999;
    assert_int_equal(trl_regex_new(re, n, &r, &at, &err), TRL_EPARSE);
    assert_int_equal(at, at_want);
    assert_null(r);
}

static void test_faults(void **state)
{
    (void)state;
    expect_fault("*", 1, 0);
    expect_fault("?a", 2, 0);
    expect_fault("^*", 2, 1);
    expect_fault("ab**", 4, 3);
    expect_fault("a?*", 3, 2);
    expect_fault("ab\\", 3, 2);
    char longer[TRL_REGEX_MAX + 2];
    memset(longer, 'a', sizeof longer);
    expect_fault(longer, TRL_REGEX_MAX + 1, TRL_REGEX_MAX);
    trl_regex *r = NULL;
    size_t at;
    assert_ok(trl_regex_new(longer, TRL_REGEX_MAX, &r, &at, &err));
    trl_regex_free(r);
    trl_regex_free(NULL);
}

static void random_regex(trl_rng *rng, char *re)
{
    static const char *const parts[] = {"a",   "b",   "A",   "1",   ".",   "\\d", "\\a", "\\w",
                                        "\\l", "\\u", "\\p", "\\s", "\\D", "\\A", "\\W", "\\L",
                                        "\\U", "\\P", "\\S", "\\.", "^",   "$",   "-",   "\\$"};
    char *p = re;
    if (trl_rng_below(rng, 4) == 0)
        *p++ = '^';
    const size_t n = trl_rng_below(rng, 7);
    for (size_t i = 0; i < n; i++) {
        const size_t k = trl_rng_below(rng, 3) ? trl_rng_below(rng, 5)
                                               : trl_rng_below(rng, sizeof parts / sizeof *parts);
        p += sprintf(p, "%s", parts[k]);
        if (trl_rng_below(rng, 2))
            *p++ = trl_rng_below(rng, 2) ? '*' : '?';
    }
    if (trl_rng_below(rng, 4) == 0)
        *p++ = '$';
    *p = '\0';
}

static void test_random(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(3);
    static const char bytes[] = "aaabbbAA11.$^- \xe9";
    size_t yes = 0, longer = 0;
    for (int i = 0; i < 60000; i++) {
        char re[64], s[16];
        random_regex(&rng, re);
        if (re[0] == '^' && (re[1] == '*' || re[1] == '?'))
            continue;
        trl_regex *r = compiled(re);
        for (int j = 0; j < 8; j++) {
            const size_t n = trl_rng_below(&rng, 12);
            for (size_t b = 0; b < n; b++)
                s[b] = bytes[trl_rng_below(&rng, sizeof bytes - 1)];
            s[n] = '\0';
            const char *end = NULL, *start = naive_find(re, s, &end);
            size_t from = 0, len = 0;
            const trl_regex_answer a = trl_regex_find(r, s, n, &from, &len);
            if ((a == TRL_REGEX_YES) != (start != NULL))
                fail_msg("'%s' on '%s': %d", re, s, (int)a);
            if (start && (s + from != start || s + from + len != end))
                fail_msg("'%s' on '%s': [%zu, +%zu], not [%zd, +%zd]", re, s, from, len,
                         (ptrdiff_t)(start - s), (ptrdiff_t)(end - start));
            yes += start != NULL;
            longer += start && len > 1;
        }
        trl_regex_free(r);
    }
    assert_true(yes > 100000 && longer > 30000); /* the comparison is not an empty one */
}

/* Expressions that take plain backtracking ages, on a string that does not fit the stack. */
static void test_no_blow_up(void **state)
{
    (void)state;
    const size_t n = 20000;
    char *s = malloc(n);
    memset(s, 'a', n);
    size_t from, len;
    char many[3 * 60 + 1] = "";
    for (int i = 0; i < 60; i++)
        memcpy(many + 3 * i, i < 30 ? "a?a" : "a*a", 4);
    many[sizeof many - 2] = 'b';
    trl_regex *r = compiled(many);
    assert_int_equal(trl_regex_find(r, s, n, &from, &len), TRL_REGEX_NO);
    trl_regex_free(r);
    r = compiled(".*a.*a.*a.*b");
    assert_int_equal(trl_regex_find(r, s, n, &from, &len), TRL_REGEX_NO);
    s[n - 1] = 'b';
    assert_int_equal(trl_regex_find(r, s, n, &from, &len), TRL_REGEX_YES);
    assert_int_equal(from, 0);
    assert_int_equal(len, n);
    trl_regex_free(r);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_no_blow_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
