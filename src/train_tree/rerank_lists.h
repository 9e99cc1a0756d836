/* rerank_lists.h -- what the second stage of parsing learns from: lists of candidates of trees that
 * the first stage has not seen.
 *
 * Features of a candidate are kept as the difference to those of number 0: a choice among the trees
 * of a list depends on nothing else.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RERANK_LISTS_H
#define TRL_RERANK_LISTS_H

#include "parser/reranker.h"

/* The list of a sentence. */
typedef struct trl_rerank_choice {
    uint32_t n;       /* candidates */
    uint32_t fold;    /* that it was held out in */
    uint32_t gold;    /* brackets of the right tree, as EVALB counts with COLLINS.prm */
    uint32_t *match;  /* [n]: brackets that are right, ... */
    uint32_t *test;   /* [n]: ... of so many; one block with the next two */
    uint32_t *common; /* [n][n]: brackets that two candidates share */
    uint32_t *right;  /* [n]: 1 for the tree of the treebank, else 0 */
    uint32_t *first;  /* [n + 1]: features of candidate k are id[first[k]] ... */
    double *said;     /* [n][TRL_SAID], less that of number 0 */
    uint32_t *id;     /* numbers of keys */
    int8_t *times;    /* how often, less how often in number 0 */
    uint64_t *key;    /* in place of id until the keys are numbered; else NULL */
} trl_rerank_choice;

typedef struct trl_rerank_lists {
    trl_rerank_choice *choice;
    size_t n, cap;
    trl_tree_index keys;
    uint32_t *seen; /* [keys]: lists in which candidates differ in it; NULL once pruned */
    size_t cap_seen;
} trl_rerank_lists; /* zero-initialise */
void trl_rerank_lists_fini(trl_rerank_lists *l);

/* A trained first stage, and what of its lists is asked for. */
typedef struct trl_rerank_source {
    const trl_tree_model *m;
    const double *binary_exp, *unary; /* of trl_tree_model_shared */
    const trl_head_rules *heads;
    const trl_tree_clusters *clusters;
    uint32_t n, groups, fold;
} trl_rerank_source;

/* Adds the lists of all trees of the set, in order.  Lists of one candidate are left out.
 * TRL_ENOMEM, TRL_ECANCEL. */
trl_status trl_rerank_lists_add(trl_rerank_lists *l, const trl_rerank_source *from,
                                const trl_tree_set *trees, trl_pool *pool, trl_error *err);

/* Forgets the keys that make a difference in fewer than `least` lists, and numbers the others anew.
 * TRL_ENOMEM. */
trl_status trl_rerank_lists_prune(trl_rerank_lists *l, uint32_t least, trl_error *err);

#endif
