/* graph_theta.h -- the log-potentials of a factor from the scores of its template. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_THETA_H
#define TRL_GRAPH_THETA_H

#include "base/arena.h"
#include "feature/packed_cells.h"

/* What a factor has of its template: scores that are on whatever the text, and its row; NULL: none.
 * `spread`: both are packed (packed_cells.h), and all cells are wanted; without cells: neither. */
typedef struct trl_factor_scores {
    const double *shared, *row;
    trl_packed_row spread;
} trl_factor_scores;

/* theta = shared + row of that many cells, in place where one of them is missing, else from the
 * arena.  NULL: out of memory. */
const double *trl_graph_theta(const trl_factor_scores *s, size_t cells, trl_arena *arena);

#endif
