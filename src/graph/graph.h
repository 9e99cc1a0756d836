/* graph.h -- the factor graph of include/trellis/graph.h. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_GRAPH_H
#define TRL_GRAPH_GRAPH_H

#include "trellis/graph.h"

#define TRL_GRAPH_MAX_VARIABLES ((size_t)1 << 24)
#define TRL_GRAPH_MAX_CELLS ((size_t)1 << 27)
#define TRL_GRAPH_MAX_ARITY 64 /* variables of a factor, those of a single label included */

typedef struct trl_graph_table {
    size_t n_cells;
    uint32_t factor; /* whose scope gave it its shape; UINT32_MAX: no factor yet */
} trl_graph_table;

struct trl_graph {
    size_t n_variables, n_factors, n_tables, n_scope;
    size_t cap_variables, cap_factors, cap_tables, cap_scope;
    uint32_t *labels, *scope, *table_of;
    size_t *label_at, *scope_at, *cell_at;
    double **table;
    trl_graph_table *about; /* [n_tables] */
};

/* As trl_graph_add_table, but takes over `theta`, which was allocated by base/mem.h; on failure the
 * caller still owns it. */
trl_status trl_graph_take_table(trl_graph *g, size_t cells, double *theta, trl_error *err);

/* The product of the variables' numbers of labels; SIZE_MAX when it is larger than `limit`. */
size_t trl_graph_cells(const trl_graph_view *g, size_t n, const uint32_t *variables, size_t limit);

#endif
