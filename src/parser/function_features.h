/* function_features.h -- what the function label of a node is told by: texts like "2=NP|S", a
 * node's category with those of its neighbours, its head and that of its parent, its first and last
 * words, the object of its preposition, the verb that governs it [BC00].
 *
 * [BC00] Blaheta, Charniak. Assigning function tags to parsed text. NAACL 2000.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FUNCTION_FEATURES_H
#define TRL_FUNCTION_FEATURES_H

#include "base/buf.h"
#include "grammar/observation.h"
#include "treebank/heads.h"

#define TRL_FUNCTION_FEATURES 48 /* of a node, at most */

/* Of one thread; zero-initialise.  The texts of a node are text.data[end[k - 1] .. end[k]). */
typedef struct trl_function_reader {
    const trl_head_rules *heads;  /* borrowed */
    const trl_observer *observer; /* for clusters; borrowed; NULL: none */
    const trl_tree *tree;
    uint32_t *head_child, *head; /* [nodes], heads.h */
    uint32_t *tag;               /* [words]: the node of each */
    size_t cap_head_child, cap_head, cap_tag;
    trl_buf text;
    size_t end[TRL_FUNCTION_FEATURES], n;
} trl_function_reader;

/* Begins a tree, borrowed: labels are categories, its root is node 0.  TRL_ENOMEM. */
trl_status trl_function_reader_begin(trl_function_reader *r, const trl_tree *tree, trl_error *err);

/* The features of node v, not a word's; the first is its category.  TRL_ENOMEM. */
trl_status trl_function_read(trl_function_reader *r, uint32_t v, trl_error *err);
trl_str trl_function_feature(const trl_function_reader *r, size_t k);
void trl_function_reader_fini(trl_function_reader *r);

#endif
