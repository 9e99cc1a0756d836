/* tree_set.h -- the trees of a treebank in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_SET_H
#define TRL_TREE_SET_H

#include "trellis/trees.h"
#include "base/cancel.h"
#include "feature/dataset.h"
#include "grammar/grammar.h"

/* The root of a treebank's trees: a label (TOP, ROOT, S1, VROOT or an empty one), or no root at
 * all, when trees begin with their S. */
typedef struct trl_tree_root {
    char label[8];
    bool bare;
} trl_tree_root;

typedef struct trl_tree_set {
    trl_strtab labels; /* of all trees */
    trl_tree *tree;    /* [n]; each in a block of its own, tree.node */
    size_t n, cap, n_words;
    size_t n_raw;       /* the last of the n are a parser's, of raw text */
    trl_tree_root root; /* of the first tree as it was read */
    bool keep_long;     /* set before reading: trees above max_length are kept, too */
    uint64_t too_long;  /* their number; left out otherwise */
    uint64_t bad;       /* broken trees that were skipped */
    /* Called for every broken tree, which is then skipped; NULL: the first one ends the reading.
     */
    void (*on_bad)(void *ctx, const trl_error *why);
    void *bad_ctx;
    const trl_cancel *cancel; /* or NULL: then reading cannot be stopped */
    /* Is number k of all trees read, from 0, passed over?  NULL: none is. */
    bool (*passes)(const void *ctx, uint64_t k);
    const void *passes_ctx;
    uint64_t n_read;
    uint32_t *place; /* [n]: k of each tree; TRL_NO_ID where `passes` was NULL */
    size_t cap_place;
    uint64_t n_functions; /* labels of phrases that had function tags */
    /* Set before reading to keep them.  A class is all function tags of a label, as they are
     * written, without indices: "SBJ", "LOC-PRD"; class 0 is "", none. */
    bool keep_functions;
    trl_strtab functions; /* the classes */
    uint32_t **function;  /* [n][nodes]: the class of each node, in the tree's block; or NULL */
    size_t cap_function;
} trl_tree_set; /* zero-initialise; trees point into it, so it must not move */

/* Takes all trees of a data set of up to max_length words (0, keep_long: any), without traces and
 * function tags (these are kept apart when s->keep_functions), the root labelled TOP.  Names are
 * borrowed for messages: the path of a set that is a file, else `name`.  With on_bad a line that
 * begins with '(' begins a tree (trl_treebank_resync).  TRL_EPARSE, TRL_EIO, TRL_ECANCEL,
 * TRL_ENOMEM. */
trl_status trl_tree_set_take(trl_tree_set *s, const trl_dataset *from, const char *name,
                             size_t max_length, trl_error *err);

/* The same of a data set that is that file. */
trl_status trl_tree_set_read(trl_tree_set *s, const char *path, size_t max_length, trl_error *err);

/* The same of text in memory. */
trl_status trl_tree_set_memory(trl_tree_set *s, const char *name, trl_str text, size_t max_length,
                               trl_error *err);

/* Of the trees above max_length, as many stay, spread over the set, as have no more words than the
 * other trees together: what short trees teach is not drowned, and training at most about twice
 * as long. */
void trl_tree_set_balance(trl_tree_set *s, size_t max_length);
void trl_tree_set_fini(trl_tree_set *s);

#endif
