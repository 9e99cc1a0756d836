/* tree_set.h -- the trees of a treebank in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_SET_H
#define TRL_TREE_SET_H

#include "trellis/trees.h"
#include "grammar/grammar.h"

/* What the trees of a treebank hang on: a label (TOP, ROOT, S1, VROOT or none), or nothing at all,
 * trees beginning with their S. */
typedef struct trl_tree_root {
    char label[8];
    bool bare;
} trl_tree_root;

typedef struct trl_tree_set {
    trl_strtab labels; /* of all trees */
    trl_tree *tree;    /* [n]; each in a block of its own, tree.node */
    size_t n, cap, n_words;
    trl_tree_root root; /* of the first tree as it was read */
    uint64_t too_long;  /* trees left out */
} trl_tree_set;         /* zero-initialise; trees point into it, so it must not move */

/* Reads all trees of up to max_length words (0: any), traces and function tags gone, the root
 * labelled TOP.  `path` is borrowed for messages.  TRL_EPARSE, TRL_EIO, TRL_ENOMEM. */
trl_status trl_tree_set_read(trl_tree_set *s, const char *path, size_t max_length, trl_error *err);
void trl_tree_set_fini(trl_tree_set *s);

#endif
