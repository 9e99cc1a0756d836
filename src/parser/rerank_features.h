/* rerank_features.h -- features of whole trees, for the second stage of parsing (reranker.h).
 *
 * A chart's features see a rule over a span; those here see any part of a tree: rules below rules,
 * heads and their dependents, conjuncts side by side [CJ05], [CK05].  Every feature is a key, a
 * hash of 64 bits of its family, labels and words; how often a key comes is its value.  Labels and
 * words count by their bytes, so that a key means the same under every grammar.
 *
 * [CJ05] Charniak, Johnson. Coarse-to-fine n-best parsing and MaxEnt discriminative reranking. ACL
 *        2005.
 * [CK05] Collins, Koo. Discriminative reranking for natural language parsing. CL 31(1), 2005.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RERANK_FEATURES_H
#define TRL_RERANK_FEATURES_H

#include "chart/tree_sum.h"
#include "parser/tree_clusters.h"
#include "treebank/heads.h"

/* Groups of families; a set of them is a sum of bits. */
typedef enum trl_rerank_group {
    TRL_RERANK_RULES = 1 << 0,      /* a rule, with the labels above it, its head word */
    TRL_RERANK_NGRAMS = 1 << 1,     /* two and three children side by side */
    TRL_RERANK_SUBTREES = 1 << 2,   /* a rule with the rule of its head or last child */
    TRL_RERANK_HEADS = 1 << 3,      /* a head and its dependent: words, tags, distance */
    TRL_RERANK_TRIPLES = 1 << 4,    /* a head, its dependent, and the dependent's object or head */
    TRL_RERANK_HEAVY = 1 << 5,      /* how long a constituent is, and what follows */
    TRL_RERANK_NEIGHBOURS = 1 << 6, /* what stands before and after it */
    TRL_RERANK_EDGES = 1 << 7,      /* its first and last words */
    TRL_RERANK_WORDS = 1 << 8,      /* a word and the nodes above it */
    TRL_RERANK_PARALLEL = 1 << 9,   /* conjuncts: labels, shapes, lengths, heads */
    TRL_RERANK_BRANCHING = 1 << 10, /* nodes on the way to the last word, and all others */
    TRL_RERANK_CLUSTERS = 1 << 11,  /* heads, dependents, objects and conjuncts by their clusters */
    TRL_RERANK_ALL = (1 << 12) - 1,
} trl_rerank_group;

/* A list of keys, with repetitions. */
typedef struct trl_rerank_keys {
    uint64_t *key;
    size_t n, cap;
} trl_rerank_keys; /* zero-initialise */

/* What is known of a node of the tree at hand. */
typedef struct trl_rerank_node {
    uint64_t label, rule;       /* hashes: of the label, of the label with those of the children */
    uint32_t head, head_child;  /* a word; a node, of tags TRL_NO_NODE */
    uint32_t n_children, first; /* children are kid[first] ... */
} trl_rerank_node;

/* Scratch of one thread and one table of labels.  Zero-initialise. */
typedef struct trl_rerank_features {
    const trl_head_rules *heads;
    const trl_strtab *labels;
    const trl_tree_clusters *clusters;
    unsigned groups;

    uint64_t *label; /* [labels]: hashes */
    uint8_t *kind;   /* [labels]: of tags of punctuation and of co-ordinating labels */
    size_t n_labels;
    uint64_t *word;         /* [n_words], the sentence's: hashes */
    uint64_t *tag;          /* [n_words], the tree's */
    uint32_t (*cluster)[3]; /* [n_words], the sentence's: as of trl_tree_cluster_of */
    size_t n_words, cap_word, cap_tag, cap_cluster;
    trl_rerank_node *node; /* [nodes] */
    uint32_t *kid;         /* children of all nodes, those of one in a row */
    trl_str *name;         /* labels of the children of one node */
    size_t cap_node, cap_kid, cap_name;
    uint64_t *rule; /* [n_memo] a cache of heads by rule: the hash, 0: none */
    uint32_t *rule_head;
    const trl_node *tree; /* while its features are made */
    size_t n_nodes;
    trl_rerank_keys *out;
} trl_rerank_features;

/* Borrows the rules, the table and the clusters.  TRL_ENOMEM. */
trl_status trl_rerank_features_init(trl_rerank_features *x, const trl_head_rules *heads,
                                    const trl_strtab *labels, const trl_tree_clusters *clusters,
                                    trl_error *err);
void trl_rerank_features_fini(trl_rerank_features *x);

/* Begins a sentence.  TRL_ENOMEM. */
trl_status trl_rerank_sentence(trl_rerank_features *x, const trl_str *word, size_t n,
                               trl_error *err);

/* The keys of a tree over the sentence's words, in place of what was in *out: none is 0.  Nodes as
 * trl_grammar_decode leaves them, but words need no tag: TRL_NO_ID is one.  TRL_ENOMEM. */
trl_status trl_rerank_tree(trl_rerank_features *x, const trl_node_list *tree, trl_rerank_keys *out,
                           trl_error *err);

#endif
