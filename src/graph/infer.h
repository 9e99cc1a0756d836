/* infer.h -- private: plans and workspaces. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_INFER_H
#define TRL_INFER_H

#include "base/arena.h"
#include "graph/jtree.h"
#include "graph/layout.h"
#include "graph/problem.h"

struct trl_infer_plan {
    trl_infer_options o; /* o.observed is not kept */
    const trl_graph *graph;
    trl_graph_view g;
    bool *observed;     /* [n_variables] */
    trl_jtree *jtree;   /* exact; else NULL */
    trl_layout *layout; /* the others; else NULL */
    bool second_start;  /* asked for, and there are cycles */
};

struct trl_infer_work {
    trl_arena arena;
    const double *messages;
    size_t n_messages;
};

/* One run of a method. */
typedef struct trl_infer_run {
    const trl_infer_plan *p;
    const trl_infer_input *in; /* never NULL */
    trl_infer_work *w;
    const double *const *table;
    double *variable, *factor; /* beliefs, in the workspace, as y */
    uint32_t *y;
    trl_infer_result r;
} trl_infer_run;

trl_method_options trl_infer_method_options(const trl_infer_run *r);

/* infer_bp.c: sum- and max-product; plain or, marginals only, tree-reweighted.  Messages are kept
 * in the workspace.  TRL_ENUMERIC: every labelling is forbidden.  TRL_ENOMEM. */
trl_status trl_infer_bp_marginals(trl_infer_run *r, trl_error *err);
trl_status trl_infer_bp_max_marginals(trl_infer_run *r, trl_error *err);
trl_status trl_infer_bp_best(trl_infer_run *r, const trl_problem *problem, trl_error *err);

#endif
