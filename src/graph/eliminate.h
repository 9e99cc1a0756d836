/* eliminate.h -- the order in which exact inference eliminates variables.
 *
 * Eliminating v joins its neighbours to each other.  Min-fill takes the variable that needs the
 * fewest new edges, weighted min-fill the one with the smallest sum of labels(u) labels(w) over
 * them [Kj90]; equals by number.  Costs are updated edge by edge, never recomputed.
 *
 * [Kj90] Kjaerulff. Triangulation of graphs: algorithms giving small total state space. 1990.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_ELIMINATE_H
#define TRL_ELIMINATE_H

#include "graph/graph.h"

/* Variables that are left out are those `fixed`. */
typedef struct trl_elimination {
    size_t n;        /* variables eliminated */
    uint32_t *order; /* [n] */
    uint32_t *place; /* [n_variables] the reverse; UINT32_MAX: fixed */
    size_t *near_at; /* [n + 1] */
    uint32_t *near;  /* near[near_at[i] ..): the neighbours of order[i] when it was eliminated */
    size_t cap_near;
    double cells, largest; /* of all sets {order[i]} + neighbours, of the largest */
    size_t width;          /* most neighbours */
    bool complete;         /* false: given up, cells is a lower bound and the rest is empty */
} trl_elimination;

/* Gives up when there are more than `max_cells` cells and looking further would take long, or when
 * a dense part of the graph rules out fewer; complete is then false.  TRL_ENOMEM. */
trl_status trl_eliminate(const trl_graph_view *g, const bool *fixed, bool weighted,
                         double max_cells, trl_elimination *out, trl_error *err);
void trl_elimination_fini(trl_elimination *e);

#endif
