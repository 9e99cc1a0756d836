/* grammar_decode.c -- trees back from states, and states from one grammar to another. */
/* SPDX-License-Identifier: MIT */
#include "base/fail.h"
#include "base/mem.h"
#include "grammar/grammar_parts.h"

typedef struct sink {
    trl_node **nodes;
    size_t *n, *cap;
} sink;

/* The parent of the next node, which starts at word `from`: the last node when that has no child
 * yet and is not a tag (`open`), else the lowest node above it that continues. */
static uint32_t parent_of(const trl_node *node, size_t n, bool open, uint32_t from)
{
    if (n == 0)
        return TRL_NO_NODE;
    uint32_t p = (uint32_t)n - 1;
    if (!open)
        while (p != TRL_NO_NODE && node[p].to <= from)
            p = node[p].parent;
    return p;
}

/* False: out of memory. */
static bool add_node(sink *s, uint32_t label, uint32_t parent, uint32_t from, uint32_t to)
{
    trl_node *node = trl_reserve(*s->nodes, s->cap, *s->n + 1, sizeof *node);
    if (!node)
        return false;
    *s->nodes = node;
    const uint32_t v = (uint32_t)*s->n;
    node[v] = (trl_node){label, parent, TRL_NO_NODE, TRL_NO_NODE, from, to};
    if (parent != TRL_NO_NODE) {
        if (node[parent].child == TRL_NO_NODE) {
            node[parent].child = v;
        } else {
            uint32_t u = v - 1;
            while (node[u].parent != parent)
                u = node[u].parent;
            node[u].next = v;
        }
    }
    ++*s->n;
    return true;
}

/* Does the tree lie in preorder, as far as one node shows it? */
static bool in_order(const trl_btree *t, size_t v)
{
    const trl_bnode *b = &t->node[v];
    if (b->left == TRL_NO_NODE)
        return b->right == TRL_NO_NODE && b->to == b->from + 1;
    if (b->left != v + 1 || b->left >= t->n || t->node[b->left].from != b->from)
        return false;
    if (b->right == TRL_NO_NODE)
        return t->node[b->left].to == b->to;
    return b->right > b->left && b->right < t->n && t->node[b->right].to == b->to &&
           t->node[b->right].from == t->node[b->left].to;
}

trl_status trl_grammar_decode(const trl_grammar *g, const trl_btree *t, trl_node **nodes, size_t *n,
                              size_t *cap, trl_error *err)
{
    sink s = {nodes, n, cap};
    bool open = false;
    *n = 0;
    for (size_t v = 0; v < t->n; v++) {
        const trl_bnode *b = &t->node[v];
        const trl_state *state = &g->state[b->state];
        if (!in_order(t, v))
            return trl_fail(err, TRL_EINVAL, "the nodes of a binary tree are not in preorder");
        if (state->type == TRL_STATE_ACTIVE)
            continue;
        const uint32_t p = parent_of(*nodes, *n, open, b->from);
        if (*n > 0 && p == TRL_NO_NODE)
            return trl_fail(err, TRL_EINVAL, "a binary tree with two roots");
        if (!add_node(&s, state->base, p, b->from, b->to))
            return trl_fail_mem(err);
        open = b->left != TRL_NO_NODE;
        if (!open || b->right != TRL_NO_NODE || b->rule == TRL_NO_ID)
            continue;
        const trl_unary *r = &g->unary[b->rule];
        for (uint32_t k = 0; k < r->chain_length; k++) {
            if (!add_node(&s, g->chain_pool[r->chain + k], (uint32_t)*n - 1, b->from, b->to))
                return trl_fail_mem(err);
        }
    }
    return TRL_OK;
}

/* ---- about grammars -------------------------------------------------------------------------- */

void trl_grammar_project(const trl_grammar *fine, const trl_grammar *coarse, uint32_t *map)
{
    for (size_t s = 0; s < fine->n_states; s++) {
        const trl_str base = trl_strtab_get(&fine->labels, fine->state[s].base);
        const trl_state_key k = {(uint32_t)fine->state[s].type,
                                 trl_strtab_find(&coarse->labels, base.p, base.n),
                                 TRL_NO_ID,
                                 TRL_NO_ID,
                                 TRL_NO_ID,
                                 TRL_NO_ID};
        map[s] = k.base == TRL_NO_ID ? TRL_NO_ID : trl_grammar_find(coarse, &k);
    }
    map[fine->root] = coarse->root;
}

void trl_grammar_count(const trl_grammar *g, trl_grammar_stats *out)
{
    size_t types[3] = {0}, left = 0;
    *out = (trl_grammar_stats){.binary = g->n_binary, .unary = g->n_unary};
    for (size_t s = 0; s < g->n_states; s++) {
        types[g->state[s].type]++;
        left += g->by_left[s] < g->by_left[s + 1];
    }
    for (size_t r = 0; r < g->n_binary; r++)
        out->binary_relaxed += g->binary_count[r] < 1.0;
    for (size_t r = 0; r < g->n_unary; r++)
        out->unary_relaxed += g->unary_count[r] < 1.0;
    out->tags = types[TRL_STATE_TAG];
    out->phrases = types[TRL_STATE_PHRASE];
    out->actives = types[TRL_STATE_ACTIVE];
    out->binary_per_left = left ? (double)g->n_binary / (double)left : 0.0;
}
