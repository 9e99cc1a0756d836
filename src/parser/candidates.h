/* candidates.h -- the trees of a sentence that the second stage of parsing chooses from. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CANDIDATES_H
#define TRL_CANDIDATES_H

#include "chart/nbest.h"
#include "parser/tree_decode.h"

/* What the first stage says of a tree, in numbers. */
enum {
    TRL_SAID_LOG_P,   /* log probability; of a tree that is far less probable than the last of the
                         list, or that the grammar cannot make, MISSING below that one's */
    TRL_SAID_GAIN,    /* expected brackets, less lambda for each (mbr.h) */
    TRL_SAID_PRUNER,  /* the same by the pruner alone; 0 without one */
    TRL_SAID_FOREIGN, /* 1: the grammar cannot make it */
    TRL_SAID_FIRST,   /* 1: it has the best expected brackets of all trees */
    TRL_SAID
};

typedef struct trl_candidate {
    trl_node *node; /* of the tree: may be changed once its features are made */
    trl_node_list tree;
    double said[TRL_SAID];
} trl_candidate;

/* Number 0 is the tree with the best expected brackets, whether or not the grammar can make it; the
 * others are the most probable ones, best first.  Memory is used again from sentence to sentence.
 * Zero-initialise. */
typedef struct trl_candidates {
    trl_candidate *list;
    size_t n, cap;
    trl_brackets brackets; /* that gains are expected by, in the decoder's arena */
    trl_nbest best;
    trl_nodes first; /* nodes of number 0 */
    trl_tree_sum sum;
} trl_candidates;
void trl_candidates_fini(trl_candidates *c);

/* Whether two trees over the same words have the same labels and spans. */
bool trl_same_tree(const trl_node_list *a, const trl_node_list *b);

/* The best tree and up to `most` others of a sentence that `d` has been prepared for, with the mix
 * it was prepared with.  n is 0 where there is no tree, d->failure then says why.  Runs the chart
 * anew.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_candidates_of(trl_candidates *c, trl_decoder *d, const trl_tree_model *m,
                             size_t most, trl_error *err);

#endif
