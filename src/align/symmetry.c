/* symmetry.c -- intersection, union and what lies between [ON03, sec. 4; Koehn, Och, Marcu 2003].
 */
/* SPDX-License-Identifier: MIT */
#include "align/symmetry.h"

#include <string.h>

static bool in_forward(const trl_two_ways *w, size_t j, size_t i)
{
    return w->forward[i] == j + 1;
}

static bool in_reverse(const trl_two_ways *w, size_t j, size_t i)
{
    return w->reverse[j] == i + 1;
}

typedef struct growing {
    const trl_two_ways *w;
    bool *link, *source, *target; /* source, target: the word has a link */
} growing;

static void add(growing *g, size_t j, size_t i)
{
    g->link[j * g->w->m + i] = true;
    g->source[j] = g->target[i] = true;
}

/* Adds links of the union that are next to a link while one of their words is not linked yet.
 */
static void grow_diagonally(growing *g)
{
    static const int dj[] = {-1, 0, 1, 0, -1, -1, 1, 1}, di[] = {0, -1, 0, 1, -1, 1, -1, 1};
    const size_t l = g->w->l, m = g->w->m;
    for (bool added = true; added;) {
        added = false;
        for (size_t j = 0; j < l; j++)
            for (size_t i = 0; i < m; i++)
                for (size_t k = 0; g->link[j * m + i] && k < 8; k++) {
                    const size_t a = j + (size_t)dj[k], b = i + (size_t)di[k]; /* -1 wraps around */
                    if (a >= l || b >= m || g->link[a * m + b] || (g->source[a] && g->target[b]) ||
                        !(in_forward(g->w, a, b) || in_reverse(g->w, a, b)))
                        continue;
                    add(g, a, b);
                    added = true;
                }
    }
}

/* Adds links of one direction between two words that are both not linked. */
static void add_final(growing *g, bool reverse)
{
    for (size_t j = 0; j < g->w->l; j++)
        for (size_t i = 0; i < g->w->m; i++)
            if ((reverse ? in_reverse(g->w, j, i) : in_forward(g->w, j, i)) && !g->source[j] &&
                !g->target[i])
                add(g, j, i);
}

void trl_symmetrise(const trl_two_ways *w, trl_symmetry s, bool *link, bool *used)
{
    growing g = {w, link, used, used + w->l};
    memset(link, 0, w->l * w->m * sizeof *link);
    memset(used, 0, (w->l + w->m) * sizeof *used);
    for (size_t j = 0; j < w->l; j++)
        for (size_t i = 0; i < w->m; i++) {
            const bool f = s != TRL_REVERSE && in_forward(w, j, i);
            const bool r = s != TRL_FORWARD && in_reverse(w, j, i);
            if (s == TRL_UNION || s == TRL_FORWARD || s == TRL_REVERSE ? f || r : f && r)
                add(&g, j, i);
        }
    if (s != TRL_GROW_DIAG && s != TRL_GROW_DIAG_FINAL_AND)
        return;
    grow_diagonally(&g);
    if (s == TRL_GROW_DIAG_FINAL_AND) {
        add_final(&g, false);
        add_final(&g, true);
    }
}
