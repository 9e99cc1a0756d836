/* grammar_parts.h -- what the files of the grammar share; not for others. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAMMAR_PARTS_H
#define TRL_GRAMMAR_PARTS_H

#include "grammar/grammar.h"

#define TRL_KEY_ROOT 3u /* the root's type in its key: S as the root is not S further down */

/* What identifies a state; its bytes are the string in g->keys.  Labels, or TRL_NO_ID where the
 * annotation is off or does not apply. */
typedef struct trl_state_key {
    uint32_t type; /* trl_state_type or TRL_KEY_ROOT */
    uint32_t base, above, head, first, previous;
} trl_state_key;

trl_state_key trl_grammar_key(const trl_grammar *g, uint32_t state);

static inline uint32_t trl_grammar_find(const trl_grammar *g, const trl_state_key *key)
{
    return trl_strtab_find(&g->keys, (const char *)key, sizeof *key);
}

/* The chain of a unary rule in a tree: the labels of the nodes strictly between `top` and the first
 * node below with no or several children.  Returns that node. */
uint32_t trl_chain_bottom(const trl_tree *tree, uint32_t top);

/* ---- from trees to states (grammar_code.c) --------------------------------------------------- */

/* States of one tree after the other.  With `add` unknown labels and states are added to that
 * grammar, else they become TRL_NO_ID. */
typedef struct trl_tree_coder {
    const trl_grammar *g;
    trl_grammar *add; /* NULL, or the same as g */
    const trl_head_rules *heads;
    const trl_tree *tree;
    const trl_strtab *labels;
    bool failed; /* out of memory */
} trl_tree_coder;

/* The id in the grammar's table of a label in the tree's. */
uint32_t trl_coder_label(trl_tree_coder *c, uint32_t label);

/* Nodes with states, spans and links.  `rule` of a node with one child is the node of the tree
 * that it stands for, of others TRL_NO_ID.  False: out of memory. */
bool trl_coder_states(trl_tree_coder *c, trl_btree *out);

/* ---- while building (grammar_build.c, grammar_relax.c) --------------------------------------- */

/* Of a label, over the phrases right below the root and the last tags of these. */
typedef struct trl_mark_count {
    double below;   /* phrases with this label */
    double ends;    /* phrases that end with this tag */
    double words;   /* words with this tag, anywhere */
    uint32_t ended; /* 1 + a label that ends with this tag; TRL_NO_ID: several do; 0: none */
} trl_mark_count;

typedef struct trl_grammar_maps {
    const trl_head_rules *heads;
    trl_strtab binary; /* keys uint32_t[3]: parent, left, right */
    trl_strtab unary;  /* keys uint32_t[3]: parent, child, chain */
    trl_strtab chains; /* keys: labels */
    double *binary_count, *unary_count;
    size_t binary_cap, unary_cap;
    uint32_t *chain; /* scratch */
    size_t chain_cap;
    trl_btree tree;        /* scratch */
    trl_mark_count *marks; /* [n_marks], by label; labels from n_marks on have none */
    size_t n_marks, marks_cap;
    double n_roots; /* trees with a phrase right below the root */
} trl_grammar_maps;

/* Adds `count` to that of a rule, which is added when new.  False: out of memory. */
bool trl_count_rule(trl_strtab *rules, double **counts, size_t *cap, const uint32_t key[3],
                    double count);

/* Adds the relaxed rules with count 0.  False: out of memory. */
bool trl_grammar_relax(trl_grammar *g);

/* The least expected count of a rule that is added, and of a variant of it by annotation. */
#define TRL_SMOOTH_LEAST 5e-3
#define TRL_SMOOTH_VARIANT 5e-4

/* Adds rules never seen, with their expected counts, which are below 1.  False: out of memory. */
bool trl_grammar_smooth(trl_grammar *g);

/* Counts the phrase below the root of a tree, its last tag, and all tags.  False: out of memory. */
bool trl_marks_count(trl_tree_coder *c, trl_grammar_maps *m);

/* Unseen binary rules of phrases below the root that end with a mark, with expected counts. */
typedef struct trl_mark_rules {
    trl_strtab rule; /* keys as trl_grammar_maps.binary */
    double *count;
    size_t cap;
} trl_mark_rules; /* zero-initialise */

/* Lists them, of a grammar that has the rules seen; new states of marks are added to the grammar.
 * Then adds the list.  False: out of memory. */
bool trl_grammar_marks(trl_grammar *g, trl_mark_rules *rules);
bool trl_mark_rules_add(trl_grammar *g, const trl_mark_rules *rules);
void trl_mark_rules_fini(trl_mark_rules *rules);

/* Adds rules by which every sequence of tags has a tree.  False: out of memory. */
bool trl_grammar_glue(trl_grammar *g);

/* ---- what follows from keys and rules (grammar_index.c) -------------------------------------- */

/* g->state, n_states, n_plain, names and root from g->keys.  TRL_ENOMEM. */
trl_status trl_grammar_make_states(trl_grammar *g, trl_error *err);

/* The classes of rules, by_left, by_child and the sums by parent from the sorted rules and
 * their counts.  TRL_ENOMEM. */
trl_status trl_grammar_make_index(trl_grammar *g, trl_error *err);

/* < 0, 0, > 0: the order of unary rules in g->unary. */
int trl_unary_order(const trl_unary *a, const trl_unary *b, const uint32_t *pool);

#endif
