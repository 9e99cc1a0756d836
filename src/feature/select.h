/* select.h -- the cells of pairs and triples that an objective reads.
 *
 * A locally normalised objective conditions every position on few sources, as a rule the gold one.
 * It then reads (and, in the adjoint, fills) only the blocks of L cells of those sources: L out of
 * L^2 cells of a table of pairs, L out of L^3 of triples.  A selection is the list of these blocks
 * for every token, and of the design's entries that fall into them; gather and scatter with it cost
 * as much as they would for labels alone.
 *
 * Block b of family f has the cells b L .. b L + L - 1: a source y' of pairs, y'' L + y' of
 * triples.  Cells outside the blocks are neither written nor read: they hold garbage.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SELECT_H
#define TRL_SELECT_H

#include "feature/design.h"

typedef struct trl_selected_family {
    uint64_t *block_begin; /* [n_tokens + 1]; NULL: the family has no rows */
    uint32_t *block;
    uint64_t *entry_begin; /* [n_tokens + 1] */
    trl_entry *entry;
    double *entry_value; /* NULL: all 1 */
    size_t block_cap, entry_cap, value_cap;
} trl_selected_family;

typedef struct trl_selection {
    trl_selected_family family[TRL_FAMILIES_MAX]; /* [TRL_NODE] is not used */
} trl_selection;

/* Lists the blocks of family f needed at position t of the sequence whose first token is `from`,
 * each once, in any order; t >= f.  Returns their number; `block` has room for all. */
typedef size_t (*trl_blocks_fn)(const void *ctx, size_t f, size_t from, size_t t, uint32_t *block);

/* For the design's families 1 .. order that have rows.  TRL_ENOMEM; *s is then empty. */
trl_status trl_selection_init(trl_selection *s, const trl_design *d, trl_blocks_fn blocks,
                              const void *ctx, trl_error *err);
void trl_selection_fini(trl_selection *s);

/* As trl_gather, for the selected blocks of pairs and triples; the nodes are left alone. */
void trl_gather_selected(const trl_design *d, const trl_selection *s, const double *w, size_t from,
                         const trl_tables *t);

/* g += A^T adjoint for these blocks.  Dead cells receive garbage, as from trl_scatter_hot. */
void trl_scatter_selected(const trl_design *d, const trl_selection *s, size_t from,
                          const trl_tables *adjoint, double *g);

/* Sets the blocks of a table to 0. */
void trl_clear_selected(size_t L, const trl_selection *s, size_t from, const trl_tables *t);

#endif
