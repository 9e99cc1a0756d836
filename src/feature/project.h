/* project.h -- a design for another corpus over the same weights: for held-out scores. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PROJECT_H
#define TRL_PROJECT_H

#include "feature/design.h"

/* Makes `out` gather, from weights of `d`, the scores of `other`'s tokens: attributes are matched
 * by name, unknown ones dropped.  out borrows from d and from other->first; only its gather
 * functions may be used.  `train` is the corpus d was built from.  Frees other's occurrence lists.
 * TRL_ENOMEM. */
trl_status trl_design_project(const trl_design *d, const trl_corpus *train, trl_corpus *other,
                              trl_design *out, trl_error *err);
void trl_projection_fini(trl_design *out);

#endif
