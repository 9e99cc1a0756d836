/* given_spans.c -- the spans that trees with given long spans may have. */
/* SPDX-License-Identifier: MIT */
#include "train_tree/given_spans.h"

#include "chart/chart.h"

/* No span of at most `most` words may begin on one side of the border between two words and end
 * inside the long span (from, to), of which the border is the beginning or the end. */
static void forbid_crossing(size_t from, size_t to, size_t n, size_t most, uint8_t *keep)
{
    for (size_t i = from > most ? from - most : 0; i < from; i++)
        for (size_t j = from + 1; j < to && j - i <= most; j++)
            keep[trl_cell(i, j)] = 0;
    for (size_t j = to + 1; j <= n && j < to + most; j++)
        for (size_t i = j - most > from ? j - most : from + 1; i < to; i++)
            keep[trl_cell(i, j)] = 0;
}

void trl_given_spans(const trl_btree *t, size_t n, size_t most, uint8_t *keep)
{
    for (size_t j = 1; j <= n; j++)
        for (size_t i = 0; i < j; i++)
            keep[trl_cell(i, j)] = j - i <= most;
    for (size_t x = 0; x < t->n; x++) {
        const size_t from = t->node[x].from, to = t->node[x].to;
        if (to - from <= most)
            continue;
        keep[trl_cell(from, to)] = 1;
        forbid_crossing(from, to, n, most, keep);
    }
}
