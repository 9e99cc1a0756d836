/* infer.h -- private: plans and workspaces. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_INFER_H
#define TRL_INFER_H

#include "base/arena.h"
#include "graph/jtree.h"
#include "graph/layout.h"

struct trl_infer_plan {
    trl_infer_options o; /* o.observed is not kept */
    const trl_graph *graph;
    trl_graph_view g;
    bool *observed;     /* [n_variables] */
    trl_jtree *jtree;   /* exact; else NULL */
    trl_layout *layout; /* the others; else NULL */
};

struct trl_infer_work {
    trl_arena arena;
    const double *messages;
    size_t n_messages;
};

#endif
