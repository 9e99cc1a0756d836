/* resample.h -- the paired bootstrap of anything that is a function of sums over units. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RESAMPLE_H
#define TRL_RESAMPLE_H

#include "trellis/compare.h"

#define TRL_RESAMPLE_MAX 24 /* sums, and differences, at most */

/* From sums [n_sums] over units to differences [n_out] between the systems. */
typedef void (*trl_difference_fn)(const double *sums, double *out);

/* What is drawn from: units[n][n_sums], of whose sums `difference` makes n_out numbers. */
typedef struct trl_resampled {
    size_t n;
    size_t n_sums;
    const double *units;
    size_t n_out;
    trl_difference_fn difference;
} trl_resampled;

/* units: [n][n_sums].  Fills out[n_out].  Fails as trl_bootstrap_mean does. */
trl_status trl_resample(const trl_resampled *x, const trl_bootstrap_options *options,
                        trl_bootstrap *out, trl_error *err);

#endif
