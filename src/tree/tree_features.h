/* tree_features.h -- private to gather and the index: which keys a part of a tree has. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_FEATURES_H
#define TRL_TREE_FEATURES_H

#include "tree/tree_gather.h"

/* A part of a tree: what its families may ask for. */
typedef struct trl_tree_part {
    uint32_t rule;    /* binary or unary */
    uint32_t state;   /* the tag, or the parent */
    size_t   i, k, j; /* span and split; inside: k is the word */
} trl_tree_part;

/* The key of family `at` on this part, 0 when it sees nothing there. */
uint64_t trl_tree_part_key(const trl_tree_features *f, size_t at, const trl_tree_part *p,
                           const trl_seen *seen);

/* Whether families of `hang` come in, so that their tables are needed. */
bool trl_tree_hangs(const trl_tree_template *t, int hang, int anchor);

#endif
