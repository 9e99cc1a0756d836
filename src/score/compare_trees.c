/* compare_trees.c -- two parsers on the same sentences; see trellis/compare.h. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "score/compare.h"
#include "text/input.h"

enum { GOLD, A, B, FILES };

typedef struct source {
    trl_input *in;
    trl_str line;
    bool more;
} source;

/* Is there a next line in all files or in none? */
static trl_status check_ends(const source f[FILES], trl_error *err)
{
    for (int k = A; k < FILES; k++) {
        if (f[k].more == f[GOLD].more)
            continue;
        const source *longer = f[k].more ? &f[k] : &f[GOLD];
        const source *other = f[k].more ? &f[GOLD] : &f[k];
        trl_fail(err, TRL_EPARSE, "a line more than %s has", trl_input_name(other->in));
        trl_input_fail(longer->in, err, TRL_EPARSE, 1);
        return trl_fail_hint(err, TRL_EPARSE,
                             "all files must hold the same sentences in the same order, a "
                             "blank line where there is no parse");
    }
    return TRL_OK;
}

static trl_status score_lines(source f[FILES], trl_parseval *const p[2], trl_error *err)
{
    for (;;) {
        trl_status st = TRL_OK;
        for (int k = 0; k < FILES && st == TRL_OK; k++)
            st = trl_input_line(f[k].in, &f[k].line, &f[k].more, err);
        if (st == TRL_OK)
            st = check_ends(f, err);
        if (st != TRL_OK || !f[GOLD].more)
            return st;
        for (int s = 0; s < 2 && st == TRL_OK; s++)
            st = trl_parseval_add(p[s], f[GOLD].line.p, f[GOLD].line.n, f[A + s].line.p,
                                  f[A + s].line.n, err);
        if (st != TRL_OK)
            return st;
    }
}

static trl_compare_counts counts_of(const trl_parseval_sentence *s)
{
    return (trl_compare_counts){
        .tokens = s->words,
        .right = s->tags,
        .gold = s->gold,
        .predicted = s->test,
        .correct = s->match,
        .whole = s->exact,
        .errors = (double)s->gold + (double)s->test - 2.0 * (double)s->match,
    };
}

static trl_status add_all(trl_compare *c, trl_parseval *const p[2], uint64_t *left_out,
                          trl_error *err)
{
    size_t n;
    const trl_parseval_sentence *s[2] = {trl_parseval_sentences(p[0], &n),
                                         trl_parseval_sentences(p[1], &n)};
    for (size_t i = 0; i < n; i++) {
        if (s[0][i].state != TRL_PARSEVAL_VALID || s[1][i].state != TRL_PARSEVAL_VALID) {
            ++*left_out;
            continue;
        }
        const trl_compare_counts counts[2] = {counts_of(&s[0][i]), counts_of(&s[1][i])};
        const trl_status st = trl_compare_add_counts(c, counts, err);
        if (st != TRL_OK)
            return st;
    }
    return TRL_OK;
}

trl_status trl_compare_trees(trl_compare *c, const trl_parseval_options *options,
                             const trl_compare_paths *path, uint64_t *left_out, trl_error *err)
{
    if (!c || !options || !path || !path->gold || !path->a || !path->b || !left_out)
        return trl_fail_null(err);
    const char *const name[FILES] = {path->gold, path->a, path->b};
    trl_parseval_options o = *options;
    trl_parseval *p[2] = {NULL, NULL};
    source f[FILES] = {{0}};
    trl_status st = TRL_OK;
    o.max_errors = INT64_MAX;
    *left_out = 0;
    for (int s = 0; s < 2 && st == TRL_OK; s++)
        st = trl_parseval_new(&o, &p[s], err);
    for (int k = 0; k < FILES && st == TRL_OK; k++)
        st = trl_input_open(name[k], &f[k].in, err);
    if (st == TRL_OK)
        st = score_lines(f, p, err);
    if (st == TRL_OK)
        st = add_all(c, p, left_out, err);
    for (int k = 0; k < FILES; k++)
        trl_input_free(f[k].in);
    trl_parseval_free(p[0]);
    trl_parseval_free(p[1]);
    return st;
}
