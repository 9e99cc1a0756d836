/* tree_heads.c -- the heads of all nodes of a tree. */
/* SPDX-License-Identifier: MIT */
#include "treebank/heads.h"

#define MOST 256

static uint32_t find_head_child(const trl_tree *t, const trl_head_rules *rules, uint32_t v)
{
    uint32_t child[MOST];
    trl_str name[MOST];
    size_t n = 0;
    for (uint32_t c = t->node[v].child; c != TRL_NO_NODE && n < MOST; c = t->node[c].next) {
        child[n] = c;
        name[n++] = trl_tree_label(t, c);
    }
    return child[n == 1 ? 0 : trl_head_child(rules, trl_tree_label(t, v), name, n)];
}

/* Children have larger numbers than their parents. */
void trl_tree_heads(const trl_tree *t, const trl_head_rules *rules, uint32_t *head_child,
                    uint32_t *head)
{
    for (uint32_t v = (uint32_t)t->n_nodes; v-- > 0;) {
        const bool is_word = t->node[v].child == TRL_NO_NODE;
        head_child[v] = is_word ? TRL_NO_NODE : find_head_child(t, rules, v);
        head[v] = is_word ? t->node[v].from : head[head_child[v]];
    }
}
