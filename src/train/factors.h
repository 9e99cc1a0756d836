/* factors.h -- an example as a list of factors with scores: all that many objectives need to see.
 *
 * Any structure whose score is a sum over factors,
 *
 *     s(y) = sum_a theta_a(y_a),
 *
 * can show an example this way; chains do (chain/chain_factors.c), and graphs
 * (train_graph/graph_task.c).  An objective written over the list serves all of them: one file
 * obj_*.c here, a row in objectives.c, a line in factors.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FACTORS_H
#define TRL_FACTORS_H

#include "base/arena.h"
#include "feature/label_notes.h"
#include "train/objectives.h"

typedef struct trl_scored_factor {
    const double *score;      /* [n_cells] theta, the label of the last variable changing fastest;
                                 -inf forbids */
    double *adjoint;          /* [n_cells] added to; factors may share it */
    size_t n_cells, gold;     /* gold: the true cell */
    size_t rest;              /* further cells, of score 0 and without adjoints: objectives that
                                 look at the variables are not given any */
    size_t n_variables;       /* 0: a constant */
    const uint32_t *variable; /* [n_variables], none twice */
} trl_scored_factor;

/* Everything is borrowed. */
typedef struct trl_factor_view {
    size_t n, n_variables;
    const trl_scored_factor *factor; /* [n] */
    const uint32_t *labels;          /* [n_variables] how many each has */
    const uint32_t *gold;            /* [n_variables] the true ones */
    const trl_label_notes *notes;    /* what is known of these; NULL: they are the true ones */
    const uint32_t *note;            /* [n_variables] */
    double weight;                   /* multiplies value and adjoint */
    trl_arena *arena;                /* scratch */
} trl_factor_view;

/* Sets *value, to be maximised, and adds d value / d score to the factors' adjoints.  A forbidden
 * gold cell makes the value -inf, the adjoint stays finite.  TRL_ENUMERIC: a score is NaN or +inf;
 * TRL_ENOMEM. */
typedef trl_status (*trl_factor_objective)(const trl_factor_view *x, double *value, trl_error *err);

/* The code of a row of the table; NULL: it needs to know more than factors. */
trl_factor_objective trl_factor_objective_of(const trl_objective *o);

trl_status trl_factor_piecewise(const trl_factor_view *x, double *value, trl_error *err);
/* The dual of one piece: task.h.  a: its stored adjoint, n cells rounded up to 8 and padded by 0;
 * of `piece` only gold and rest are read. */
double trl_factor_piecewise_dual(const trl_scored_factor *of, size_t n, const float *a,
                                 double weight);
trl_status trl_factor_pwpl(const trl_factor_view *x, double *value, trl_error *err);
trl_status trl_factor_pseudo(const trl_factor_view *x, double *value, trl_error *err);
trl_status trl_factor_pseudo_edge(const trl_factor_view *x, double *value, trl_error *err);

/* The same where the labels of variables are notes (factor_notes.c); NULL: there is none. */
trl_factor_objective trl_factor_objective_partial(const trl_objective *o);

/* ---- what they share --------------------------------------------------------------------------
 */

/* n scores to probabilities, in place; returns the log of the sum of their exponentials.  All
 * forbidden: -inf, probabilities 0; NaN when a score is NaN or +inf. */
double trl_probabilities(size_t n, double *s);

/* The same without the last step: the probabilities are scale * p.  p may be s. */
double trl_exponentials(size_t n, const double *s, double *p, double *scale);

/* *value = weight * sum of the terms.  TRL_ENUMERIC unless the sum is finite or -inf. */
trl_status trl_factor_value(const trl_factor_view *x, double sum, double *value, trl_error *err);

/* Which factors hold which variable, and scratch for terms.  From the arena. */
typedef struct trl_factor_index {
    const trl_factor_view *x;
    size_t *begin;    /* [n_variables + 1] into factor */
    uint32_t *factor; /* those of a variable, ascending */
    uint32_t *place;  /* [n_variables] in the block of the term; UINT32_MAX: not in it */
    uint32_t *seen;   /* [n] the last term, counted from 1, that took the factor */
    uint32_t *take;   /* [n] the factors of a term */
    uint32_t terms;   /* so far */
    double *p;        /* the outcomes of a block: one variable, or those of a factor */
    uint32_t *y;      /* their labels */
    size_t *stride;
} trl_factor_index;

trl_status trl_factor_index_init(trl_factor_index *i, const trl_factor_view *x, trl_error *err);

/* A term: log p(y_U | all other labels) of a block U, a variable or the n > 0 variables of a
 * factor, by some of the factors, k of them in i->take.  Adds to their adjoints. */
double trl_block_term(trl_factor_index *i, size_t n, const uint32_t *block, size_t k);

/* Its parts.  The scores of all outcomes, the last variable changing fastest, into i->p: returns
 * how many there are.  Then, once, scale times i->p to the adjoints of all cells, and `gold` to
 * those of the gold cells. */
typedef struct trl_block_amounts {
    size_t outcomes;
    double scale, gold;
} trl_block_amounts;
size_t trl_block_scores(trl_factor_index *i, size_t n, const uint32_t *block, size_t k);
void trl_block_add(trl_factor_index *i, size_t n, const uint32_t *block, size_t k,
                   const trl_block_amounts *by);

/* Puts every factor that holds a variable of the block into i->take; returns how many. */
size_t trl_block_factors(trl_factor_index *i, size_t n, const uint32_t *block);

#endif
