/* forest.c -- items, states, derivations. */
/* SPDX-License-Identifier: MIT */
#include "search/forest.h"

#include <string.h>

#include "base/mem.h"

bool trl_forest_start(trl_forest *f, size_t n, const uint32_t *tag)
{
    f->n_words = n;
    f->n_items = f->n_children = 0;
    return trl_forest_tag(f, tag) != TRL_NO_ID;
}

uint32_t trl_forest_tag(trl_forest *f, const uint32_t *tag)
{
    const uint32_t base = (uint32_t)f->n_items;
    trl_item *item = trl_reserve(f->item, &f->item_cap, base + f->n_words, sizeof *item);
    if (!item)
        return TRL_NO_ID;
    f->item = item;
    for (uint32_t k = 0; k < f->n_words; k++)
        item[base + k] = (trl_item){.label = tag[k], .from = k, .to = k + 1, .head = base + k};
    f->n_items += f->n_words;
    return base;
}

void trl_forest_fini(trl_forest *f)
{
    trl_free(f->item);
    trl_free(f->child);
    *f = (trl_forest){0};
}

/* More children than this are looked at from the left only: no head is further to the right. */
#define HEAD_CHILDREN 256

static uint32_t find_head(const trl_forest *f, const uint32_t *child, size_t n, trl_str label,
                          const trl_head_rules *heads, const trl_strtab *labels)
{
    trl_str name[HEAD_CHILDREN];
    n = n < HEAD_CHILDREN ? n : HEAD_CHILDREN;
    for (size_t k = 0; k < n; k++)
        name[k] = trl_strtab_get(labels, f->item[child[k]].label);
    return f->item[child[n == 1 ? 0 : trl_head_child(heads, label, name, n)]].head;
}

uint32_t trl_forest_add(trl_forest *f, const trl_partial_parse *s, trl_inference x,
                        const trl_head_rules *heads, const trl_strtab *labels)
{
    const size_t n = x.last - x.first + 1;
    trl_item *item = trl_reserve(f->item, &f->item_cap, f->n_items + 1, sizeof *item);
    if (!item)
        return TRL_NO_ID;
    f->item = item;
    uint32_t *child = trl_reserve(f->child, &f->child_cap, f->n_children + n, sizeof *child);
    if (!child)
        return TRL_NO_ID;
    f->child = child;
    memcpy(child + f->n_children, s->root + x.first, n * sizeof *child);
    item[f->n_items] = (trl_item){
        .label = x.label,
        .from = item[s->root[x.first]].from,
        .to = item[s->root[x.last]].to,
        .head = find_head(f, s->root + x.first, n, trl_strtab_get(labels, x.label), heads, labels),
        .child = (uint32_t)f->n_children,
        .n = (uint32_t)n};
    f->n_children += n;
    return (uint32_t)f->n_items++;
}

trl_partial_parse trl_partial_start(const trl_forest *f, uint32_t base, uint32_t *root)
{
    for (uint32_t k = 0; k < f->n_words; k++)
        root[k] = base + k;
    return (trl_partial_parse){root, f->n_words, f->n_words - 1, base};
}

trl_partial_parse trl_partial_after(const trl_partial_parse *s, size_t first, size_t last,
                                    uint32_t item, uint32_t *root)
{
    if (root != s->root)
        memcpy(root, s->root, first * sizeof *root);
    root[first] = item;
    memmove(root + first + 1, s->root + last + 1, (s->n - last - 1) * sizeof *root);
    return (trl_partial_parse){root, s->n - (last - first), first, s->base};
}

bool trl_unary_allowed(const trl_forest *f, uint32_t item, uint32_t label)
{
    const trl_item *x = &f->item[item];
    for (; x->n; x = &f->item[f->child[x->child]]) {
        if (x->label == label)
            return false;
        if (x->n > 1)
            break;
    }
    return true;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* By first word from right to left; nodes with the same first word are an ancestor line, whose
 * preorder is from the top down. */
size_t trl_derivation(const trl_tree *tree, uint32_t *order)
{
    size_t n = 0;
    for (size_t v = 0; v < tree->n_nodes; v++)
        if (tree->node[v].child != TRL_NO_NODE)
            order[n++] = (uint32_t)v;
    /* In preorder, first words never fall: reversed, they never rise, and lines are bottom-up. */
    for (size_t a = 0, b = n; a + 1 < b; a++) {
        const uint32_t t = order[a];
        order[a] = order[--b];
        order[b] = t;
    }
    return n;
}

trl_inference trl_inference_of(const trl_tree *tree, uint32_t v, const uint32_t *node_item,
                               const trl_partial_parse *s)
{
    uint32_t first = 0, count = 0;
    const uint32_t leftmost = node_item[tree->node[v].child];
    while (s->root[first] != leftmost)
        first++;
    for (uint32_t u = tree->node[v].child; u != TRL_NO_NODE; u = tree->node[u].next)
        count++;
    return (trl_inference){first, first + count - 1, tree->node[v].label};
}

size_t trl_forest_tree(const trl_forest *f, uint32_t item, trl_node *node, uint32_t *stack)
{
    size_t n = 0, depth = 0;
    stack[depth++] = item;
    stack[depth++] = TRL_NO_NODE;
    while (depth) {
        const uint32_t parent = stack[--depth];
        const trl_item *x = &f->item[stack[--depth]];
        const uint32_t v = (uint32_t)n++;
        node[v] = (trl_node){x->label, parent, TRL_NO_NODE, TRL_NO_NODE, x->from, x->to};
        for (size_t k = x->n; k-- > 0;) {
            stack[depth++] = f->child[x->child + k];
            stack[depth++] = v;
        }
    }
    for (size_t v = n; v-- > 1;) { /* the children of a node come up from last to first */
        trl_node *parent = &node[node[v].parent];
        node[v].next = parent->child;
        parent->child = (uint32_t)v;
    }
    return n;
}
