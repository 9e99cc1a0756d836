/* graph_rows.h -- examples smaller than graphs, for objectives that look at one factor at a time.
 *
 * Piecewise training is a sum over factors, and what a graph is does not matter to it.  Optimisers
 * that keep something of every example take one row of the design for an example then, that is one
 * instance of every template: their steps are the longer the fewer factors share one.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_ROWS_H
#define TRL_GRAPH_ROWS_H

#include "train_graph/graph_corpus.h"

typedef struct trl_graph_rows {
    size_t n;          /* rows of the design; 0: examples are graphs */
    uint64_t *first;   /* [n + 1] 0, 1, 2, ...: what a design has to tell examples */
    uint32_t *example; /* [n] the graph of each row */
    uint64_t *begin;   /* [n + 1] into factor */
    uint32_t *factor;  /* of the graph */
    /* The same by template, for those who need no more: the true cell (of a packed family its
     * place) of the factor in each row, TRL_NO_ID where there is none. */
    uint32_t *gold[TRL_FAMILIES_MAX]; /* [n] */
    double *weight;                   /* [n] of the graph; NULL: all 1 */
} trl_graph_rows;

/* The corpus is packed already, if it will be.  Leaves n at 0 where a factor has no template and so
 * belongs to no row.  TRL_ENOMEM. */
trl_status trl_graph_rows_init(trl_graph_rows *r, const trl_graph_corpus *c, trl_error *err);
void trl_graph_rows_fini(trl_graph_rows *r);

#endif
