/* label_best.h -- private: the best labelling under automata, of chains of order 1.
 *
 * For every state q of the product of the automata a row of scores, one a label:
 *
 *     D_t(q', y) = node_t(y) + max over q with next(q, y) = q' of max_i (D_{t-1}(q, i) + edge_t(i,
 * y))
 *
 * The inner maximum is taken for all y at once, over the labels that q can have; so a state costs
 * what a plain step costs for as many labels.  The outer one is, too, for all labels that lead from
 * q to its main state (label_moves.h).  The lattice (label_lattice.h) has an arc for each
 * pair instead, which is what n-best lists and sums need.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_BEST_H
#define TRL_LABEL_BEST_H

#include "chain/label_moves.h"

/* Reused from sequence to sequence; zero-initialise. */
typedef struct trl_best_rows {
    size_t n;        /* rows */
    uint32_t *state; /* [n] of the product, layer by layer */
    size_t *first;   /* [T + 1] rows of layer t: first[t] .. first[t + 1] - 1 */
    double *D;       /* [n][step] */
    double *edge;    /* [L][step] of one layer */
    double *node;    /* [step] of one layer */
    double *reached; /* [rows of a layer][step] the inner maximum */
    uint32_t *row;   /* [states of the product] perhaps the row of a state in the last layer */
    uint32_t *list;  /* [L] labels of one row */
    trl_label_moves moves;
    size_t list_cap, state_cap, first_cap, D_cap, edge_cap, node_cap, reached_cap, row_cap;
} trl_best_rows;

void trl_best_rows_fini(trl_best_rows *b);

/* The best labelling under the automata that are tracked; *score is -HUGE_VAL, and nothing else
 * said, where there is none or it takes more than c->max_states cells: the lattice then tells
 * what is wrong.  The chain has order 1.  TRL_ENUMERIC for NaN or +inf; TRL_ENOMEM. */
trl_status trl_best_labels(trl_best_rows *b, trl_product *p, const trl_lattice_ask *ask,
                           uint32_t *y, double *score, trl_error *err);

/* label_best_kernel.c: out[y] = max of D[i] + edge[i * step + y] over the n labels i of the list;
 * -inf where there are none.  `step` is a multiple of TRL_LANES. */
void trl_best_reach(size_t n, const uint32_t *list, size_t step, const double *D,
                    const double *edge, double *out);

/* to[y] = the larger of to[y] and reached[y] + node[y]. */
void trl_best_spread(size_t step, const double *reached, const double *node, double *to);

#endif
