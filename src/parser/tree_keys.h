/* tree_keys.h -- the features of a whole tree.
 *
 * Keys first, then their places in the index, then their use: memory accesses of the same type
 * overlap.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_KEYS_H
#define TRL_TREE_KEYS_H

#include "parser/tree_features.h"

/* Scratch of one thread; zero-initialise. */
typedef struct trl_tree_keys {
    uint64_t *key;
    uint32_t *id; /* [n]: numbers in the index, one each time a feature is on */
    size_t n, cap_key, cap_id;
} trl_tree_keys;
void trl_tree_keys_fini(trl_tree_keys *k);

/* Whether a family's features are wanted; over_tag: on a unary rule over a tag. */
typedef bool (*trl_family_fn)(const trl_tree_family *f, bool over_tag);

/* The features of the tree that are in the index, without the rules'.  wanted NULL: of all
 * families.  TRL_ENOMEM. */
trl_status trl_tree_keys_of(const trl_tree_features *f, const trl_btree *tree, const trl_seen *seen,
                            trl_family_fn wanted, trl_tree_keys *k, trl_error *err);

#endif
