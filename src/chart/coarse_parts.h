/* coarse_parts.h -- what the files of the pruning pass share; not for others. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_COARSE_PARTS_H
#define TRL_COARSE_PARTS_H

#include <math.h>

#include "chart/coarse.h"

#define TRL_COARSE_UNSET INT32_MIN /* the scale of a cell without items */

/* One sentence. */
typedef struct trl_coarse_run_state {
    const trl_coarse *c;
    trl_coarse_chart *t;
    const uint8_t *keep;
    const trl_gains *gains;      /* or NULL */
    const trl_tag_scores *given; /* or NULL */
    float least;                 /* posterior that counts */
    double deadline;
    float *m;       /* [n_left][stride] */
    uint8_t *used;  /* [n_left]: rows of m with anything in them, */
    uint32_t *row;  /* [n_left]: those rows */
    uint32_t *up;   /* [n_states]: states of the cell with an outside, */
    float *weight;  /* [n_states]: and their outsides with gains */
    uint32_t *tags; /* [n_states] scratch */
    double *logp;
    uint32_t **tag;  /* [n]: tag states of each word, */
    size_t *n_tag;   /* how many */
    float *ol, *or_; /* [cells][n_left], [cells][stride]: outside of the vectors */
} trl_coarse_run_state;

static inline float trl_coarse_power(int64_t e)
{
    return e < -126 ? 0.0f : e > 127 ? 0x1p127f : ldexpf(1.0f, (int)e);
}

static inline bool trl_coarse_dead(const trl_coarse_run_state *r, size_t cell)
{
    return r->t->scale[cell] == TRL_COARSE_UNSET;
}

/* What the numbers of (i, k) and (k, j) together are times in those of (i, j). */
static inline float trl_coarse_factor(const trl_coarse_run_state *r, size_t i, size_t k, size_t j)
{
    const size_t a = trl_cell(i, k), b = trl_cell(k, j);
    if (trl_coarse_dead(r, a) || trl_coarse_dead(r, b))
        return 0.0f;
    return trl_coarse_power((int64_t)r->t->scale[a] + r->t->scale[b] - r->t->scale[trl_cell(i, j)]);
}

/* After the inside pass, with a tree: the outsides.  After the deadline log_z is -inf. */
void trl_coarse_outside(trl_coarse_run_state *r);

#endif
