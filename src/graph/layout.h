/* layout.h -- where the messages of a graph are, and in which order trees send them.
 *
 * An edge is a place in the graph's list of scopes: factor edge_factor[e], variable scope[e]. Edges
 * of factors of two and more variables carry a message from the factor to the variable; factors of
 * one variable are part of its own potential.  Rows of L numbers are padded with zeros to
 * trl_row_width(L), so that kernels work on whole vectors.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LAYOUT_H
#define TRL_LAYOUT_H

#include "graph/graph.h"
#include "num/simd.h"

/* 1, 2, 4 or a multiple of 8. */
static inline size_t trl_row_width(size_t labels)
{
    return labels <= 2 ? labels : labels <= 4 ? 4 : trl_padded(labels);
}

/* From one row of a matrix of that many columns to the next: rows that padding would make a third
 * longer, or more, follow each other without it. */
static inline size_t trl_matrix_stride(size_t columns)
{
    const size_t width = trl_row_width(columns);
    return width >= 8 && 4 * (width - columns) >= width ? columns : width;
}

#define TRL_NO_PARTNER UINT32_MAX

typedef struct trl_layout {
    size_t n_edges, n_messages;
    uint32_t *edge_factor; /* [n_edges] */
    size_t *link_at;       /* [n_variables + 1] */
    uint32_t *link;        /* link[link_at[v] ..): edges of v with messages, */
    uint32_t *partner;  /* and of each the other edge of its factor; TRL_NO_PARTNER: it has more */
    size_t *message_at; /* [n_edges + 1] */
    size_t *node_at;    /* [n_variables + 1] */
    size_t max_width;   /* of a row, at least 8 */
    size_t max_cells;   /* of a factor */
    bool is_forest;     /* no cycle, when variables that are fixed are taken out */

    /* trl_layout_forests: every edge with a message is in one forest; of each forest first the
     * messages towards its roots, from the leaves on, then those away from them. */
    size_t n_forests;
    size_t *forest_at; /* [n_forests + 1] */
    uint32_t *forest_edge;

    /* trl_layout_weights: the share of spanning trees that an edge is in, both edges of a factor of
     * two variables alike; 1 where a variable is fixed. */
    double *rho; /* [n_edges] */
    size_t n_trees;
} trl_layout;

/* `observed` may be NULL.  TRL_ENOMEM. */
trl_status trl_layout_new(const trl_graph_view *g, const bool *observed, trl_layout **out,
                          trl_error *err);
trl_status trl_layout_forests(const trl_graph_view *g, trl_layout *l, trl_error *err);
trl_status trl_layout_weights(const trl_graph_view *g, const bool *observed, trl_layout *l,
                              trl_error *err);
void trl_layout_free(trl_layout *l); /* accepts NULL */

static inline size_t trl_arity(const trl_graph_view *g, size_t factor)
{
    return g->scope_at[factor + 1] - g->scope_at[factor];
}

#endif
