/* objective.h -- training objectives on chains: from scores to value and adjoint.
 *
 * An objective is one short file, obj_*.c, with its equation on top, and a line in
 * objective.c; what is known about it is a row of train/objectives.c.  It sees the score tables of
 * one sequence and its gold labels, and nothing else.  Objectives over factors (train/factors.h)
 * need no code here.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OBJECTIVE_H
#define TRL_OBJECTIVE_H

#include "chain/chain.h"
#include "feature/label_notes.h"
#include "train/factors.h"
#include "train/task.h"

/* Which wrong sources of one sequence have a none-of-the-above instance (obj_nota.c);
 * chain/nota_instances.h makes the sets.  A zeroed view says that the whole corpus has no
 * instance. */
typedef struct trl_nota_view {
    bool any;             /* some sequence of the corpus has an instance */
    bool all;             /* every wrong source has one; else by bits: */
    const uint64_t *bits; /* [T][words]: source q of position t is bit q % 64 of word q / 64 */
    size_t words;         /* the gold source's bit is ignored */
} trl_nota_view;

/* What it costs to give a token another label than its own: added to the scores of all labellings
 * but in the numerator (docs/partial.md). */
typedef struct trl_chain_costs {
    double *row;  /* [labels, or notes][stride] by the token's label, or its note */
    bool by_note; /* which of them */
} trl_chain_costs;

typedef struct trl_chain_example {
    const trl_chain *chain; /* prepared from scores->shared */
    const trl_tables *scores;
    const uint32_t *gold;            /* [scores->n] */
    double weight;                   /* multiplies value and adjoint */
    trl_nota_view nota;              /* read by piecewise-nota only */
    trl_arena *arena;                /* scratch */
    trl_factor_objective by_factors; /* what trl_obj_by_factors evaluates */
    const trl_chain_costs *costs;    /* NULL: none.  Read by likelihood and perceptron only */
    const trl_label_notes *notes;    /* what is known of the labels, by note; NULL: they are gold */
    const uint32_t *note;            /* [scores->n] */
} trl_chain_example;

/* Sets *value (to be maximised) and the adjoint: rows are overwritten, pads and leading rows
 * that no clique covers with 0; shared tables are added to, or `minus` (expected counts that
 * will be subtracted once per pass) is. */
typedef trl_status (*trl_objective_fn)(const trl_chain_example *x, trl_tables *adjoint,
                                       trl_chain_sums *minus, double *value, trl_error *err);

/* The code of a row of the table; NULL: chains are not trained by it example by example. */
trl_objective_fn trl_chain_objective(const trl_objective *o);

trl_status trl_obj_likelihood(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err);
trl_status trl_obj_memm(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                        double *value, trl_error *err);
trl_status trl_obj_pseudo(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                          double *value, trl_error *err);
trl_status trl_obj_pseudo_edge(const trl_chain_example *x, trl_tables *adjoint,
                               trl_chain_sums *minus, double *value, trl_error *err);
trl_status trl_obj_piecewise(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                             double *value, trl_error *err);
trl_status trl_obj_nota(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                        double *value, trl_error *err);
trl_status trl_obj_perceptron(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err);

/* x->by_factors on the factors of the chain: objectives that have no code for chains alone. */
trl_status trl_obj_by_factors(const trl_chain_example *x, trl_tables *adjoint,
                              trl_chain_sums *minus, double *value, trl_error *err);

/* The same of a sequence whose labels are notes; NULL: the objective does not take them. */
trl_objective_fn trl_chain_objective_partial(const trl_objective *o);
trl_status trl_obj_likelihood_partial(const trl_chain_example *x, trl_tables *adjoint,
                                      trl_chain_sums *minus, double *value, trl_error *err);
trl_status trl_obj_memm_partial(const trl_chain_example *x, trl_tables *adjoint,
                                trl_chain_sums *minus, double *value, trl_error *err);

/* The scores with the example's costs, in *own or as they are; NULL: no memory. */
const trl_tables *trl_costly_scores(const trl_chain_example *x, trl_tables *own);

/* -weight times the marginals into the adjoint, and log Z of the scores with their costs. */
trl_status trl_minus_log_z(const trl_chain_example *x, trl_tables *adjoint, trl_chain_sums *minus,
                           trl_chain_marginals *m, trl_error *err);

/* Adds `amount` to every cell that the labelling y passes through, in all families. */
void trl_add_path(const trl_chain *c, const uint32_t *y, double amount, trl_tables *adjoint);

/* Sets all rows of the adjoint to 0. */
void trl_clear_rows(trl_tables *adjoint);

#endif
