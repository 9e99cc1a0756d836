/* pair_view.h -- the pairs of one example as sets of its own (pair_sets.h).
 *
 * For optimisers whose weights change from example to example: what a position costs is the cells
 * that its attributes have, instead of L^2.  Position t of the example has the set t, or the empty
 * one; there are no tables.  Cells, scores and adjoints (trl_chain_tables.set_cell) have the same
 * order, and are padded to whole vectors with 0.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PAIR_VIEW_H
#define TRL_PAIR_VIEW_H

#include "base/arena.h"
#include "feature/pair_sets.h"

typedef struct trl_pair_view {
    trl_pair_sets sets;
    uint32_t *set;   /* [n] */
    size_t n_cells;  /* of all positions, not padded */
    double *adjoint; /* [padded(n_cells)], for trl_pair_view_keep */
} trl_pair_view;

/* How many numbers the example has room for: its cells, padded. */
size_t trl_pair_view_room(const trl_pair_sets *all, size_t from, size_t n);

/* The view of the tokens from .. from + n - 1 of the sets `all`, in the arena; scores are not set.
 * NULL: out of memory. */
trl_pair_view *trl_pair_view_get(const trl_pair_sets *all, size_t from, size_t n, trl_arena *arena);

/* A cell's place in the example for every weight that is on at position t: calls are in the order
 * of the lists.  rows: for every dense row all cells of the position; entries: one each. */
typedef struct trl_pair_part {
    size_t token, begin, n;    /* its cells are begin .. begin + n - 1 */
    const trl_pair_cell *cell; /* of them */
} trl_pair_part;

/* The cells of position t; n is 0 where there are none. */
static inline trl_pair_part trl_pair_part_at(const trl_pair_sets *s, const uint32_t *set,
                                             size_t from, size_t t)
{
    const size_t k = set[t], begin = (size_t)s->begin[k];
    return (trl_pair_part){from + t, begin, trl_pair_set_size(s, k), s->cell + begin};
}

/* The place, below p->n, of entry e of the token's list; `before` that of the one before it, in
 * the order of the list. */
static inline size_t trl_pair_place(const trl_pair_part *p, size_t L, const trl_entry *entry,
                                    bool first, size_t before)
{
    const size_t want = entry->cell;
    size_t i = first || want <= entry[-1].cell ? 0 : before + 1;
    while (p->cell[i].from * L + p->cell[i].to != want)
        i++;
    return i;
}

/* Is a cell of a dense row a weight? */
static inline bool trl_pair_is_live(const trl_family *f, size_t row, size_t cell)
{
    return !f->live || (f->live[row * f->words + cell / 64] >> cell % 64 & 1);
}

/* Adds the scores of the cells of t's view under w; `from` is the example's first token. */
void trl_pair_view_gather(const trl_design *d, const double *w, size_t from, const trl_tables *t);

/* After the scores of a view were gathered: their exponentials, and how far they go. */
void trl_pair_view_ready(trl_pair_view *v);

/* Makes the adjoint's set_cell a padded copy, which the next evaluation leaves alone. */
void trl_pair_view_keep(trl_pair_view *v, trl_tables *adjoint);

/* g += scale A^T x for the cells of a view, live ones only. */
void trl_pair_view_scatter(const trl_pair_view *v, const trl_design *d, size_t from, const float *x,
                           double scale, double *g);

#endif
