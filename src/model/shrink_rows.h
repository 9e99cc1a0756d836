/* shrink_rows.h -- private: which weights of a model are kept when it shrinks, and their rows. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SHRINK_ROWS_H
#define TRL_SHRINK_ROWS_H

#include "model/model_family.h"
#include "trellis/shrink.h"

/* A threshold and a share together, or other bits: TRL_EINVAL. */
trl_status trl_shrink_check(const trl_shrink_options *o, trl_error *err);

/* The size of the smallest weight of n families that is kept.  TRL_ENOMEM. */
trl_status trl_shrink_threshold(const trl_model_family *family, size_t n,
                                const trl_shrink_options *o, double *threshold, trl_error *err);

/* The rows of a family, whose type is set, without weights below the threshold; those of the
 * constant attribute are all kept.  `names`, empty, receives what saving reads of them, and must
 * outlive the rows.  TRL_ENUMERIC, TRL_ENOMEM. */
trl_status trl_shrink_collect(const trl_model_family *f, double threshold, trl_weight_rows *r,
                              trl_strtab *names, trl_error *err);

#endif
