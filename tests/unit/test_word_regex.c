/* test_word_regex.c -- regular expressions over characters, against matching by trying everything.
 */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/buf.h"
#include "base/rng.h"
#include "text/word_regex.h"

static trl_error err;

static trl_str str(const char *s)
{
    return (trl_str){s, strlen(s)};
}

/* The match, or NULL when there is none. */
static const char *found(const char *re, const char *s)
{
    static char text[100];
    trl_word_regex *x = NULL;
    size_t at;
    trl_str match = {0};
    assert_ok(trl_word_regex_new(str(re), &x, &at, &err));
    size_t *scratch = malloc(trl_word_regex_scratch(x) * sizeof *scratch);
    const bool yes = trl_word_regex_find(x, str(s), scratch, &match);
    if (yes)
        snprintf(text, sizeof text, "%.*s", (int)match.n, match.p);
    free(scratch);
    trl_word_regex_free(x);
    return yes ? text : NULL;
}

static void test_matches(void **state)
{
    (void)state;
    static const struct {
        const char *re, *s, *match;
    } cases[] = {
        {"b", "abc", "b"},
        {"^b", "abc", NULL},
        {"c$", "abc", "c"},
        {"^$", "", ""},
        {"", "abc", ""},
        {"a|ab|abc", "xabcd", "abc"}, /* the longest */
        {"(a|b)*c", "zabac", "abac"},
        {"x{2}", "xxx", "xx"},
        {"^x{2,3}$", "xxxx", NULL},
        {"x{2,}", "axxxx", "xxxx"},
        {"x{0,1}y", "xxy", "xy"},
        {"[a-c]+", "xxabcd", "abc"},
        {"[^a-c]+", "abxyc", "xy"},
        {"[]a]+", "x]a]", "]a]"},
        {"[a-]+", "b-a", "-a"},
        {"\\d+", "abc123", "123"},
        {"\\d", "\xd9\xa3", "\xd9\xa3"}, /* an Arabic digit */
        {"^\\u\\l+$", "\xc3\x89mile", "\xc3\x89mile"},
        {"^\\u+$", "\xd0\x9c\xd0\x93\xd0\xa3", "\xd0\x9c\xd0\x93\xd0\xa3"},
        {".", "\xc3\xa9x", "\xc3\xa9"},
        {"\xc3\xa9+", "x\xc3\xa9\xc3\xa9y", "\xc3\xa9\xc3\xa9"},
        {"\\a+", "1\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac"},
        {"\\p", "a-b", "-"},
        {"\\w+", "..a_1..", "a_1"},
        {"\\D+", "12ab", "ab"},
        {"\\$", "a$", "$"},
        {"(a*)*b", "aaac", NULL},
        {"(|a)b", "ab", "ab"},
        {".", "\xff", "\xff"}, /* not UTF-8: a character of its own */
        {"a.c",
         "a\xff"
         "c",
         "a\xff"
         "c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *have = found(cases[i].re, cases[i].s);
        if (!have || !cases[i].match)
            assert_true(!have && !cases[i].match);
        else
            assert_string_equal(have, cases[i].match);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *re;
        size_t at;
    } cases[] = {{"*a", 0},    {"a(b", 1},    {"a)b", 1},  {"[a", 0},    {"a\\", 1},
                 {"a{", 1},    {"a{2,1}", 1}, {"a{x}", 1}, {"a{0}", 1},  {"a{101}", 1},
                 {"[z-a]", 1}, {"a|*", 2},    {"(?a)", 1}, {"a{0,0}", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_word_regex *x = NULL;
        size_t at = 99;
        assert_int_equal(trl_word_regex_new(str(cases[i].re), &x, &at, &err), TRL_EPARSE);
        assert_int_equal(at, cases[i].at);
        assert_null(x);
    }
    trl_word_regex *x = NULL;
    size_t at;
    assert_int_equal(trl_word_regex_new(str("((((a{100}){100}){100}){100})"), &x, &at, &err),
                     TRL_EPARSE);
    trl_word_regex_free(NULL);
}

/* ---- against trying everything --------------------------------------------------------------- */

typedef struct node {
    char kind; /* a letter, '.', '|', '&' (one after the other), '*', '?', 'e' (nothing) */
    const struct node *a, *b;
} node;

static node pool[200];
static size_t used;

static const node *random_node(trl_rng *rng, int depth, trl_buf *text)
{
    node *n = &pool[used++];
    const uint64_t what = depth ? trl_rng_below(rng, 6) : 0;
    if (what == 3 || what == 4) {
        trl_buf_ch(text, '(');
        n->a = random_node(rng, depth - 1, text);
        if (what == 3)
            trl_buf_ch(text, '|');
        n->b = random_node(rng, depth - 1, text);
        trl_buf_ch(text, ')');
        n->kind = what == 3 ? '|' : '&';
    } else if (what == 5) {
        trl_buf_ch(text, '(');
        n->a = random_node(rng, depth - 1, text);
        n->kind = trl_rng_below(rng, 2) ? '*' : '?';
        trl_buf_ch(text, ')');
        trl_buf_ch(text, n->kind);
    } else {
        n->kind = "ab."[trl_rng_below(rng, 3)];
        trl_buf_ch(text, n->kind);
    }
    return n;
}

/* Bit k of the answer: s[from .. k) matches. */
static uint32_t ends(const node *n, const char *s, size_t len, size_t from)
{
    uint32_t out = 0, now, next;
    switch (n->kind) {
    case '|':
        return ends(n->a, s, len, from) | ends(n->b, s, len, from);
    case '&':
        now = ends(n->a, s, len, from);
        for (size_t k = 0; k <= len; k++)
            if (now >> k & 1)
                out |= ends(n->b, s, len, k);
        return out;
    case '?':
        return ends(n->a, s, len, from) | 1u << from;
    case '*':
        out = 1u << from;
        do {
            next = out;
            for (size_t k = 0; k <= len; k++)
                if (next >> k & 1)
                    out |= ends(n->a, s, len, k);
        } while (out != next);
        return out;
    default:
        return from < len && (n->kind == '.' || s[from] == n->kind) ? 1u << (from + 1) : 0;
    }
}

static void test_random(void **state)
{
    (void)state;
    trl_rng rng = trl_rng_seed(7);
    for (int trial = 0; trial < 2000; trial++) {
        trl_buf text = {0};
        used = 0;
        const node *top = random_node(&rng, 4, &text);
        trl_word_regex *x = NULL;
        size_t at;
        assert_ok(trl_word_regex_new((trl_str){text.data, text.len}, &x, &at, &err));
        size_t *scratch = malloc(trl_word_regex_scratch(x) * sizeof *scratch);
        for (int k = 0; k < 5; k++) {
            char s[10];
            const size_t len = trl_rng_below(&rng, 9);
            for (size_t i = 0; i < len; i++)
                s[i] = (char)('a' + trl_rng_below(&rng, 3));
            size_t from = 0;
            uint32_t set = 0;
            while (from <= len && !(set = ends(top, s, len, from)))
                from++;
            trl_str match;
            const bool yes = trl_word_regex_find(x, (trl_str){s, len}, scratch, &match);
            assert_int_equal(yes, set != 0);
            if (yes) {
                assert_int_equal(match.p - s, from);
                assert_int_equal(from + match.n, 31 - __builtin_clz(set));
            }
        }
        free(scratch);
        trl_word_regex_free(x);
        trl_buf_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matches),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
