/* sdca_run.h -- private to sdca.c and sdca_visit.c: the state of a run, and one visit of an
 * example.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SDCA_RUN_H
#define TRL_SDCA_RUN_H

#include "feature/dual_weights.h"
#include "train/example_passes.h"
#include "train/sdca.h"
#include "train/stored_adjoints.h"

typedef struct trl_sdca_example {
    double value;  /* of f_i when last seen */
    float L;       /* curvature; 0 before the first visit */
    float mass;    /* when L was measured */
    float rank;    /* for sampling */
    uint16_t skip; /* visits until the next measurement */
    uint16_t ease; /* measurements in a row that changed little */
} trl_sdca_example;

/* Where tasks have parts, each family is a problem of its own, and has a run of its own: its own
 * draws and lengths of steps.  These runs share weights and stored adjoints, of which each has its
 * family's, and go on at the same time; what they do does not depend on that. */
typedef struct trl_sdca_run {
    size_t part;  /* 0: all families; k + 1: family k */
    bool narrow;  /* takes twice as many steps in a pass */
    trl_passes p; /* examples are drawn by rank */
    const trl_sdca_options *o;
    double *x;
    trl_dual_weights z;
    trl_sdca_example *ex; /* [n] */
    double guess[2];      /* sums of L / sqrt(mass) and of 1, fading */
    trl_stored_adjoints kept;
    uint64_t age;        /* steps since the shared scores were made */
    double lengths;      /* of the steps of this pass, summed */
    double bound, value; /* of its objective: the lowest it can be, and by examples as last seen */
    double *anchor;      /* [n_weights] what far weights are penalised from; NULL: none are far */
    double *moved;       /* [n_weights] */
} trl_sdca_run;

static inline bool trl_sdca_has(const trl_sdca_run *r, size_t family)
{
    return r->part == 0 || r->part == family + 1;
}

/* One visit: scores and adjoint before the step, and its distance from the stored one. */
typedef struct trl_sdca_visit {
    size_t i, from, n;
    trl_tables s, a;
    float *delta[TRL_FAMILIES_MAX];   /* [n][step] */
    double *shared[TRL_FAMILIES_MAX]; /* [n_constant] the same for shared cells, where they are not
                                         those of a row */
    double far2, mass;
} trl_sdca_visit;

/* Sets bound and value, at the weights r->x, for tasks with a dual (sdca_bound.c). */
void trl_sdca_bound(trl_sdca_run *r);

/* Makes the shared scores anew, where they are too old.  TRL_ENOMEM. */
trl_status trl_sdca_refresh(trl_sdca_run *r, trl_error *err);

/* Scores, value and adjoint of the example at the current weights. */
trl_status trl_sdca_evaluate(trl_sdca_run *r, const trl_sdca_visit *v, trl_tables *s, trl_tables *a,
                             double *value, trl_error *err);

/* delta, its norm and the adjoint's mass.  False: out of memory. */
bool trl_sdca_residual(trl_sdca_run *r, trl_sdca_visit *v);

/* a_i += gamma delta, and the weights with it. */
void trl_sdca_move(trl_sdca_run *r, const trl_sdca_visit *v, double gamma);

double trl_sdca_step_length(const trl_sdca_run *r, double L);

/* L from a second evaluation, after a step of gamma. */
trl_status trl_sdca_measure(trl_sdca_run *r, const trl_sdca_visit *v, double gamma, double *L,
                            trl_error *err);

#endif
