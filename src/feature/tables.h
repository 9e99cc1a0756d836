/* tables.h -- the score table: the one boundary between features and objectives.
 *
 *     weights --gather--> scores --objective--> value, adjoint --scatter--> gradient
 *
 * Gather fills a trl_tables with scores; an objective reads it and fills another one, of the
 * same shape, with the adjoint d value / d score; scatter carries that back to the weights.
 * Neither side knows anything else of the other.
 *
 * A family is one kind of clique (label, label pair, label triple).  Its scores come from two
 * places that add up: `shared`, one table for every position of every example, and `row`, one
 * table per position.  A family without position-dependent features has row == NULL.
 *
 *     score of cell c at position t = shared[f][c] + row[f][t * step[f] + c]
 *
 * Cells of an edge are numbered y' * L + y, of a triple (y'' * L + y') * L + y.  Rows are padded
 * to whole vectors: scores' pads hold garbage, adjoints' pads must be 0.
 *
 * A partial table has only some blocks of its rows of pairs and triples (feature/select.h); the
 * rest of them is garbage.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TABLES_H
#define TRL_TABLES_H

#include <stddef.h>

#define TRL_FAMILIES 3
enum { TRL_NODE = 0, TRL_EDGE = 1, TRL_TRI = 2 };

typedef struct trl_tables {
    size_t n;                     /* positions */
    size_t step[TRL_FAMILIES];    /* doubles from row to row: the width, padded */
    double *row[TRL_FAMILIES];    /* [n][step]; NULL: none */
    double *shared[TRL_FAMILIES]; /* [width]; NULL: none (all 0); chains have none for nodes */

    const struct trl_selection *only; /* NULL: all cells are there */
    size_t from;                      /* with `only`: the sequence's first token */
} trl_tables;

#endif
