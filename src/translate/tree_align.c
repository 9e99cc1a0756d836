/* tree_align.c -- the most links that a binary tree can keep. */
/* SPDX-License-Identifier: MIT */
#include "translate/tree_align.h"

#include <stdlib.h>

#include "base/fail.h"

/* Links inside lo .. hi; hi < lo: there are none. */
typedef struct item {
    double score; /* links and their likes */
    uint32_t lo, hi;
    uint32_t left, right; /* items of the children's cells; of a word: its link, or TRL_NO_ID */
    uint32_t order;
} item;

typedef struct cell {
    item *item;
    size_t n;
} cell;

typedef struct chart {
    const trl_source *s;
    const trl_tree_links *links;
    trl_arena *scratch;
    cell *cell; /* [n_nodes] */
} chart;

static bool is_empty(const item *x)
{
    return x->hi < x->lo;
}

static uint32_t width(const item *x)
{
    return is_empty(x) ? 0 : x->hi - x->lo + 1;
}

/* Best first; a fixed order for equal ones. */
static int by_score(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (is_empty(x) != is_empty(y))
        return is_empty(x) ? 1 : -1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
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
    return is_empty(y) || (!is_empty(x) && x->lo <= y->lo && y->hi <= x->hi);
}

/* Keeps the items that cover none with at least their score, and the empty one, the last of all,
 * with which every other can be joined. */
static void prune(cell *c, size_t beam)
{
    size_t kept = 0;
    qsort(c->item, c->n, sizeof *c->item, by_score);
    for (size_t k = 0; k < c->n; k++) {
        bool beaten = beam && kept + 1 >= beam && k + 1 < c->n;
        for (size_t q = 0; q < kept && !beaten; q++)
            beaten = covers(&c->item[k], &c->item[q]);
        if (!beaten)
            c->item[kept++] = c->item[k];
    }
    c->n = kept;
}

static bool make_word(chart *c, uint32_t v, size_t first, size_t last)
{
    cell *to = &c->cell[v];
    if (!(to->item = trl_arena_get(c->scratch, last - first + 1, sizeof *to->item)))
        return false;
    to->item[to->n++] = (item){.lo = 1, .left = TRL_NO_ID};
    for (size_t k = first; k < last; k++) {
        const uint32_t at = c->links->link[k].target;
        const double like = c->links->like ? c->links->like[k] : 0.0;
        to->item[to->n++] = (item){
            .score = 1.0 + like / TRL_TREE_ALIGN_LONGEST, .lo = at, .hi = at, .left = (uint32_t)k};
    }
    prune(to, c->links->beam);
    return true;
}

/* False: the two overlap. */
static bool join(const item *a, const item *b, item *out)
{
    out->score = a->score + b->score;
    out->order = TRL_ORDER_FREE;
    if (is_empty(a) || is_empty(b)) {
        out->lo = is_empty(a) ? b->lo : a->lo;
        out->hi = is_empty(a) ? b->hi : a->hi;
        return true;
    }
    if (a->hi < b->lo)
        out->order = TRL_ORDER_KEPT;
    else if (b->hi < a->lo)
        out->order = TRL_ORDER_SWAPPED;
    else
        return false;
    out->lo = a->lo < b->lo ? a->lo : b->lo;
    out->hi = a->hi > b->hi ? a->hi : b->hi;
    return true;
}

static bool make_node(chart *c, uint32_t v)
{
    const trl_source_node *node = &c->s->node[v];
    const cell *left = &c->cell[node->left], *right = &c->cell[node->right];
    cell *to = &c->cell[v];
    if (!(to->item = trl_arena_get(c->scratch, left->n * right->n, sizeof *to->item)))
        return false;
    for (uint32_t a = 0; a < left->n; a++)
        for (uint32_t b = 0; b < right->n; b++) {
            item x = {.left = a, .right = b};
            if (join(&left->item[a], &right->item[b], &x))
                to->item[to->n++] = x;
        }
    prune(to, c->links->beam);
    return true;
}

/* Follows the items of the root down: parents have larger numbers than their children. */
static bool read_out(chart *c, trl_transduction *out)
{
    const trl_source *s = c->s;
    uint32_t *chosen = trl_arena_get(c->scratch, s->n_nodes, sizeof *chosen);
    if (!chosen)
        return false;
    chosen[s->n_nodes - 1] = 0;
    out->kept = 0;
    for (size_t v = s->n_nodes; v-- > 0;) {
        const item *x = &c->cell[v].item[chosen[v]];
        out->order[v] = (unsigned char)x->order;
        if (v >= s->n_words) {
            chosen[s->node[v].left] = x->left;
            chosen[s->node[v].right] = x->right;
            continue;
        }
        out->target[v] = x->left == TRL_NO_ID ? TRL_NO_ID : c->links->link[x->left].target;
        out->kept += x->left != TRL_NO_ID;
    }
    return true;
}

trl_status trl_tree_align(const trl_source *s, const trl_tree_links *links, trl_arena *scratch,
                          trl_transduction *out, trl_error *err)
{
    trl_arena_reset(scratch);
    chart c = {s, links, scratch, trl_arena_get(scratch, s->n_nodes, sizeof *c.cell)};
    if (!c.cell)
        return trl_fail_mem(err);
    for (size_t v = 0; v < s->n_nodes; v++)
        c.cell[v] = (cell){0};
    size_t first = 0;
    bool room = true;
    for (uint32_t v = 0; room && v < s->n_words; v++) {
        size_t last = first;
        while (last < links->n_links && links->link[last].source == v)
            last++;
        room = make_word(&c, v, first, last);
        first = last;
    }
    for (uint32_t v = (uint32_t)s->n_words; room && v < s->n_nodes; v++)
        room = make_node(&c, v);
    return room && read_out(&c, out) ? TRL_OK : trl_fail_mem(err);
}
