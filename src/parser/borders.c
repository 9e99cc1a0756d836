/* borders.c -- punctuation as borders. */
/* SPDX-License-Identifier: MIT */
#include "parser/borders.h"

#include <stdbool.h>
#include <string.h>

typedef struct mark {
    const char *word;
    unsigned before, after; /* the border there; 9: closing, it stays with what is before */
} mark;

static const mark marks[] = {{".", 0, 4},     {"?", 0, 4},     {"!", 0, 4},     {";", 0, 3},
                             {":", 0, 2},     {"--", 1, 2},    {"-", 0, 0},     {"---", 1, 2},
                             {",", 0, 1},     {"-LRB-", 2, 0}, {"-LSB-", 2, 0}, {"-LCB-", 2, 0},
                             {"(", 2, 0},     {"``", 1, 0},    {"-RRB-", 9, 1}, {"-RSB-", 9, 1},
                             {"-RCB-", 9, 1}, {")", 9, 1},     {"''", 9, 0},    {"\"", 0, 0}};

static const mark *find_mark(trl_str w)
{
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++)
        if (strlen(marks[k].word) == w.n && memcmp(marks[k].word, w.p, w.n) == 0)
            return &marks[k];
    return NULL;
}

unsigned trl_border(const trl_str *word, size_t n, size_t i)
{
    if (i == 0 || i >= n)
        return 0;
    const mark *next = find_mark(word[i]);
    unsigned strength = next && next->before != 9 ? next->before : 0;
    if (next && next->before == 9)
        return 0;
    for (size_t k = i; k-- > 0;) { /* back over what closes */
        const mark *m = find_mark(word[k]);
        if (m && m->after > strength)
            strength = m->after;
        if (!m || m->before != 9)
            break;
    }
    return strength;
}

size_t trl_cut(const trl_str *word, size_t n, size_t most)
{
    size_t best = most;
    unsigned strength = 0;
    if (n <= most)
        return n;
    for (size_t k = most; k > most / 2; k--) {
        const unsigned s = trl_border(word, n, k);
        if (s > strength) {
            strength = s;
            best = k;
        }
    }
    return best;
}
