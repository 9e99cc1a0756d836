/* heads.h -- which child is the head of a constituent, by a table of rules [Col99, appendix
 * A].
 *
 * A table is text, one parent a line, `#` starts a comment:
 *
 *     VP   left TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP
 *     NP   last NN NNP NNPS NNS NX POS JJR ; first NP ; last $ ADJP PRN ; last CD
 *     FRAG right
 *     @coordination CC
 *     @punctuation `` '' , . : -LRB- -RRB-
 *     @default left
 *
 * Lists are tried in order.  The direction at the start of a list says how it is searched; a list
 * without one has the direction of the list before it:
 *
 *     left, right    label by label: the leftmost (rightmost) child with the first label that
 *                    any child has
 *     first, last    child by child: the leftmost (rightmost) child with any of the labels
 *
 * A list without labels takes the leftmost (rightmost) child.  The same is done in the direction of
 * the last list when no list finds anything, and in that of @default (left) when the parent is not
 * in the table; punctuation is then passed over unless there is nothing else.  Finally, where the
 * head directly follows a @coordination, the conjunct before that is the head (punctuation between
 * them does not count).
 *
 * Function tags and indices of labels do not matter: NP-SBJ-1 and NP=2 are NP.  A backslash removes
 * the special meaning of a first character: \# is the tag of the pound sign.
 *
 * [Col99] Collins. Head-driven statistical models for natural language parsing. PhD thesis,
 *         University of Pennsylvania, 1999.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HEADS_H
#define TRL_HEADS_H

#include "treebank/brackets.h"

/* Read-only once made: may be shared by threads. */
typedef struct trl_head_rules trl_head_rules;

/* Reads a table from a file (plain, gzip, zstd; "-": standard input); NULL: the built-in
 * table. TRL_EPARSE, with path:row:col, for a line without direction, a second line for a
 * parent, a list that is empty or can never be reached, an unknown directive; TRL_EIO;
 * TRL_ENOMEM. */
trl_status trl_head_rules_read(const char *path, trl_head_rules **out, trl_error *err);

/* The same from memory; `name` appears in messages. */
trl_status trl_head_rules_parse(const char *name, const char *text, size_t n, trl_head_rules **out,
                                trl_error *err);
void trl_head_rules_free(trl_head_rules *rules); /* accepts NULL */

/* The table as it was read, line ends as LF: parsing it gives the same rules.  Borrowed. */
trl_str trl_head_rules_text(const trl_head_rules *rules);

/* The built-in table: Collins' with lines for labels of later treebanks.  Static. */
const char *trl_head_rules_builtin(void);

/* The index of the head among child[0 .. n), n >= 1.  No allocation, no failure. */
size_t trl_head_child(const trl_head_rules *rules, trl_str parent, const trl_str *child, size_t n);

/* Of every node of a tree its head child (TRL_NO_NODE: a word's node) and the word that is its
 * head; both arrays are the caller's, [n_nodes].  Of more than 256 children the first 256 are
 * looked at.
 */
void trl_tree_heads(const trl_tree *tree, const trl_head_rules *rules, uint32_t *head_child,
                    uint32_t *head);

#endif
