/* jtree.h -- junction trees [LS88] [JLO90]: the part that depends on the graph alone, and runs.
 *
 * Cliques come from an elimination; those inside another one are merged into it.  A clique's
 * variables are ordered as (those its parent does not have, the separator in the parent's order),
 * the last fastest, so that its messages to the parent are sums of whole rows.  Variables that are
 * observed, or have one label, are in no clique: factors are cut at their labels.
 *
 * [LS88] Lauritzen, Spiegelhalter. Local computations with probabilities on graphical structures.
 * JRSS B, 1988. [JLO90] Jensen, Lauritzen, Olesen. Bayesian updating in causal probabilistic
 * networks. CSQ, 1990.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_JTREE_H
#define TRL_JTREE_H

#include "base/arena.h"
#include "graph/eliminate.h"
#include "graph/table_kernel.h"

typedef struct trl_clique {
    uint32_t parent;  /* UINT32_MAX: a root */
    size_t var_at, n; /* its variables: vars[var_at .. + n), dim alike */
    size_t n_own;     /* of them not in the separator */
    size_t cells, at; /* its table: phi[at .. + cells) */
    size_t sep_cells, sep_at;
    size_t up_at;    /* steps of the separator in the parent's table: step[up_at .. + parent's n) */
    bool has_factor; /* it is some factor's home */
} trl_clique;

typedef struct trl_jtree {
    size_t n_cliques;
    trl_clique *clique; /* parents before children */
    uint32_t *vars;
    size_t *dim;  /* like vars */
    size_t *step; /* of separators, then of factors, see there */
    size_t n_vars, n_steps, cap_vars, cap_steps;
    size_t cells, sep_cells, largest_cut; /* sums; the largest table of a cut factor */
    bool *fixed;                          /* [n_variables] observed or with one label */
    uint32_t *home;        /* [n_factors] clique; UINT32_MAX: all its variables are fixed */
    size_t *home_at;       /* [n_factors] steps of the cut factor in its home's table */
    bool *whole;           /* [n_factors] none of its variables is fixed */
    bool *opens;           /* [n_factors] it is the first factor of its home */
    uint32_t *own;         /* [n_variables] a clique that has it; UINT32_MAX: fixed */
    uint32_t *via;         /* [n_variables] a whole factor that has it and others, smaller than that
                              clique; UINT32_MAX: none */
    size_t table_cells;    /* of all tables that whole factors have */
    double total, largest; /* cells of the cliques */
    size_t width;
} trl_jtree;

/* TRL_EINVAL with the estimate when more than max_cells cells are needed; TRL_ENOMEM. */
trl_status trl_jtree_new(const trl_graph_view *g, const bool *observed, bool weighted,
                         double max_cells, trl_jtree **out, trl_error *err);
void trl_jtree_free(trl_jtree *t); /* accepts NULL */

/* What a run reads. */
typedef struct trl_jtree_input {
    const trl_jtree *tree;
    const trl_graph_view *g;
    const double *const *table;
    const uint32_t *label; /* [n_variables]; read at fixed variables with more than one label */
} trl_jtree_input;

/* log Z; variable and factor marginals, laid out as in trl_infer_result.  Scratch comes from the
 * arena. TRL_ENUMERIC: everything is forbidden; TRL_ENOMEM. */
trl_status trl_jtree_marginals(const trl_jtree_input *in, trl_arena *a, double *log_z,
                               double *variable, double *factor, trl_error *err);

/* For every label the score of the best labelling that has it, less the best score of all: natural
 * logarithms, not above 0.  Laid out as variable marginals.  Failures as above. */
trl_status trl_jtree_max_marginals(const trl_jtree_input *in, trl_arena *a, double *variable,
                                   trl_error *err);

/* The best labelling; of equals, the one with the smallest labels in the order of decoding.
 * Failures as above. */
trl_status trl_jtree_best(const trl_jtree_input *in, trl_arena *a, uint32_t *y, trl_error *err);

#endif
