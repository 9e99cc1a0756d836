/* mest_parts.h -- private: what the two ways to minimise the M-estimation objective share. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_MEST_PARTS_H
#define TRL_MEST_PARTS_H

#include "mest/gold_matrix.h"
#include "mest/obj_mest.h"

struct trl_mest {
    trl_gold_matrix f;
    const double *E;
    trl_pool *pool;
    double *share; /* [sequences] weight_i / sum weight */
    double *v;     /* [sequences] share_i exp(-w . f_i) */

    /* of the current evaluation */
    const double *w;
    double *grad;
    double c2;
};

/* v from w: share_i exp(-w . f_i). */
trl_status trl_mest_rows(trl_mest *m, const double *w, trl_error *err);

#endif
