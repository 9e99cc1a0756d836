/* sample_q0.h -- sequences drawn from an HMM, and expectations by counting them.
 *
 *     E_q0[f_j] ~ (count_j + lambda) / n           [SVL07, equation 7, smoothed by lambda]
 *
 * for template lines whose expectation has no closed form here (absolute rows, very wide
 * windows).  The standard error is that of a count: relative 1 / sqrt(count_j).
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SAMPLE_Q0_H
#define TRL_SAMPLE_Q0_H

#include "base/rng.h"
#include "mest/expectation.h"

typedef struct trl_sampler {
    const trl_hmm *hmm;
    const trl_column_values *cells;
    trl_rng rng;
    double **sum;    /* by column of the HMM: [L][values] running sums of e */
    uint32_t **rare; /* by column of the HMM: values of the cells that it does not know */
    size_t *n_rare;
    trl_str *cell; /* of the sequence drawn last */
    uint32_t *label;
    size_t cell_cap, label_cap;
} trl_sampler;

/* hmm and cells are borrowed.  OOV is drawn as TRL_OOV from masked cells, else as one of
 * the rare values or, as often as each of them, as TRL_OOV.  TRL_ENOMEM. */
trl_status trl_sampler_init(trl_sampler *s, const trl_hmm *hmm, const trl_column_values *cells,
                            uint64_t seed, trl_error *err);
void trl_sampler_fini(trl_sampler *s);

/* The next sequence, with the columns of the cells; columns that the HMM does not emit, the
 * label's too, are empty.  Valid until the next call.  TRL_ENOMEM; TRL_ENUMERIC beyond ten
 * million tokens. */
trl_status trl_sampler_draw(trl_sampler *s, trl_rows *seq, const uint32_t **label, trl_error *err);

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
