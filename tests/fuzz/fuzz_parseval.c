/* fuzz_parseval.c -- any bytes as lines, gold and test in turn: never a crash, every error
 * with its place, and what can be said of all counts holds. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "text/input.h"
#include "trellis/parseval.h"
#include "trellis/score.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const trl_parseval_sentence *s)
{
    if (s->match > s->gold || s->match > s->test || s->crossing > s->test || s->tags > s->words)
        abort();
    if (s->exact && (s->state != TRL_PARSEVAL_VALID || s->gold != s->test))
        abort();
    if (s->state == TRL_PARSEVAL_SKIPPED && s->words)
        abort();
}

static trl_parseval_sentence score(trl_parseval *p, trl_str gold, trl_str test)
{
    trl_parseval_reset(p);
    if (trl_parseval_add(p, gold.p, gold.n, test.p, test.n, NULL) != TRL_OK)
        abort();
    size_t n;
    const trl_parseval_sentence *s = trl_parseval_sentences(p, &n);
    if (n != 1 || (trl_parseval_errors(p)[0] == '\0' && s->state == TRL_PARSEVAL_ERROR))
        abort();
    check(s);
    return *s;
}

/* A line that has been scored against another one without error: a tree equals itself, and
 * both ways round there are as many matches. */
static void check_pair(trl_parseval *p, trl_str gold, trl_str test)
{
    const trl_parseval_sentence s = score(p, gold, test), t = score(p, test, gold);
    if (s.state == TRL_PARSEVAL_VALID &&
        (t.state != TRL_PARSEVAL_VALID || t.match != s.match || t.gold != s.test))
        abort();
    const trl_parseval_sentence self = score(p, gold, gold);
    if (self.state == TRL_PARSEVAL_VALID && (!self.exact || self.tags != self.words))
        abort();
    char *text = NULL;
    if (trl_parseval_report(p, &text, NULL) != TRL_OK)
        abort();
    trl_text_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    trl_parseval_options o = trl_parseval_options_default();
    trl_parseval *p[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        o.params = k ? "new" : "collins";
        o.gold_tags = o.details = k;
        if (trl_parseval_new(&o, &p[k], NULL) != TRL_OK)
            abort();
    }
    const char *at = (const char *)data, *end = at + size;
    for (int lines = 0; size && at < end && lines < 100; lines++) {
        trl_str line[2];
        for (int k = 0; k < 2; k++) {
            const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
            line[k] = (trl_str){at, (size_t)((stop ? stop : end) - at)};
            at = stop ? stop + 1 : end;
        }
        check_pair(p[0], line[0], line[1]);
        score(p[1], line[0], line[1]);
    }
    trl_parseval_free(p[0]);
    trl_parseval_free(p[1]);
    return 0;
}
