/* graph_pieces.h -- pieces of several factors: for each, a graph of its own with exact inference.
 *
 * The templates of a piece are joined wherever their instances share a variable: the edges and
 * priors of a layer become its whole chains.  All of an example are kept as one graph, since log Z
 * of what is not connected is a sum.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_PIECES_H
#define TRL_GRAPH_PIECES_H

#include "train_graph/graph_corpus.h"

typedef struct trl_graph_piece {
    trl_graph *graph; /* tables: one for each factor */
    trl_infer_plan *plan;
    size_t n;
    uint32_t *factor; /* [n] in the example's graph */
} trl_graph_piece;

typedef struct trl_graph_pieces {
    size_t n;
    trl_graph_piece piece[TRL_FAMILIES_MAX];
    size_t n_single;
    uint32_t *single; /* [n_single] factors that are pieces by themselves */
} trl_graph_pieces;

/* `of`: the piece of each template, TRL_ALONE: none.  TRL_EINVAL: too wide for exact inference;
 * TRL_ENOMEM; to be followed by fini in any case. */
trl_status trl_graph_pieces_init(trl_graph_pieces *p, const trl_graph_example *e,
                                 const uint32_t *of, const trl_infer_options *infer,
                                 trl_error *err);
void trl_graph_pieces_fini(trl_graph_pieces *p);

#endif
