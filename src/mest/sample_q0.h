/* sample_q0.h -- sequences drawn from an HMM, and expectations by counting them.
 *
 *     E_q0[f_j] ~ (count_j + lambda) / n           [SVL07, equation 7, smoothed by lambda]
 *
 * for template lines whose expectation is not computed exactly (absolute rows, very wide windows).
 * The standard error is that of a count: relative 1 / sqrt(count_j).
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SAMPLE_Q0_H
#define TRL_SAMPLE_Q0_H

#include "mest/expectation.h"

typedef struct trl_sample_options {
    uint64_t n; /* sequences: 100000 */
    double lambda;
    uint64_t seed;
} trl_sample_options;

/* Adds to E the expectations of the lines marked in `which`; NULL: all lines and the
 * constant attributes.  Features of these lines that no sample had get lambda / n.
 * TRL_EINVAL for no samples or no template, TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_expect_sampled(const trl_expect_data *x, const trl_hmm *q0, const bool *which,
                              const trl_sample_options *o, double *E, trl_error *err);

#endif
