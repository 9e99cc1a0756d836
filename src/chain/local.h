/* local.h -- locally normalised models (memm, piecewise-nota) as chains.
 *
 * Such a model's distribution is  p(y) = prod_t p(y_t | source_t),  p(y | q) = exp s_t(q, y) / sum
 * (sources: chain/local_term.h; NOTA and its 1 are dropped).  trl_local_tables writes log p(y | q)
 * into new score tables.  As one chain these have exactly that distribution and log Z = 0, so
 * Viterbi, n-best, marginals and scores of chain.h give the model's own, proper probabilities.
 *
 *     order 1    node row 0: log p(y_0); edge rows t >= 1: log p(y_t | y_{t-1})
 *     order 2    node row 0; edge row 1: log p(y_1 | y_0); triple rows t >= 2
 *
 * All other rows are 0, and nothing is shared.  A source whose every outcome is forbidden (-inf)
 * has no distribution: it stays forbidden, labellings through it have probability 0, and log Z is
 * then the log of what is left.
 *
 * Memory: T L^2 (order 1) or T (L^2 + L^3) doubles of the arena per sequence.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LOCAL_H
#define TRL_LOCAL_H

#include "chain/chain.h"

/* A chain prepared for tables of this shape: all in rows, nothing shared.  One serves all
 * sequences and threads.  TRL_EINVAL, TRL_ENOMEM as trl_chain_init; end with trl_chain_fini. */
trl_status trl_rows_chain_init(trl_chain *c, size_t L, int order, trl_error *err);

/* The factors s_t(q, y) themselves in that shape: what local normalisation and calibration start
 * from.  `c` gives L and order.  TRL_ENOMEM. */
trl_status trl_factor_tables(const trl_chain *c, const trl_tables *s, trl_arena *arena,
                             trl_tables *out, trl_error *err);

/* log p(y | q).  O(T L^2) or O(T L^3), an exponential per cell.  TRL_EINVAL for T = 0,
 * TRL_ENUMERIC (naming the token) for NaN or +inf, TRL_ENOMEM. */
trl_status trl_local_tables(const trl_chain *c, const trl_tables *s, trl_arena *arena,
                            trl_tables *out, trl_error *err);

/* The rows of such tables: the L outcomes of source q at t. */
double *trl_factor_row(const trl_chain *c, const trl_tables *t, size_t position, size_t q);

#endif
