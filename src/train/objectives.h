/* objectives.h -- the table of training objectives: one row each, for every structure.
 *
 * A row says what an objective is and what it needs; the code that evaluates it is the structure's,
 * and is found by its id: chain/objective.h for chains, train_tree/tree_task.h for trees,
 * train_graph/graph_objective.h for graphs, factors.h for what chains and graphs share.  No code
 * tests for an objective by its name: differences are properties here.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OBJECTIVES_H
#define TRL_OBJECTIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "trellis/train.h"

typedef enum trl_objective_id {
    TRL_OBJ_LIKELIHOOD,
    TRL_OBJ_MEMM,
    TRL_OBJ_PSEUDO,
    TRL_OBJ_PSEUDO_EDGE,
    TRL_OBJ_PIECEWISE,
    TRL_OBJ_NOTA,
    TRL_OBJ_PERCEPTRON,
    TRL_OBJ_MEST,
    TRL_OBJ_HMM,
    TRL_OBJ_PWPL,
    TRL_OBJ_BETHE,
    TRL_OBJ_TRW,
    TRL_OBJECTIVES
} trl_objective_id;

typedef struct trl_objective {
    trl_objective_id id;
    const char *name, *short_name;
    const char *tree_name; /* what it is called on trees, where that is another name; else NULL */
    const char *what;      /* one line */
    const char *when;      /* one line: when to use it */
    unsigned kinds;        /* of TRL_KIND_CHAIN, ..: the structures that have it */
    bool smooth;           /* has a gradient everywhere */
    bool probabilistic;    /* scores are log-probabilities up to a constant */
    bool local;            /* ... once normalised per source: decoded locally by default */
    bool counted;          /* by counting: no optimiser, no start, no checkpoint */
    bool needs_q0;         /* has a generative model beside or below the weights */
    bool calibratable;     /* one multiplier per source label may be fitted afterwards, */
    bool calibrated;       /* and is unless the decoding is chosen */
    bool has_nota;         /* has none-of-the-above instances */
    bool selects_sources;  /* of pair and triple tables it reads the rows of few sources */
    bool single;           /* may be evaluated in single precision */
    bool estimate;         /* log Z is an estimate: not concave, right up to its tolerance */
    bool apart;            /* a sum over factors, each by its own scores alone */
    bool by_token;         /* a sum over tokens: these may have weights */
    bool takes_costs;      /* costs of wrong labels may be added to scores */
    bool needs_inference;  /* sums over all outputs of an example: charts, forward-backward */
} trl_objective;

/* NULL when no objective has that name (long, short, or of trees). */
const trl_objective *trl_objective_find(const char *name);

/* The k-th, NULL after the last. */
const trl_objective *trl_objective_at(size_t k);

/* What it is called on this kind of structure. */
const char *trl_objective_name(const trl_objective *o, trl_kind kind);

/* Finds o->objective among those that the kind has.  TRL_EINVAL with the names that it has. */
trl_status trl_objective_choose(const char *name, trl_kind kind, const trl_objective **out,
                                trl_error *err);

#endif
