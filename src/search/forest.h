/* forest.h -- trees in the making: items, states, and the one order in which a tree is built.
 *
 * An item is a node of a tree.  A state is what has been inferred so far: the items that have no
 * parent yet, from left to right (the roots); at first one for each word.  An inference adds one
 * item over neighbouring roots [first .. last], which become its children [TM06, section 2].
 *
 * Items are added bottom-up and from right to left: the first word of an item is never to the
 * right of the first word of the item before it.  Items with the same first word contain each
 * other and come smallest first, so that every tree has exactly one derivation:
 *
 *     (S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .))      VP, NP, S
 *
 * [TM06] Turian, Melamed. Advances in discriminative parsing. COLING/ACL 2006.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FOREST_H
#define TRL_FOREST_H

#include "treebank/heads.h"
#include "trellis/trees.h"

typedef struct trl_item {
    uint32_t label;    /* of a word: its tag */
    uint32_t from, to; /* words [from .. to) */
    uint32_t head;     /* the item of the word that is its head */
    uint32_t child, n; /* children: forest.child[child .. child + n); n = 0: a word */
} trl_item;

/* All items of all states of a sentence; items 0 .. n_words-1 are the words, and so are n_words
 * more for every further tagging.  Zero-initialise; release with _fini.  Kept from sentence to
 * sentence. */
typedef struct trl_forest {
    trl_item *item;
    uint32_t *child;
    size_t n_words, n_items, n_children;
    size_t item_cap, child_cap;
} trl_forest;

typedef struct trl_partial_parse {
    uint32_t *root; /* [n] items without a parent, from left to right */
    size_t n;
    size_t newest; /* the root that was added last; at first the last one */
    uint32_t base; /* the item of its first word */
} trl_partial_parse;

/* An inference: an item over the roots [first .. last] of a state.  Valid where first <= newest. */
typedef struct trl_inference {
    uint32_t first, last;
    uint32_t label;
} trl_inference;

/* Starts a sentence of n words with these tags.  False: out of memory. */
bool trl_forest_start(trl_forest *f, size_t n, const uint32_t *tag);
void trl_forest_fini(trl_forest *f);

/* Adds the words with other tags: the item of the first; TRL_NO_ID: out of memory. */
uint32_t trl_forest_tag(trl_forest *f, const uint32_t *tag);

/* Adds the item of an inference in state `s`; its head by the rules.  TRL_NO_ID: out of memory. */
uint32_t trl_forest_add(trl_forest *f, const trl_partial_parse *s, trl_inference x,
                        const trl_head_rules *heads, const trl_strtab *labels);

/* The first state into root[n_words]; base: the item of its first word. */
trl_partial_parse trl_partial_start(const trl_forest *f, uint32_t base, uint32_t *root);

/* The state after `item` was added over roots [first .. last] of s, into root[s->n].  May be
 * s->root itself. */
trl_partial_parse trl_partial_after(const trl_partial_parse *s, size_t first, size_t last,
                                    uint32_t item, uint32_t *root);

/* May `label` be put over this root alone?  Not when it has the label itself, or is the top of a
 * chain of single children with it: that bounds the length of derivations. */
bool trl_unary_allowed(const trl_forest *f, uint32_t item, uint32_t label);

/* ---- trees ----------------------------------------------------------------------------------- */

/* The inner nodes of the tree in the order of its derivation into order[]; their number.  order
 * has room for all nodes. */
size_t trl_derivation(const trl_tree *tree, uint32_t *order);

/* The inference that adds inner node v to the state, whose roots are the items of[] nodes:
 * node_item[u] is the item of node u.  All its children must be roots. */
trl_inference trl_inference_of(const trl_tree *tree, uint32_t v, const uint32_t *node_item,
                               const trl_partial_parse *s);

/* The nodes of the item and of all below it in preorder into node[]; their number, which is that of
 * the words plus the inferences.  stack: room for twice as many. */
size_t trl_forest_tree(const trl_forest *f, uint32_t item, trl_node *node, uint32_t *stack);

#endif
