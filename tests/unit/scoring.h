/* scoring.h -- what the tests of the scorer of trees share. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_SCORING_H
#define TRL_TEST_SCORING_H

#include "support.h"

#include <stdbool.h>

#include "score/parseval.h"

static inline trl_parseval *new_scorer(const char *params, bool gold_tags)
{
    trl_error err = {0};
    trl_parseval_options o = trl_parseval_options_default();
    trl_parseval *p = NULL;
    o.params = params;
    o.gold_tags = gold_tags;
    assert_ok(trl_parseval_new(&o, &p, &err));
    return p;
}

static inline trl_parseval_sentence add(trl_parseval *p, const char *gold, const char *test)
{
    trl_error err = {0};
    size_t n;
    assert_ok(trl_parseval_add(p, gold, strlen(gold), test, strlen(test), &err));
    const trl_parseval_sentence *s = trl_parseval_sentences(p, &n);
    assert_true(n > 0);
    return s[n - 1];
}

static inline trl_parseval_sentence score(const char *params, const char *gold, const char *test)
{
    trl_parseval *p = new_scorer(params, false);
    const trl_parseval_sentence s = add(p, gold, test);
    trl_parseval_free(p);
    return s;
}

#define expect(s, m, g, t, c, w, k)                                                                \
    do {                                                                                           \
        const trl_parseval_sentence s_ = (s);                                                      \
        assert_int_equal(s_.state, TRL_PARSEVAL_VALID);                                            \
        const uint32_t got[] = {s_.match, s_.gold, s_.test, s_.crossing, s_.words, s_.tags};       \
        const uint32_t want[] = {m, g, t, c, w, k};                                                \
        for (int i_ = 0; i_ < 6; i_++)                                                             \
            assert_int_equal(got[i_], want[i_]);                                                   \
    } while (0)

#endif
