/* interval_chart.c -- joining items that cover intervals. */
/* SPDX-License-Identifier: MIT */
#include "translate/interval_chart.h"

#include <string.h>

typedef trl_interval_item item;

bool trl_interval_start(trl_interval_chart *c, const trl_source *s, trl_arena *arena)
{
    trl_arena_reset(arena);
    *c = (trl_interval_chart){s, arena, trl_arena_get(arena, s->n_nodes, sizeof *c->cell)};
    if (!c->cell)
        return false;
    memset(c->cell, 0, s->n_nodes * sizeof *c->cell);
    return true;
}

/* False: the two overlap. */
static bool join(const item *a, const item *b, item *out)
{
    out->cost = a->cost + b->cost;
    out->order = TRL_ORDER_FREE;
    if (trl_interval_empty(a) || trl_interval_empty(b)) {
        const item *x = trl_interval_empty(a) ? b : a;
        out->lo = x->lo;
        out->hi = x->hi;
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

bool trl_interval_join(trl_interval_chart *c, uint32_t node, trl_interval_pay_fn pay,
                       const void *ctx)
{
    const trl_source_node *v = &c->s->node[node];
    const trl_interval_cell *left = &c->cell[v->left], *right = &c->cell[v->right];
    trl_interval_cell *to = &c->cell[node];
    if (!(to->item = trl_arena_get(c->arena, left->n * right->n, sizeof *to->item)))
        return false;
    for (uint32_t a = 0; a < left->n; a++)
        for (uint32_t b = 0; b < right->n; b++) {
            const item pair[2] = {left->item[a], right->item[b]};
            item x = {.left = a, .right = b};
            if (!join(&pair[0], &pair[1], &x))
                continue;
            if (pay)
                pay(ctx, node, pair, &x);
            to->item[to->n++] = x;
        }
    return true;
}

/* Parents have larger numbers than their children. */
bool trl_interval_read(const trl_interval_chart *c, uint32_t root, uint32_t *word,
                       unsigned char *order)
{
    const trl_source *s = c->s;
    uint32_t *chosen = trl_arena_get(c->arena, s->n_nodes, sizeof *chosen);
    if (!chosen)
        return false;
    chosen[s->n_nodes - 1] = root;
    for (size_t v = s->n_nodes; v-- > 0;) {
        const item *x = &c->cell[v].item[chosen[v]];
        order[v] = (unsigned char)x->order;
        if (v < s->n_words) {
            word[v] = x->left;
        } else {
            chosen[s->node[v].left] = x->left;
            chosen[s->node[v].right] = x->right;
        }
    }
    return true;
}
