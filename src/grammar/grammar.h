/* grammar.h -- a binary grammar with annotated states, read from a treebank [FKM08, 2].
 *
 * A tree becomes binary nodes over states, from which it can be restored exactly:
 *
 *     (S (NP (NN x)) (VP (VBZ y) (NP (NN z)) (PP ...)) (. .))
 *
 *     S^TOP -> NP^S @S...     binary   right-branching; @S... is an *active* state
 *     NP^S  -> NN^NP          unary X -> Y -> Z over one span is one rule, which records its chain
 *     NN^NP -> x              word
 *
 * At most one unary rule per span: a state over a span has a score before and one after it.
 * Active states and words' tags: an active state never takes part in a unary rule; a tag may be the
 * child of one, never its parent.  Children of binary rules and the root are scored after, parents
 * of binary rules, children of unary rules and words before.
 *
 * Annotation [JOH98, KM03]: ^P parent label on phrases, and on tags; VP%VBZ head tag on VPs; an
 * active state @A of markov order 0 remembers nothing else, of order 1 its first child, of order 2
 * also the sibling just made: of A -> B C D E the last two rules are then
 *
 *     @A|C<B -> C @A|D<C      @A|D<C -> D E
 *
 * The annotation of A goes with @A.  The remembered labels have no annotation.
 *
 * A grammar is built by _add, then frozen by _finish; afterwards it is read-only and may be shared
 * by threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAMMAR_H
#define TRL_GRAMMAR_H

#include "base/strtab.h"
#include "model/container.h"
#include "treebank/brackets.h"
#include "treebank/heads.h"

typedef struct trl_annotation {
    bool parents;     /* ^P on phrases */
    bool tag_parents; /* ^P on tags */
    bool head_tags;   /* %T on VPs: the base tag of the lexical head */
    int markov;       /* 0, 1, 2 */
} trl_annotation;

typedef enum trl_state_type { TRL_STATE_TAG, TRL_STATE_PHRASE, TRL_STATE_ACTIVE } trl_state_type;

typedef struct trl_state {
    uint32_t base;  /* label without annotation, in `labels`; of @A: A's */
    uint32_t above; /* parent annotation, in `labels`, or TRL_NO_ID */
    uint32_t plain; /* class of all states with the same (base, active or not, tag or not):
                       0 .. n_plain-1 */
    trl_state_type type;
} trl_state;

typedef struct trl_binary {
    uint32_t parent, left, right; /* states */
    uint32_t
        plain; /* class of all binary rules with the same plain states: 0 .. n_plain_binary-1 */
} trl_binary;

typedef struct trl_unary {
    uint32_t parent, child; /* states */
    uint32_t chain;         /* first of chain_length labels between them, in chain_pool */
    uint32_t chain_length;
    uint32_t plain; /* class of all unary rules with the same plain states (chains apart):
                       0 .. n_plain_unary-1 */
} trl_unary;

/* The binary rules with the same two children are adjacent. */
typedef struct trl_child_pair {
    uint32_t right, first; /* state; rule.  They end where the next pair's begin. */
} trl_child_pair;

/* Which rules a grammar has. */
typedef enum trl_licence {
    TRL_RULES_SEEN,
    TRL_RULES_RELAXED, /* also every known rule with the parent annotation of its parent exchanged
                          for any other known annotation of the same label (count 0), where the
                          children's annotations allow it, as [FKM08, 4.1] do */
    TRL_RULES_SMOOTHED /* these, and rules never seen that are made of labels seen in the same
                          places, with expected counts below 1 (grammar_smooth.c) */
} trl_licence;

typedef struct trl_grammar {
    trl_annotation annotation;
    bool smoothed;     /* rules seen at most once share classes (trl_binary.plain) */
    trl_strtab labels; /* base labels of tags and phrases */
    trl_strtab names;  /* of states, for people: NP^S, @VP%VBZ^S|VBZ; ids are state ids; where
                          two would be the same (a tag and a phrase X) the later one ends in #2 */
    trl_strtab keys;   /* what a state is, for _encode; ids are state ids */
    trl_state *state;
    size_t n_states, n_plain;
    uint32_t root; /* the state of a whole tree */

    trl_binary *binary; /* sorted by (left, right, parent) */
    double *binary_count;
    size_t n_binary, n_plain_binary;
    uint32_t
        *by_left; /* [n_states + 1]: rules with left child s are by_left[s] .. by_left[s+1]-1 */
    trl_child_pair *pair;   /* [n_pairs + 1], in the order of the rules */
    uint32_t *pair_by_left; /* [n_states + 1] */
    size_t n_pairs;
    uint32_t *binary_parent; /* [n_binary]: of binary[], for loops that read nothing else */

    trl_unary *unary; /* sorted by (child, parent, chain) */
    double *unary_count;
    size_t n_unary, n_plain_unary;
    uint32_t *by_child; /* [n_states + 1] */
    uint32_t *chain_pool;
    size_t n_chain_pool;
    double *parent_count;    /* [n_states]: the sum of the counts of rules with this parent */
    uint32_t *parent_unseen; /* [n_states]: how many of them have count 0 */
    void *building;          /* maps in use between _init and _finish */
} trl_grammar;

