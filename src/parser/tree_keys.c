/* tree_keys.c -- listing the features of a tree. */
/* SPDX-License-Identifier: MIT */
#include "parser/tree_keys.h"

#include "base/fail.h"
#include "base/mem.h"

void trl_tree_keys_fini(trl_tree_keys *k)
{
    trl_free(k->key);
    trl_free(k->id);
    *k = (trl_tree_keys){0};
}

typedef struct collecting {
    const trl_tree_index *x;
    trl_tree_keys *k;
} collecting;

static bool push(void *ctx, uint64_t key)
{
    const collecting *c = ctx;
    if (c->k->n == c->k->cap_key) {
        uint64_t *more = trl_reserve(c->k->key, &c->k->cap_key, c->k->n + 1, sizeof *more);
        if (!more)
            return false;
        c->k->key = more;
    }
    c->k->key[c->k->n++] = key;
    trl_tree_index_prefetch(c->x, key);
    return true;
}

/* The groups of families (trl_tree_features.family) on a node: from .. to - 1. */
static void groups_of(const trl_bnode *n, size_t *from, size_t *to)
{
    const bool word = n->left == TRL_NO_NODE, unary = !word && n->right == TRL_NO_NODE;
    *from = word ? TRL_ATTACH_WORD : unary ? TRL_ATTACH_UNARY : TRL_ATTACH_ITEM;
    *to = word || unary ? *from + 1 : TRL_ATTACHS + TRL_EDGE_ANCHORS;
}

static bool collect(const trl_tree_features *f, const trl_btree *tree, size_t x,
                    const trl_seen *seen, trl_family_fn wanted, collecting *c)
{
    const trl_bnode *n = &tree->node[x];
    const trl_tree_part part = trl_tree_node_part(tree, x);
    const bool over_tag = n->left != TRL_NO_NODE && n->right == TRL_NO_NODE &&
                          f->g->state[tree->node[n->left].state].type == TRL_STATE_TAG;
    size_t from, to;
    groups_of(n, &from, &to);
    for (size_t group = from; group < to; group++)
        for (size_t i = 0; i < f->n_family[group]; i++) {
            const size_t at = f->family[group][i];
            if (!wanted || wanted(&f->t->family[at], over_tag))
                if (!trl_tree_node_keys(f, at, n, part, seen, &(trl_key_sink){push, c}))
                    return false;
        }
    return true;
}

trl_status trl_tree_keys_of(const trl_tree_features *f, const trl_btree *tree, const trl_seen *seen,
                            trl_family_fn wanted, trl_tree_keys *k, trl_error *err)
{
    collecting c = {&f->index, k};
    k->n = 0;
    for (size_t x = 0; x < tree->n; x++)
        if (!collect(f, tree, x, seen, wanted, &c))
            return trl_fail_mem(err);
    uint32_t *id = trl_reserve(k->id, &k->cap_id, k->n, sizeof *id);
    if (!id && k->n)
        return trl_fail_mem(err);
    k->id = id;
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const uint32_t found = trl_tree_index_find(&f->index, k->key[i]);
        id[n] = found;
        n += found != TRL_NO_ID;
    }
    k->n = n;
    return TRL_OK;
}
