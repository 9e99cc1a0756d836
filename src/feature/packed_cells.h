/* packed_cells.h -- families of wide factors, of whose cells many are never seen.
 *
 * A factor of two tags has 44 x 44 cells, and a corpus shows half of them.  Where weights are for
 * cells seen alone, the others have none: their scores are 0 whatever the text.  Such a family is
 * *packed*: its cells in the corpus and in the design are those that some row has, numbered in
 * their order, so that dense rows, and whatever else is as wide as the family, have half the size.
 *
 *     cell[place] = the factor's own cell,     place[cell] = its number in the family, or TRL_NO_ID
 *
 * Models and graphs know the factor's own cells only.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PACKED_CELLS_H
#define TRL_PACKED_CELLS_H

#include "feature/corpus.h"

/* Packs the family if its cells are listed (gold), many, and a quarter of them or more is not seen:
 * width, gold, cell and place are new then.  False: out of memory. */
bool trl_pack_cells(trl_occurrences *o, size_t n_tokens);

/* The scores of a packed row to those of all cells: out[cell[i]] = a[i] + b[i], the rest 0.  a or b
 * may be NULL: zeros.  `n` are the cells of the family, `full` those of the factor. */
typedef struct trl_packed_row {
    const uint32_t *cell;
    size_t n, full;
} trl_packed_row;
void trl_spread_cells(const trl_packed_row *p, const double *a, const double *b, double *out);

/* The reverse, of adjoints: out[i] += all[cell[i]]. */
void trl_collect_cells(const trl_packed_row *p, const double *all, double *out);

#endif
