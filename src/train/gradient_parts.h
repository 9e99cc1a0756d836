/* gradient_parts.h -- private to gradient.c: what a gradient consists of. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRADIENT_PARTS_H
#define TRL_GRADIENT_PARTS_H

#include "feature/cold_tokens.h"
#include "feature/implied_rows.h"
#include "feature/pair_sets.h"
#include "feature/token_groups.h"
#include "train/gradient.h"

#define COLD_JOBS 64 /* pieces of the second phase; a property of the result's layout only */

typedef struct lane {
    size_t seq0, seq1; /* sequences, or batches of grouped tokens */
    double *hot;       /* [n_hot_weights + 64] */
    float *hot32;      /* [n_rows][step] summed rows, unless NULL: then not in `hot` */
    trl_tables shared; /* adjoint of the shared scores */
    double value;
    double norm2; /* ||w||^2 of its singleton weights */
} lane;

struct trl_gradient {
    const trl_design *d;
    const trl_task *task;
    trl_pool *pool;
    bool values_only; /* no gradient: no buffers for it */
    size_t n_lanes;
    lane lanes[TRL_LANES_MAX];
    trl_arena *arenas;           /* [threads] */
    trl_tables shared;           /* scores */
    trl_cold_tokens cold;        /* unless grouped */
    float *node;                 /* [cold.n][step] node adjoints, for the cold weights if any */
    double norm2[COLD_JOBS + 1]; /* ||w||^2 by piece; the last: hot weights */
    bool grouped; /* by `group`, token by token; `implied` has its extra rows alone */
    trl_token_groups group;
    float *stream; /* of entries, with groups; `node` is then the stream of cold rows */
    trl_implied_rows implied;
    double *hot;    /* [n_rows][step] summed rows of w; then the gradient of the extra ones */
    float *hot32;   /* the same in single precision; NULL: not used */
    bool has_pairs; /* pairs that depend on the position come as sets */
    trl_pair_sets pairs;

    /* of the current evaluation */
    const double *w;
    double *grad;
    double c2;
};

#endif
