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
 * Chains have more ways to give scores (chain_tables.h).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TABLES_H
#define TRL_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "feature/chain_tables.h"

#define TRL_FAMILIES_MAX 12 /* of any structure */

typedef struct trl_tables {
    size_t n;                         /* positions */
    size_t step[TRL_FAMILIES_MAX];    /* doubles from row to row: the width, padded */
    double *row[TRL_FAMILIES_MAX];    /* [n][step]; NULL: none */
    double *shared[TRL_FAMILIES_MAX]; /* [width]; NULL: none (all 0); chains have none for nodes */

    trl_chain_tables chain; /* all 0 for every other structure */
} trl_tables;

#endif
