/* tree_align.c -- the most links that a binary tree can keep. */
/* SPDX-License-Identifier: MIT */
#include "translate/tree_align.h"

#include <stdlib.h>

#include "base/fail.h"

/* An item: links inside lo .. hi; its cost is minus the links and their likes; `left` of a word's
 * is its link, or TRL_NO_ID. */
typedef trl_interval_item item;

static uint32_t width(const item *x)
{
    return trl_interval_empty(x) ? 0 : x->hi - x->lo + 1;
}

/* Best first; a fixed order for equal ones. */
static int by_cost(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (trl_interval_empty(x) != trl_interval_empty(y))
        return trl_interval_empty(x) ? 1 : -1;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (width(x) != width(y))
        return width(x) < width(y) ? -1 : 1;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    return (x->right > y->right) - (x->right < y->right);
}

static bool covers(const item *x, const item *y)
{
    return trl_interval_empty(y) || (!trl_interval_empty(x) && x->lo <= y->lo && y->hi <= x->hi);
}

/* Keeps the items that cover none with at most their cost, and the empty one, the last of all,
 * with which every other can be joined. */
static void prune(trl_interval_cell *c, size_t beam)
{
    size_t kept = 0;
    qsort(c->item, c->n, sizeof *c->item, by_cost);
    for (size_t k = 0; k < c->n; k++) {
        bool beaten = beam && kept + 1 >= beam && k + 1 < c->n;
        for (size_t q = 0; q < kept && !beaten; q++)
            beaten = covers(&c->item[k], &c->item[q]);
        if (!beaten)
            c->item[kept++] = c->item[k];
    }
    c->n = kept;
}

static bool make_word(trl_interval_chart *c, const trl_tree_links *links, uint32_t v, size_t first,
                      size_t last)
{
    trl_interval_cell *to = &c->cell[v];
    if (!(to->item = trl_arena_get(c->arena, last - first + 1, sizeof *to->item)))
        return false;
    to->item[to->n++] = (item){.lo = 1, .left = TRL_NO_ID};
    for (size_t k = first; k < last; k++) {
        const uint32_t at = links->link[k].target;
        const double like = links->like ? links->like[k] : 0.0;
        to->item[to->n++] = (item){.cost = -(1.0 + like / TRL_TREE_ALIGN_LONGEST),
                                   .lo = at,
                                   .hi = at,
                                   .left = (uint32_t)k};
    }
    prune(to, links->beam);
    return true;
}

/* Numbers of links to target words. */
static void take_links(const trl_source *s, const trl_tree_links *links, trl_transduction *out)
{
    out->kept = 0;
    for (size_t i = 0; i < s->n_words; i++)
        if (out->target[i] != TRL_NO_ID) {
            out->target[i] = links->link[out->target[i]].target;
            out->kept++;
        }
}

trl_status trl_tree_align(const trl_source *s, const trl_tree_links *links, trl_arena *scratch,
                          trl_transduction *out, trl_error *err)
{
    trl_interval_chart c;
    size_t first = 0;
    bool room = trl_interval_start(&c, s, scratch);
    for (uint32_t v = 0; room && v < s->n_words; v++) {
        size_t last = first;
        while (last < links->n_links && links->link[last].source == v)
            last++;
        room = make_word(&c, links, v, first, last);
        first = last;
    }
    for (uint32_t v = (uint32_t)s->n_words; room && v < s->n_nodes; v++) {
        room = trl_interval_join(&c, v, NULL, NULL);
        if (room)
            prune(&c.cell[v], links->beam);
    }
    if (!room || !trl_interval_read(&c, 0, out->target, out->order))
        return trl_fail_mem(err);
    take_links(s, links, out);
    return TRL_OK;
}
