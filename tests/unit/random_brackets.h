/* random_brackets.h -- a random tree as text. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TEST_RANDOM_BRACKETS_H
#define TRL_TEST_RANDOM_BRACKETS_H

#include "base/buf.h"
#include "base/rng.h"

/* Appends a tree of n words, w0 w1 ... from `from` on, with up to three children a node. */
static inline void random_brackets(trl_rng *rng, trl_buf *out, size_t from, size_t n, size_t depth)
{
    static const char *const labels[] = {"S", "NP", "VP", "PP", "SBAR"};
    static const char *const tags[] = {"NN", "VB", "IN", "DT"};
    if (n == 1 && (depth > 6 || trl_rng_below(rng, 2))) {
        trl_buf_fmt(out, " (%s w%zu)", tags[trl_rng_below(rng, 4)], from);
        return;
    }
    trl_buf_fmt(out, " (%s", depth ? labels[trl_rng_below(rng, 5)] : "TOP");
    const size_t children = 1 + trl_rng_below(rng, n < 3 ? n : 3);
    for (size_t k = 0; k < children; k++) {
        const size_t left = children - k - 1;
        const size_t words = left ? 1 + trl_rng_below(rng, n - left) : n;
        random_brackets(rng, out, from, words, depth + 1);
        from += words;
        n -= words;
    }
    trl_buf_str(out, ")");
}

#endif
