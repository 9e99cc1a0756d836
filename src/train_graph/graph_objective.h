/* graph_objective.h -- training objectives on graphs: from scores to value and adjoint.
 *
 * What needs factors alone is written once for chains and graphs (train/factors.h); the objectives
 * here need inference in the graph: one short file obj_*.c each, with the equation on top, and a
 * line in graph_objective.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_OBJECTIVE_H
#define TRL_GRAPH_OBJECTIVE_H

#include "train/factors.h"
#include "train_graph/graph_corpus.h"
#include "train_graph/graph_pieces.h"

/* Everything is borrowed. */
typedef struct trl_graph_scores {
    trl_factor_view view; /* factors as in the graph */
    const trl_graph_example *example;
    const double *const *table;     /* [n_tables] log-potentials of the graph */
    const trl_infer_plan *plan;     /* NULL: of pieces */
    const trl_graph_pieces *pieces; /* NULL: none */
    trl_infer_work *work;
    const double *messages; /* to start from; NULL: anew */
    bool *converged;        /* set to false when messages did not settle */
} trl_graph_scores;

/* As trl_factor_objective. */
typedef trl_status (*trl_graph_objective_fn)(const trl_graph_scores *x, double *value,
                                             trl_error *err);

/* NULL: by factors alone, or graphs are not trained by it.  `pieces`: there are pieces of several
 * factors. */
trl_graph_objective_fn trl_graph_objective(const trl_objective *o, bool pieces);

/* The method that an objective with code here infers by: its own, or the one of the options. */
trl_infer_method trl_graph_method(const trl_objective *o, trl_infer_method asked);

trl_status trl_graph_likelihood(const trl_graph_scores *x, double *value, trl_error *err);
trl_status trl_graph_piecewise(const trl_graph_scores *x, double *value, trl_error *err);
trl_status trl_graph_perceptron(const trl_graph_scores *x, double *value, trl_error *err);

/* The status of inference that failed: scores that it refuses come from weights that are too large.
 */
trl_status trl_graph_failed(trl_status st, trl_error *err);

/* The score of the true labels. */
double trl_graph_gold_score(const trl_graph_scores *x);

#endif
