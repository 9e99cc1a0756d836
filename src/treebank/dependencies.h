/* dependencies.h -- from constituents to Universal Dependencies: what content_heads.c and
 * relation.c share.
 *
 * Every phrase has a head word, the content word that stands for it: the noun of a prepositional
 * phrase, the main verb below its auxiliaries, the predicate after a form of "be".  Each other
 * child of the phrase hangs its own head word on that one; how it does is the relation [NMG+16].
 *
 * [NMG+16] Nivre, de Marneffe, Ginter, Goldberg, Hajič, et al. Universal Dependencies v1: a
 * multilingual treebank collection. LREC 2016.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_DEPENDENCIES_H
#define TRL_DEPENDENCIES_H

#include "trellis/trees.h"

/* How a child that is not the head of its parent takes part in a coordination. */
typedef enum trl_conjunct { TRL_NO_CONJUNCT, TRL_CONJUNCT, TRL_CONJUNCTION } trl_conjunct;

typedef struct trl_headed_node {
    uint32_t word;     /* its head; TRL_NO_NODE: no words but empty elements below */
    uint32_t child;    /* where that is; TRL_NO_NODE in a word's node */
    uint32_t governor; /* the sister that it hangs on; TRL_NO_NODE: it is the head child */
    trl_conjunct conjunct;
    bool passive; /* of verb phrases and clauses: "was seen", "got lost" */
} trl_headed_node;

/* A tree with what was found about its nodes. */
typedef struct trl_headed {
    const trl_tree *tree;
    trl_headed_node *at; /* [n_nodes] */
} trl_headed;

/* The category of a node: its label without function tags. */
trl_str trl_headed_category(const trl_headed *h, uint32_t node);
bool trl_headed_is(const trl_headed *h, uint32_t node, const char *category);

/* Is the category one of those in `list`, which has a blank before and after every one? */
bool trl_headed_in(const trl_headed *h, uint32_t node, const char *list);

/* Does the label have this function tag, as SBJ in NP-SBJ-1? */
bool trl_headed_function(const trl_headed *h, uint32_t node, const char *function);

/* The next sibling that has words; the first child that has. */
uint32_t trl_headed_next(const trl_headed *h, uint32_t node);
uint32_t trl_headed_first(const trl_headed *h, uint32_t node);

bool trl_headed_punctuation(const trl_headed *h, uint32_t node);

/* Is the word one of those in `list` (lower case, a blank before and after every one)? */
bool trl_word_in(trl_str word, const char *list);

/* The forms of "be"; of "be", "have", "do" and "get". */
extern const char trl_forms_of_be[], trl_auxiliary_forms[];

/* Finds heads and what hangs on them, bottom-up; h->at is the caller's.  No allocation. */
void trl_find_heads(trl_headed *h);

/* The relation of a child, not the head child, to its parent's head.  Static. */
const char *trl_relation(const trl_headed *h, uint32_t child);

/* Appends the sentence in CoNLL-U, an empty line after it; nothing when all words are empty
 * elements.  TRL_ENOMEM. */
trl_status trl_tree_conllu(const trl_tree *tree, trl_buf *out, trl_error *err);

/* The universal part of speech of a word, given its relation.  Static. */
const char *trl_universal_tag(trl_str word, trl_str tag, const char *relation);

#endif
