/* test_chunks.c -- chunk boundaries: every pair of tags, and taggings made from their chunks. */
/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdbool.h>

#include "base/rng.h"
#include "score/chunks.h"
#include "trellis/score.h"

static trl_score *new_score(void)
{
    trl_error err = {0};
    const trl_score_options plain = trl_score_options_default();
    trl_score *s = NULL;
    assert_ok(trl_score_new(&plain, &s, &err));
    return s;
}

static trl_tag tag_of(const char *text)
{
    trl_str prefix, type;
    trl_tag_split((trl_str){text, strlen(text)}, &prefix, &type);
    return (trl_tag){trl_tag_prefix_of(prefix), type.n ? (uint32_t)type.p[0] : 0};
}

static void test_split(void **state)
{
    static const char *const cases[][3] = {
        {"B-NP", "B", "NP"}, {"B-A-B", "B", "A-B"}, {"O", "O", ""},
        {"", "", ""},        {"-X", "", "X"},       {"B-", "B", ""},
        {"B-0", "B", ""},    {"B-00", "B", "00"},   {"--", "", "-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        trl_str prefix, type;
        char got[32], expected[32];
        trl_tag_split((trl_str){cases[i][0], strlen(cases[i][0])}, &prefix, &type);
        snprintf(got, sizeof got, "%.*s|%.*s", (int)prefix.n, prefix.p, (int)type.n, type.p);
        snprintf(expected, sizeof expected, "%s|%s", cases[i][1], cases[i][2]);
        assert_string_equal(got, expected);
    }
}

/* All pairs of prefixes, same and different types, against the rules as a list of pairs. */
static void test_every_pair(void **state)
{
    static const char kinds[] = "BIOES[].X";
    const size_t n = strlen(kinds);
    (void)state;
    for (size_t i = 0; i < n * n * 2; i++) {
        const char p = kinds[i / 2 / n], c = kinds[i / 2 % n];
        const bool differ = i % 2;
        const char prev[] = {p, '-', 'x', 0}, cur[] = {c, '-', differ ? 'y' : 'x', 0};
        const char two[] = {p, c, 0};
        const bool ends =
            strchr("[]", p) || strstr("BB BO IB IO EE EI EO", two) || (differ && !strchr("O.", p));
        const bool starts =
            strchr("[]", c) || strstr("BB IB OB OI EE EI OE", two) || (differ && !strchr("O.", c));
        const trl_tag a = tag_of(prev), b = tag_of(cur);
        assert_int_equal(trl_chunk_ends(TRL_RULE_CONLLEVAL, a, b), ends);
        assert_int_equal(trl_chunk_starts(TRL_RULE_CONLLEVAL, a, b), starts);
        assert_int_equal(trl_chunk_ends(TRL_RULE_IOBES, a, b),
                         ends || strchr("ES", p) || (c == 'S' && !strchr("O.", p)));
        assert_int_equal(trl_chunk_starts(TRL_RULE_IOBES, a, b),
                         starts || c == 'S' || (strchr("ES", p) && !strchr("O.", c)));
        const bool goes_on = strstr("BI BE II IE", two) && !differ;
        assert_int_equal(trl_iobes_follows(a, b),
                         goes_on || (strchr("OES", p) && strchr("OBS", c)));
    }
}

#define T_MAX 12
typedef enum scheme { IOB1, IOB2, IOE1, IOE2, IOBES, BRACKETS, N_SCHEMES } scheme;

/* A tagging made from its chunks, numbered from 1; 0 is outside. */
typedef struct tagging {
    size_t T;
    int at[T_MAX + 2]; /* position t is at[t + 1]; zeros at both ends */
    char type[T_MAX + 1];
    char text[T_MAX][4];
} tagging;

static void draw_chunks(trl_rng *r, scheme sc, size_t T, tagging *g)
{
    *g = (tagging){.T = T};
    int n = 0;
    for (size_t t = 0; t < T;) {
        size_t len = 1 + (sc == BRACKETS ? 0 : trl_rng_below(r, 3));
        len = len < T - t ? len : T - t;
        const char type = (char)('x' + trl_rng_below(r, 2));
        const bool out = trl_rng_below(r, 3) == 0;
        if (!out)
            g->type[++n] = type;
        for (size_t k = 0; k < len; k++)
            g->at[++t] = out ? 0 : n;
    }
}

static void write_tags(tagging *g, scheme sc)
{
    for (size_t t = 0; t < g->T; t++) {
        const int before = g->at[t], here = g->at[t + 1], after = g->at[t + 2];
        const bool first = before != here, last = after != here;
        const bool twin_before = first && before && g->type[before] == g->type[here];
        const bool twin_after = last && after && g->type[after] == g->type[here];
        const char prefix[] = {
            [IOB1] = twin_before ? 'B' : 'I',
            [IOB2] = first ? 'B' : 'I',
            [IOE1] = twin_after ? 'E' : 'I',
            [IOE2] = last ? 'E' : 'I',
            [IOBES] = first && last ? 'S'
                      : first       ? 'B'
                      : last        ? 'E'
                                    : 'I',
            [BRACKETS] = t % 2 ? '[' : ']',
        };
        snprintf(g->text[t], sizeof g->text[t], here ? "%c-%c" : "O", prefix[sc], g->type[here]);
    }
}

static size_t common_chunks(const tagging *a, const tagging *b)
{
    size_t n = 0;
    for (size_t t = 1; t <= a->T; t++) {
        if (!a->at[t] || a->at[t - 1] == a->at[t] || !b->at[t] || b->at[t - 1] == b->at[t])
            continue;
        size_t i = t + 1;
        while (a->at[i] == a->at[t] && b->at[i] == b->at[t])
            i++;
        n += a->at[i] != a->at[t] && b->at[i] != b->at[t] && a->type[a->at[t]] == b->type[b->at[t]];
    }
    return n;
}

static void check_boundaries(const tagging *g, scheme sc)
{
    const trl_chunk_rule rule = sc == IOBES ? TRL_RULE_IOBES : TRL_RULE_CONLLEVAL;
    trl_tag prev = tag_of("O");
    for (size_t t = 0; t <= g->T; t++) {
        const trl_tag cur = tag_of(t < g->T ? g->text[t] : "O");
        const int p = g->at[t], c = t < g->T ? g->at[t + 1] : 0;
        assert_int_equal(trl_chunk_ends(rule, prev, cur), p && p != c);
        assert_int_equal(trl_chunk_starts(rule, prev, cur), c && p != c);
        prev = cur;
    }
}

static void test_schemes(void **state)
{
    (void)state;
    trl_error err = {0};
    trl_rng r = trl_rng_seed(7);
    for (int round = 0; round < 6000; round++) {
        const scheme sc = (scheme)(round % N_SCHEMES);
        const size_t T = 1 + trl_rng_below(&r, T_MAX);
        tagging g[2];
        const char *tags[2][T_MAX];
        for (int k = 0; k < 2; k++) {
            draw_chunks(&r, sc, T, &g[k]);
            if (k == 1 && trl_rng_below(&r, 3) == 0)
                g[1] = g[0];
            write_tags(&g[k], sc);
            check_boundaries(&g[k], sc);
            for (size_t t = 0; t < T; t++)
                tags[k][t] = g[k].text[t];
        }
        trl_score *s = new_score();
        assert_ok(trl_score_add(s, T, tags[0], tags[1], &err));
        assert_ok(trl_score_add(s, T, tags[1], tags[1], &err));
        const trl_score_totals got = trl_score_get(s);
        const size_t own = common_chunks(&g[1], &g[1]);
        assert_int_equal(got.gold, common_chunks(&g[0], &g[0]) + own);
        assert_int_equal(got.predicted, 2 * own);
        assert_int_equal(got.correct, common_chunks(&g[0], &g[1]) + own);
        trl_score_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_every_pair),
        cmocka_unit_test(test_schemes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
