/* layout.c -- widths bottom-up, places top-down, centres bottom-up. */
/* SPDX-License-Identifier: MIT */
#include "treebank/layout.h"

#include "base/fail.h"
#include "base/mem.h"

void trl_layout_fini(trl_layout *l)
{
    trl_free(l->box);
    trl_free(l->order);
    trl_free(l->level);
    *l = (trl_layout){0};
}

trl_status trl_layout_init(trl_layout *l, const trl_tree *t, trl_error *err)
{
    *l = (trl_layout){.n_levels = trl_tree_depth(t)};
    l->box = trl_zalloc(t->n_nodes, sizeof *l->box);
    l->order = trl_alloc(t->n_nodes, sizeof *l->order);
    l->level = trl_zalloc(l->n_levels + 2, sizeof *l->level);
    if (!l->box || !l->order || !l->level) {
        trl_layout_fini(l);
        return trl_fail_mem(err);
    }
    for (size_t i = 0; i < t->n_nodes; i++) {
        l->box[i].depth = i ? l->box[t->node[i].parent].depth + 1 : 0;
        l->level[l->box[i].depth + 2]++;
    }
    for (size_t d = 1; d < l->n_levels; d++)
        l->level[d + 1] += l->level[d];
    for (uint32_t i = 0; i < t->n_nodes;
         i++) /* level[d + 1] moves from the beginning to the end of its level */
        l->order[l->level[l->box[i].depth + 1]++] = i;
    return TRL_OK;
}

static void measure(trl_box *box, const trl_tree *t, size_t gap)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        box[i].inner = 0;
    for (size_t i = t->n_nodes; i-- > 0;) {
        trl_box *b = &box[i];
        const size_t below = b->word > b->inner ? b->word : b->inner;
        b->width = below > b->label ? below : b->label;
        if (i > 0) {
            trl_box *up = &box[t->node[i].parent];
            up->inner += b->width + (up->inner ? gap : 0);
        }
    }
}

static size_t within(size_t x, size_t low, size_t high)
{
    return x < low ? low : x > high ? high : x;
}

static void set_centre(trl_box *box, const trl_tree *t, size_t i)
{
    trl_box *b = &box[i];
    const trl_node *node = &t->node[i];
    if (node->child == TRL_NO_NODE) {
        b->centre = b->left + (b->width ? (b->width - 1) / 2 : 0);
        b->word_left = b->left + (b->width - b->word) / 2;
        b->label_left = b->left + (b->width - b->label) / 2;
        return;
    }
    uint32_t last = node->child;
    while (t->node[last].next != TRL_NO_NODE)
        last = t->node[last].next;
    const size_t half = b->label ? (b->label - 1) / 2 : 0;
    b->centre = within((box[node->child].centre + box[last].centre) / 2, b->left + half,
                       b->left + b->width - (b->label - half));
    b->label_left = b->centre - half;
}

void trl_layout_place(trl_layout *l, const trl_tree *t, size_t gap)
{
    trl_box *box = l->box;
    measure(box, t, gap);
    box[0].left = 0;
    for (size_t i = 0; i < t->n_nodes; i++) {
        size_t at = box[i].left + (box[i].width - box[i].inner) / 2;
        for (uint32_t c = t->node[i].child; c != TRL_NO_NODE; c = t->node[c].next) {
            box[c].left = at;
            at += box[c].width + gap;
        }
    }
    for (size_t i = t->n_nodes; i-- > 0;)
        set_centre(box, t, i);
}
