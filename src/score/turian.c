/* turian.c -- the largest matching of two sentences; see trellis/translation.h.
 *
 * A matching is a list of runs (i, j, k): words i .. i+k-1 of the candidate are words j .. j+k-1 of
 * the reference.  Candidate words are decided from left to right: a run of any length starts at
 * word i, or word i stays alone.  A word in a run of length k adds k^(e-1) to the sum of k^e, and k
 * is at most the longest run that any matching could put the word into: the sum of those over the
 * words to come bounds what can still be added.
 */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "trellis/translation.h"

typedef struct search {
    size_t n, m;
    uint32_t *run; /* [n][m] words that match from (i, j) on */
    double *power; /* [n + 1] k^e */
    double *bound; /* [n + 1] what words i .. n-1 can add at most */
    bool *used;    /* [m] */
    bool *taken;   /* [n] candidate words, of the greedy matching */
    double best;
    size_t nodes;
} search;

static bool search_init(search *s, const uint32_t *test, const uint32_t *gold, double e)
{
    const size_t n = s->n, m = s->m;
    uint32_t *longest = trl_zalloc(n + 1, sizeof *longest);
    s->run = n && m > SIZE_MAX / n ? NULL : trl_zalloc(n * m + 1, sizeof *s->run);
    s->power = trl_alloc(n + 1, sizeof *s->power);
    s->bound = trl_alloc(n + 1, sizeof *s->bound);
    s->used = trl_zalloc(m + 1, sizeof *s->used);
    s->taken = trl_zalloc(n + 1, sizeof *s->taken);
    if (!longest || !s->run || !s->power || !s->bound || !s->used || !s->taken) {
        trl_free(longest);
        return false;
    }
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;)
            if (test[i] == gold[j])
                s->run[i * m + j] = 1 + (i + 1 < n && j + 1 < m ? s->run[(i + 1) * m + j + 1] : 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            const uint32_t k = s->run[i * m + j];
            if (i && j && s->run[(i - 1) * m + j - 1])
                continue; /* inside a run that is already counted */
            for (size_t q = i; q < i + k; q++)
                longest[q] = k > longest[q] ? k : longest[q];
        }
    for (size_t k = 0; k <= n; k++)
        s->power[k] = pow((double)k, e);
    s->bound[n] = 0.0;
    for (size_t i = n; i-- > 0;)
        s->bound[i] = s->bound[i + 1] + (longest[i] ? pow((double)longest[i], e - 1.0) : 0.0);
    trl_free(longest);
    return true;
}

static void search_fini(search *s)
{
    trl_free(s->run);
    trl_free(s->power);
    trl_free(s->bound);
    trl_free(s->used);
    trl_free(s->taken);
}

/* The longest run from (i, j) on whose reference words are free. */
static size_t free_run(const search *s, size_t i, size_t j)
{
    size_t k = 0;
    while (k < s->run[i * s->m + j] && !s->used[j + k])
        k++;
    return k;
}

static void mark(search *s, size_t j, size_t k, bool used)
{
    for (size_t q = j; q < j + k; q++)
        s->used[q] = used;
}

/* Longest runs first, the leftmost of equals: what the search starts from. */
static double greedy(search *s)
{
    double sum = 0.0;
    for (;;) {
        size_t top = 0, at = 0, to = 0;
        for (size_t i = 0; i < s->n; i++)
            for (size_t j = 0; j < s->m; j++) {
                size_t k = 0;
                while (k < s->run[i * s->m + j] && !s->used[j + k] && !s->taken[i + k])
                    k++;
                if (k > top) {
                    top = k;
                    at = i;
                    to = j;
                }
            }
        if (top == 0)
            break;
        mark(s, to, top, true);
        for (size_t i = at; i < at + top; i++)
            s->taken[i] = true;
        sum += s->power[top];
    }
    memset(s->used, 0, s->m * sizeof *s->used);
    return sum;
}

/* last: where in the reference the run that ends at word i - 1 ends, SIZE_MAX for none; it was
 * stopped there, so going on with it is another branch. */
static void descend(search *s, size_t i, size_t last, double sum)
{
    if (sum > s->best)
        s->best = sum;
    while (i < s->n && s->bound[i] == s->bound[i + 1]) { /* words that match nothing */
        i++;
        last = SIZE_MAX;
    }
    if (i == s->n || sum + s->bound[i] <= s->best * (1.0 + 1e-12) || s->nodes == 0)
        return;
    s->nodes--;
    size_t longest = 0;
    for (size_t j = 0; j < s->m; j++) {
        const size_t k = free_run(s, i, j);
        longest = k > longest ? k : longest;
    }
    for (size_t k = longest; k > 0; k--)
        for (size_t j = 0; j < s->m; j++) {
            if (j == last || free_run(s, i, j) < k)
                continue;
            mark(s, j, k, true);
            descend(s, i + k, j + k, sum + s->power[k]);
            mark(s, j, k, false);
        }
    descend(s, i + 1, SIZE_MAX, sum);
}

/* e = 1: every word as often as both have it. */
static double common_words(const search *s)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++) { /* greedy is exact */
        for (size_t j = 0; j < s->m; j++)
            if (s->run[i * s->m + j] && !s->used[j]) {
                s->used[j] = true;
                sum += 1.0;
                break;
            }
    }
    return sum;
}

trl_status trl_turian_size(const trl_turian_pair *x, double *size, bool *exact, trl_error *err)
{
    if (!size || (x->n && !x->test) || (x->m && !x->gold))
        return trl_fail_null(err);
    search s = {.n = x->n, .m = x->m, .nodes = TRL_TURIAN_NODES};
    if (!(x->e >= 1.0 && isfinite(x->e)))
        return trl_fail(err, TRL_EINVAL, "the exponent must be at least 1, not %g", x->e);
    if (!search_init(&s, x->test, x->gold, x->e)) {
        search_fini(&s);
        return trl_fail_mem(err);
    }
    if (x->e == 1.0) {
        *size = common_words(&s);
    } else {
        s.best = greedy(&s);
        descend(&s, 0, SIZE_MAX, 0.0);
        *size = s.best;
    }
    if (exact)
        *exact = s.nodes > 0;
    search_fini(&s);
    return TRL_OK;
}