/* A tree over states.  Node 0 is the root; children after their parents (preorder). */
typedef struct trl_bnode {
    uint32_t state;
    uint32_t rule;        /* binary or unary rule, by the number of children; TRL_NO_ID: a word */
    uint32_t from, to;    /* words */
    uint32_t left, right; /* nodes; unary: left alone; word: both TRL_NO_NODE */
} trl_bnode;

typedef struct trl_btree {
    trl_bnode *node; /* owned; grows, is reused */
    size_t n, cap;
} trl_btree; /* zero-initialise */

void trl_btree_fini(trl_btree *t);

/* `heads` (for head tags; may be NULL without them) is borrowed while building.  TRL_ENOMEM. */
trl_status trl_grammar_init(trl_grammar *g, const trl_annotation *a, const trl_head_rules *heads,
                            trl_error *err);
void trl_grammar_fini(trl_grammar *g);

/* Counts the states and rules of one tree, `labels` being the table of its reader.  The root
 * label of the first tree becomes the root's; a tree with another root label is treated as if it
 * had this one.  A tree that is a single tag gets a root above it (TOP when it is the first).
 * TRL_ENOMEM. */
trl_status trl_grammar_add(trl_grammar *g, const trl_tree *tree, const trl_strtab *labels,
                           trl_error *err);

/* Sorts and freezes.  TRL_EINVAL when no tree was added; TRL_ENOMEM. */
trl_status trl_grammar_finish(trl_grammar *g, trl_licence licence, trl_error *err);

/* A tree, its labels, and the head rules (NULL: states without heads). */
typedef struct trl_encoded {
    const trl_head_rules *heads;
    const trl_tree *tree;
    const trl_strtab *labels;
} trl_encoded;

/* The tree in states and rules of the frozen grammar.  *known is false, and *missing (may be NULL)
 * the first node of `tree` that has no state or rule, when the grammar cannot produce it; `out` is
 * then undefined.  TRL_ENOMEM. */
trl_status trl_grammar_encode(const trl_grammar *g, const trl_encoded *of, trl_btree *out,
                              bool *known, uint32_t *missing, trl_error *err);

/* The reverse, for a tree in strict preorder (the left child right after its parent; else
 * TRL_EINVAL): nodes with labels in g->labels, active states and annotation removed, chains
 * restored.  *nodes is grown with trl_reserve; *n is their number.  TRL_ENOMEM. */
trl_status trl_grammar_decode(const trl_grammar *g, const trl_btree *t, trl_node **nodes, size_t *n,
                              size_t *cap, trl_error *err);

/* map[fine state] = the state of `coarse` with the same base and type, TRL_NO_ID when there is
 * none.  Meant for a coarse grammar without annotation, of markov order 0, read from the same
 * trees.
 */
void trl_grammar_project(const trl_grammar *fine, const trl_grammar *coarse, uint32_t *map);

typedef struct trl_grammar_stats {
    size_t tags, phrases, actives; /* states */
    size_t binary, binary_relaxed; /* rules, and how many of them were never seen */
    size_t unary, unary_relaxed;
    double binary_per_left; /* binary rules per state that is a left child of one */
} trl_grammar_stats;

void trl_grammar_count(const trl_grammar *g, trl_grammar_stats *out);

/* Sections with a two-character prefix, e.g. "g0": labels, states, rules, counts, chains. */
trl_status trl_grammar_save(const trl_grammar *g, const char *prefix, trl_container_builder *b,
                            trl_error *err);
/* A copy in memory, every index checked.  TRL_EMODEL. */
trl_status trl_grammar_load(trl_grammar *g, const char *prefix, const trl_container *c,
                            trl_error *err);

#endif
