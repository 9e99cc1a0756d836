/* chain_tables.h -- an extension of the score table (tables.h) for chains: some blocks of rows
 * instead of all of them, and sets instead of rows.
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
#ifndef TRL_CHAIN_TABLES_H
#define TRL_CHAIN_TABLES_H

#include <stddef.h>
#include <stdint.h>

/* The families of chains. */
#define TRL_FAMILIES 3
enum { TRL_NODE = 0, TRL_EDGE = 1, TRL_TRI = 2 };

typedef struct trl_chain_tables {
    const struct trl_selection *only; /* NULL: all cells are there */
    size_t from;                      /* with `only`: the sequence's first token */

    const struct trl_pair_sets *pairs; /* NULL: pairs come as rows */
    const uint32_t *set;               /* [n] with `pairs` */
    struct trl_pair_view *view;        /* that `pairs` belongs to, or NULL (pair_view.h) */
    double *set_table;                 /* adjoints: [pairs->n_tables][L * L] */
    double *set_cell;                  /* adjoints: set by the objective; NULL: none */
} trl_chain_tables;

#endif
