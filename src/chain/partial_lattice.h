/* partial_lattice.h -- private: sums over the labellings that notes on labels allow.
 *
 * With the factors s_t of local_term.h, the labels of the tokens known (one), soft (one, drawn by
 * its probabilities q) or open (one of a set), the objectives of chains need
 *
 *     E [ log sum over the open labels of exp sum_t f_t(source_t, y_t) ]
 *
 * the expectation over independent draws of the soft labels, f_t = s_t, or f_t = w_t (s_t - log
 * Z_t(source)) where factors are normalised (memm), w_t the token's weight.  A factor without an
 * open label adds its expected score.  The others form *runs*: open tokens not more than `order`
 * apart, and the factors that touch them.  Runs are independent of each other given the labels
 * around them, so that a run costs what its own labels allow: a single open token between known
 * ones L terms, not L^2.  A run with soft labels in reach is summed once for every combination of
 * these.
 *
 * In a run, factor t is a table F_t [A][B][C]: C labels of t, B of t - 1 and, in order 2, A of
 * t - 2; in order 1 A of t - 1, and B = 1.  Then in both orders
 *
 *     alpha_t(b, c) = sum_a alpha_{t-1}(a, b) F_t(a, b, c)
 *     beta_{t-1}(a, b) = sum_c F_t(a, b, c) beta_t(b, c)
 *     P_t(a, b, c) = alpha_{t-1}(a, b) F_t(a, b, c) beta_t(b, c) / Z
 *
 * on exponentials with rows scaled to sum 1 where the scores of every table are within SPREAD of
 * each other, in logarithms otherwise.  On exponentials nothing that matters underflows: every
 * alpha_t(b, c) is a share of at least exp(-2 SPREAD) of its row, as is every beta (in order 1 of
 * exp(-SPREAD)), so that products are above exp(-5 SPREAD) = exp(-600).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARTIAL_LATTICE_H
#define TRL_PARTIAL_LATTICE_H

#include "chain/objective.h"

/* *value = that expectation, without the example's weight; adds weight times its derivative to the
 * adjoint (rows and shared).  -inf, with a finite adjoint, when every labelling is forbidden.
 * `local`: factors are normalised.  TRL_ENOMEM. */
trl_status trl_partial_sum(const trl_chain_example *x, bool local, trl_tables *adjoint,
                           double *value, trl_error *err);

/* Combinations of soft labels that a run of such a sequence has at most, as a double. */
double trl_partial_draws(const trl_label_notes *notes, const uint32_t *note, size_t n, int order);

#endif
