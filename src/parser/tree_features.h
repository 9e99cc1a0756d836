/* tree_features.h -- private to gather and the index: the keys of a part of a tree. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_FEATURES_H
#define TRL_TREE_FEATURES_H

#include "parser/tree_gather.h"

/* A part of a tree, as far as feature families look at it. */
typedef struct trl_tree_part {
    uint32_t rule;  /* binary or unary */
    uint32_t state; /* the tag, or the parent */
    size_t i, k, j; /* span and split; inside: k is the word */
} trl_tree_part;

/* The class of the part for family `at`, TRL_NO_ID when that does not apply. */
uint32_t trl_tree_class_of(const trl_tree_features *f, size_t at, const trl_tree_part *p);

/* The key of family `at` on this part, with cls as its class; 0 when it observes nothing there. */
uint64_t trl_tree_class_key(const trl_tree_features *f, size_t at, uint32_t cls,
                            const trl_tree_part *p, const trl_seen *seen);

/* The key of family `at` on this part, 0 when it observes nothing there. */
uint64_t trl_tree_part_key(const trl_tree_features *f, size_t at, const trl_tree_part *p,
                           const trl_seen *seen);

/* Calls fn with every place that family `at` looks at on node n of a tree, of which p is the part;
 * stops and returns false when fn does.  Then the same with the keys there. */
typedef bool (*trl_part_fn)(void *ctx, const trl_tree_part *p);
bool trl_tree_node_parts(const trl_tree_features *f, size_t at, const trl_bnode *n, trl_tree_part p,
                         trl_part_fn fn, void *ctx);
typedef bool (*trl_key_fn)(void *ctx, uint64_t key);
/* Who gets the keys. */
typedef struct trl_key_sink {
    trl_key_fn fn;
    void *ctx;
} trl_key_sink;

bool trl_tree_node_keys(const trl_tree_features *f, size_t at, const trl_bnode *n, trl_tree_part p,
                        const trl_seen *seen, const trl_key_sink *sink);

/* The keys of all families on a whole tree, node by node.  False when the sink stops. */
bool trl_tree_gold_keys(const trl_tree_features *f, const trl_btree *tree, const trl_seen *seen,
                        const trl_key_sink *sink);

/* The part of node x of a tree. */
static inline trl_tree_part trl_tree_node_part(const trl_btree *tree, size_t x)
{
    const trl_bnode *n = &tree->node[x];
    return (trl_tree_part){n->rule, n->state, n->from,
                           n->right != TRL_NO_NODE ? tree->node[n->right].from : 0, n->to};
}

/* Whether there are families with this attachment, so that their tables are needed. */
bool trl_tree_attaches(const trl_tree_template *t, int attachment, int anchor);

#endif
