/* optimizers.h -- the table of optimisers: one row each, with what it can do and what it needs.
 *
 * The only place that maps options to an optimiser's settings and that decides which optimiser
 * runs.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OPTIMIZERS_H
#define TRL_OPTIMIZERS_H

#include "train/learner.h"
#include "train/objectives.h"

/* What an optimiser is given.  All pointers are borrowed. */
typedef struct trl_fit {
    const trl_train_options *o;
    const trl_learner *learner;
    trl_pool *pool;
    const trl_watcher *watcher;
    const void *state; /* of a checkpoint; NULL: none */
    size_t state_size;
    const double *before; /* [n_weights] a point that another optimiser passed on its way to x;
                             NULL: none */
} trl_fit;

typedef enum trl_way {
    TRL_BY_WHOLE,
    TRL_BY_TABLES,
    TRL_BY_EXAMPLES,
    TRL_BY_DUAL,
    TRL_BY_STEPS
} trl_way;

typedef struct trl_optimizer {
    const char *name, *alias;
    const char *what, *when;
    unsigned kinds;      /* of trl_kind: the structures that have what it needs */
    trl_way way;         /* how it evaluates the objective */
    bool smooth;         /* needs a gradient everywhere */
    bool mistakes;       /* only for objectives that learn from mistakes: the perceptron */
    bool whole_labels;   /* needs the one right label of every token, and no costs but its own */
    bool takes_l1;       /* c1 may be above 0, ... */
    bool needs_l1;       /* ... or must be */
    bool needs_c2;       /* c2 must be above 0 */
    bool whole_corpus;   /* an iteration looks at the whole corpus at one point */
    bool keeps_examples; /* an adjoint of every one, so that small ones are better */
    bool compares_close; /* compares values at points close to each other: double precision */
    bool plain_labels;   /* its dual is that of known labels without costs */
    const char *first, *then; /* of two optimisers, one after the other; NULL: itself, lbfgs */
    bool has_gain;            /* eta means something, */
    bool has_batch;           /* batch does */
    bool starts;              /* from any weights */
    bool threads;             /* uses more than one */
    bool scales;              /* values far from 1 (scaling.h, scaled_values.h) */
    bool leaves_last; /* cancelled within an iteration, it leaves the weights of the one before in x
                       */

    /* Minimises; x is the start and gets the result. */
    trl_status (*run)(const trl_fit *fit, double *x, trl_ending *ending, trl_error *err);
    uint64_t (*passes)(const trl_fit *fit); /* at most; 0: until it is done; NULL: o->max_iter */
} trl_optimizer;

/* NULL when there is none of that name or alias. */
const trl_optimizer *trl_optimizer_find(const char *name);
const trl_optimizer *trl_optimizer_at(size_t k);

/* The row of learners with a state of their own. */
const trl_optimizer *trl_optimizer_steps(void);

/* TRL_EINVAL, naming those of `kind`, when no kind of model has an optimiser of that name. */
trl_status trl_optimizer_known(const char *name, trl_kind kind, trl_error *err);

/* The optimiser of a run, o->optimizer or what suits, and whether its options make sense: names,
 * ranges, combinations.  *out is NULL for objectives that are counted.  TRL_EINVAL with a sentence
 * that names what would do. */
trl_status trl_optimizer_choose(const trl_train_options *o, const trl_objective *objective,
                                trl_kind kind, const trl_optimizer **out, trl_error *err);

/* Iterations at most, for the time left; 0: not known. */
uint64_t trl_optimizer_passes(const trl_optimizer *p, const trl_fit *fit);

/* Is there a dev set, from a file or memory? */
static inline bool trl_has_dev(const trl_train_options *o)
{
    return o->dev || o->dev_data;
}

#endif
