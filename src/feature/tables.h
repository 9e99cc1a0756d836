/* tables.h -- the score table: the one boundary between features and objectives.
 *
 *     weights --gather--> scores --objective--> value, adjoint --scatter--> gradient
 *
 * Gather fills a trl_tables with scores; an objective reads it and fills another one, of the same
 * shape, with the adjoint d value / d score; scatter carries that back to the weights.  Neither
 * side knows anything else about the other.
 *
 * A family is one type of clique (label, label pair, label triple).  Its scores come from two
 * places that add up: `shared`, one table for every position of every example, and `row`, one table
 * per position.  A family without position-dependent features has row == NULL.
 *
 *     score of cell c at position t = shared[f][c] + row[f][t * step[f] + c]
 *
 * Cells of an edge are numbered y' * L + y, of a triple (y'' * L + y') * L + y.  Rows are padded
 * to whole vectors: scores' pads hold garbage, adjoints' pads must be 0.
 *
 * A partial table has only some blocks of its rows of pairs and triples (feature/select.h); the
 * rest of them is garbage.
 *
 * Where a task asks for it (train/task.h), pairs that depend on the position come as sets instead
 * of rows (feature/pair_sets.h): row[TRL_EDGE] is NULL then, and
 *
 *     score of cell c at position t = shared[TRL_EDGE][c] + score of c in the set set[t]
 *
 * Adjoints of sets with tables are added up in set_table; those of the other sets' cells are in
 * set_cell, position by position from t = 1 on, in the order of the cells.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TABLES_H
#define TRL_TABLES_H

#include <stddef.h>
#include <stdint.h>

#define TRL_FAMILIES 3      /* of chains */
#define TRL_FAMILIES_MAX 12 /* of any structure */
enum { TRL_NODE = 0, TRL_EDGE = 1, TRL_TRI = 2 };

typedef struct trl_tables {
    size_t n;                         /* positions */
    size_t step[TRL_FAMILIES_MAX];    /* doubles from row to row: the width, padded */
    double *row[TRL_FAMILIES_MAX];    /* [n][step]; NULL: none */
    double *shared[TRL_FAMILIES_MAX]; /* [width]; NULL: none (all 0); chains have none for nodes */

    const struct trl_selection *only; /* NULL: all cells are there */
    size_t from;                      /* with `only`: the sequence's first token */

    const struct trl_pair_sets *pairs; /* NULL: pairs come as rows */
    const uint32_t *set;               /* [n] with `pairs` */
    double *set_table;                 /* adjoints: [pairs->n_tables][L * L] */
    double *set_cell;                  /* adjoints: set by the objective; NULL: none */
} trl_tables;

#endif
