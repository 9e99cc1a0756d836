/* lbfgs.h -- limited-memory BFGS [LN89] and its L1 form OWL-QN [AG07]. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LBFGS_H
#define TRL_LBFGS_H

#include "train/optimizer.h"

typedef struct trl_lbfgs_options {
    size_t memory;   /* pairs kept: 6 */
    double c1;       /* > 0: OWL-QN */
    size_t max_iter; /* 0: no limit */
    double epsilon;  /* stop when ||g|| < epsilon max(1, ||x||): 1e-5 */
    size_t period;   /* stop when F fell by less than delta (relative) ... */
    double delta;    /* ... in the last `period` iterations: 10, 1e-5; with c1, would at this rate
                        also fall by less than 10 delta in as many iterations as there were */
    const double *scale;  /* [n] or NULL: c1 is c1 / scale[j] for x[j] */
    const double *before; /* [n] or NULL: an earlier point on the way to x; the way from there is
                             the first pair, so that steps are of the right length from the
                             beginning.  Not looked at where there is a state */
} trl_lbfgs_options;

/* Minimises from how->x, in place.  how->state continues a run that a watcher saved; x must then
 * hold the weights saved with it.  TRL_ENOMEM, TRL_EMODEL for a state that does not fit, or what
 * eval or watch return: x then holds the last accepted weights. */
trl_status trl_lbfgs(const trl_function *f, const trl_lbfgs_options *o, const trl_descent *how,
                     trl_error *err);

#endif
