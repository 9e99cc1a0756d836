/* source.h -- the tree of a source sentence as translation sees it: binary, with lexical heads.
 *
 * A node of one child is its child.  Of three and more children the head takes its right neighbours
 * one after the other, then its left ones: every node that this makes has the label and the head of
 * the node that was cut.
 *
 *     (NP DT JJ NN* PP)   ->   (NP DT (NP JJ (NP NN* PP)))
 *
 * Nodes are in postorder: children come before their parent, the root is the last.  The nodes of
 * words are 0 .. n_words-1, in the order of the sentence.
 *
 * Dependency features [WTM06] belong to a word by its maximal projection, the highest node of the
 * tree (before it is cut) whose head it is: the label of it, the label and head of its parent, the
 * labels and heads of its dependents (the other children on the way down to the word), the labels
 * of the nodes on that way.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SOURCE_H
#define TRL_SOURCE_H

#include "base/strtab.h"
#include "treebank/heads.h"
#include "trellis/trees.h"

typedef struct trl_source_node {
    uint32_t label;       /* of a word's node its tag; TRL_NO_ID: not among the names */
    uint32_t left, right; /* TRL_NO_NODE: a word's node */
    uint32_t head;        /* the place of its head word */
} trl_source_node;

/* What a word's dependency features are made of. */
typedef enum trl_relation {
    TRL_TOP_LABEL,
    TRL_PARENT_LABEL,
    TRL_PARENT_HEAD, /* a word */
    TRL_DEPENDENT_LABEL,
    TRL_DEPENDENT_HEAD, /* a word */
    TRL_HEAD_LABEL,
    TRL_RELATIONS
} trl_relation;

typedef struct trl_source_dependency {
    uint32_t relation; /* trl_relation */
    uint32_t value;    /* label or word; never TRL_NO_ID */
} trl_source_dependency;

typedef struct trl_source {
    size_t n_words, n_nodes; /* n_nodes = 2 n_words - 1 */
    uint32_t *word;          /* [n_words] TRL_NO_ID: not among the names */
    trl_source_node *node;   /* [n_nodes] */
    trl_source_dependency *dependency;
    uint32_t *dependency_end; /* [n_words] */
} trl_source;                 /* one block, `word`; zero-initialise; release with _fini */

/* Words and labels of trees, as numbers. */
typedef struct trl_source_names {
    trl_strtab words, labels;
} trl_source_names;

/* Makes `s` of a tree.  With `add` new words and labels get numbers.  TRL_ENOMEM. */
trl_status trl_source_make(trl_source *s, const trl_tree *t, const trl_head_rules *heads,
                           trl_source_names *names, bool add, trl_error *err);
void trl_source_fini(trl_source *s);

static inline uint32_t trl_dependency_begin(const trl_source *s, size_t word)
{
    return word ? s->dependency_end[word - 1] : 0;
}

#endif
