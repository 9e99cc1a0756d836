/* tree_sum.h -- the sum over all derivations of one tree.
 *
 * Annotation gives a tree of plain labels several derivations: the same brackets over other states.
 * The score of the tree is
 *
 *     log sum over the derivations d of the chart that are this tree of exp(score(d)),
 *
 * and less log Z it is the tree's log probability.  The sum is that of an inside pass over the
 * tree's own brackets: its shape is given, only the states of each node are summed over.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_SUM_H
#define TRL_TREE_SUM_H

#include "chart/chart.h"

typedef struct trl_state_sum {
    uint32_t item;
    double value;
} trl_state_sum;

/* Scratch of one thread, reused from tree to tree; zero-initialise. */
typedef struct trl_tree_sum {
    trl_state_sum *sum;         /* of all nodes, one after the other */
    struct trl_node_sums *node; /* [nodes] */
    size_t n_sum, cap_sum, cap_node;
} trl_tree_sum;
void trl_tree_sum_fini(trl_tree_sum *s);

/* A tree. */
typedef struct trl_node_list {
    const trl_node *node;
    size_t n;
} trl_node_list;

/* The score of a tree over c's words, -inf when no derivation of the chart is this tree.  Nodes as
 * trl_grammar_decode leaves them: preorder, labels of the grammar, tags without children.  The
 * chart has been run (trl_chart_inside, trl_chart_best) with these tables.  The time is
 * proportional to nodes times rules between the states of their children.  TRL_ENOMEM. */
trl_status trl_chart_tree_sum(const trl_chart *c, const trl_tree_tables *t,
                              const trl_node_list *tree, trl_tree_sum *s, double *score,
                              trl_error *err);

#endif
