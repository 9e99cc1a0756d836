/* chain_pairs.h -- private: pairs that depend on the position, as sets (feature/pair_sets.h).
 *
 * With E = exp(edge - shift) of the shared scores, a position whose set adds s(i,j) to some cells
 * has
 *
 *     E_t(i,j) = E(i,j) exp(s(i,j))
 *
 * there and E elsewhere.  Sets with tables have theirs computed once per pass.  For the others the
 * cells are inserted into a copy of E before the step that reads it and removed after it: a
 * position costs as many multiplications as it has cells.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_PAIRS_H
#define TRL_CHAIN_PAIRS_H

#include "chain/engine.h"
#include "feature/pair_sets.h"

/* Widens [*min, *max] by all scores of pairs in all sets; false for NaN or +inf. */
bool trl_pairs_range(const trl_chain *c, const trl_pair_sets *p, double *min, double *max);

/* Tables of the sets that have some, from c->E.  TRL_ENOMEM. */
trl_status trl_pairs_tables(trl_chain *c, const trl_pair_sets *p, trl_error *err);

typedef struct trl_pairs_work {
    double *E,
        *Et; /* [L][stride] copies of the chain's, between enter and leave with a set's cells */
} trl_pairs_work;

/* In the arena.  False when memory ran out. */
bool trl_pairs_work_get(const trl_chain *c, trl_arena *arena, trl_pairs_work *w);

/* E_t, or its transpose, of position t; valid until leave, which every enter needs. */
const double *trl_pairs_enter(const trl_chain *c, const trl_tables *s, const trl_pairs_work *w,
                              size_t t, bool transposed);
void trl_pairs_leave(const trl_chain *c, const trl_tables *s, const trl_pairs_work *w, size_t t,
                     bool transposed);

/* Expected counts of a sequence, given a_t and v_t of chain_scaled1.c ([T][stride], v times the
 * weight already): sums, and in `set_cell` the cells of sets without tables. */
void trl_pairs_results(const trl_chain *c, const trl_tables *s, const double *a, double *v,
                       trl_chain_sums *sums, double *set_cell);

/* Room for set_cell of one sequence; NULL: out of memory. */
double *trl_pairs_cells_get(const trl_tables *s, trl_arena *arena);

/* The same through rows of all L^2 cells: for scores that the scaled engine cannot take, and the
 * plain twin of the above. */
trl_status trl_pairs_by_rows(const trl_chain_call *call, trl_chain_marginals *out,
                             trl_chain_sums *sums, trl_error *err);

/* Score of the gold pair at t beyond the shared one. */
double trl_pairs_score(const trl_tables *s, size_t t, const uint32_t *y);

/* Adds `amount` to the adjoint of every pair that y passes through. */
void trl_pairs_add_path(const uint32_t *y, double amount, trl_tables *adjoint);

#endif
