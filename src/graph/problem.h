/* problem.h -- a graph with tables and evidence, and the methods that work on labels and scores.
 *
 * Rows of labels are at label_at, logarithms unless said otherwise.  Scratch comes from the arena.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PROBLEM_H
#define TRL_PROBLEM_H

#include "base/arena.h"
#include "graph/bp.h"
#include "graph/layout.h"

typedef struct trl_problem {
    const trl_graph_view *g;
    const trl_layout *l;
    const double *const *table;
    const uint32_t *label; /* observed; NULL: none */
    trl_arena *arena;
    double *node;    /* factors of one variable, -inf where the evidence says otherwise */
    double constant; /* factors of none */
    bool has_zeros;  /* some table has -inf */
} trl_problem;

/* Fills the last three.  TRL_ENOMEM; TRL_ENUMERIC when a variable has no label left. */
trl_status trl_problem_init(trl_problem *p, trl_error *err);

double trl_problem_score(const trl_problem *p, const uint32_t *y);

/* out[x] = the sum of the scores of v's factors when v has label x and the others are as in y. */
void trl_local_scores(const trl_problem *p, uint32_t v, const uint32_t *y, double *out);

/* Changes single labels as long as that raises the score (at most 1000 sweeps). */
void trl_climb(const trl_problem *p, double *row, uint32_t *y);

/* Labels variables one by one, neighbours after each other, each with its best label given those
 * before; messages (of max-product, as logarithms; NULL: none) estimate the rest.  Backtracks where
 * no label is allowed; tries at most `max_steps` labels in all.  On a tree with converged messages
 * y is the best, ties or not.  *found is false when the steps did not suffice; TRL_ENUMERIC when no
 * labelling is allowed; TRL_ENOMEM. */
trl_status trl_search(const trl_problem *p, const trl_bp *messages, uint64_t max_steps, uint32_t *y,
                      bool *found, trl_error *err);
uint64_t trl_search_steps(const trl_graph_view *g); /* the usual limit */

/* The same without messages and with the usual limit; TRL_ENUMERIC, too, when that did not suffice.
 */
trl_status trl_search_allowed(const trl_problem *p, uint32_t *y, trl_error *err);

typedef struct trl_method_options {
    double tolerance;
    uint64_t max_updates, seed, burn_in, samples;
} trl_method_options;

/* Mean field: q(y) = prod_v q_v(y_v), coordinate by coordinate; the bound is sum_a E_q[theta_a] +
 * H(q). TRL_ENUMERIC when no allowed labelling to start from was found. */
trl_status trl_mean_field(const trl_problem *p, const trl_method_options *o, trl_infer_result *out,
                          double *variable, double *factor, trl_error *err);

/* Gibbs sampling, one seeded stream.  Variables' marginals average the conditional distributions
 * they were drawn from, factors' count.  y (may be NULL): the best labelling seen. */
trl_status trl_gibbs(const trl_problem *p, const trl_method_options *o, double *variable,
                     double *factor, uint32_t *y, trl_error *err);

/* MPLP [GJ07]: block coordinate descent on the dual
 *
 *     D = sum_v max (theta_v + sum_a lambda_av) + sum_a max (theta_a - sum_v lambda_av)
 *       >= max s(y).
 *
 * `messages` (rows at message_at) are lambda, zero or from an earlier run.  Fills y, score, bound,
 * exact, converged, iterations, updates, change of *out.
 *
 * [GJ07] Globerson, Jaakkola. Fixing max-product: convergent message passing algorithms for MAP
 *        LP-relaxations. NIPS 2007. */
trl_status trl_mplp(const trl_problem *p, const trl_method_options *o, double *messages,
                    trl_infer_result *out, uint32_t *y, trl_error *err);

#endif
