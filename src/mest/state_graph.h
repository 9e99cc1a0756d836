/* state_graph.h -- an HMM's transitions as a sparse graph of the states it can reach.
 *
 * A state is a label, in order 2 a pair (label before, label); only those with a path from START
 * are kept, and only transitions of positive probability are arcs.  With T the matrix of arcs the
 * path sums over all sequences are [SVL07, equations 9 - 11]
 *
 *     visits = start + T^T visits     expected number of visits of a state
 *     ends   = stop + T ends          probability of reaching STOP from it: 1 for every HMM that
 *                                     was counted from finite sequences
 *
 * two linear systems, solved once with one LU decomposition of I - T.
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_STATE_GRAPH_H
#define TRL_STATE_GRAPH_H

#include "model/hmm.h"

#define TRL_STATES_MAX 8192 /* half a gigabyte for the system */

typedef struct trl_state_graph {
    size_t L, n;
    int order;
    uint32_t *label;       /* [n] current label */
    uint32_t *before;      /* [n] order 2: the label before, or L for START; order 1: L */
    double *start, *stop;  /* [n] */
    size_t *begin;         /* [n + 1] arcs of a state */
    uint32_t *to;          /* by arc */
    double *p;             /* by arc */
    double *visits, *ends; /* [n] */
} trl_state_graph;

/* TRL_EINVAL for more than TRL_STATES_MAX states; TRL_ENUMERIC when sequences need not end (the
 * system is singular); TRL_ENOMEM. */
trl_status trl_state_graph_init(trl_state_graph *g, const trl_hmm *h, trl_error *err);
void trl_state_graph_fini(trl_state_graph *g);

/* out = in T and out = T in. */
void trl_state_graph_forward(const trl_state_graph *g, const double *in, double *out);
void trl_state_graph_backward(const trl_state_graph *g, const double *in, double *out);

/* ---- label cliques --------------------------------------------------------------------------- */

/* The table of family f (labels, pairs, triples) that ends at a position t, from masses of states:
 *
 *     table(y_{t-f} .. y_t) += sum over state paths s_{t-k} .. s_t that spell it of
 *         A(s_{t-k}) p(s_{t-k+1} | s_{t-k}) e_{t-k+1} ... p(s_t | s_{t-1}) e_t  B(s_t)
 *
 * where k = trl_clique_arcs(g, f) arcs are needed because a state itself determines `order` labels.
 * e[0] is the emission factor per label at t, e[1] that at t - 1 (used as far as k goes; NULL: all
 * 1).  A includes the emission at t - k. */
static inline size_t trl_clique_arcs(const trl_state_graph *g, size_t f)
{
    return f + 1 > (size_t)g->order ? f + 1 - (size_t)g->order : 0;
}

void trl_clique_add(const trl_state_graph *g, size_t f, const double *A, const double *B,
                    const double *const e[2], double *table);

#endif
