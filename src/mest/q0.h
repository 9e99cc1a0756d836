/* q0.h -- the base distributions of M-estimation [SVL07, section 5].
 *
 *     hmm   an HMM of order 1 or 2
 *     lu    locally uniform labels, unigram values (order 1)
 *     emp   the HMM's q0(y | x) on the training data's own x; decodes like hmm
 *
 * All three are a trl_hmm and differ in how it is trained and how expectations are taken.
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 * models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_Q0_H
#define TRL_Q0_H

#include "mest/sample_q0.h"

typedef enum trl_q0_base { TRL_Q0_HMM, TRL_Q0_LU, TRL_Q0_EMP } trl_q0_base;

#define TRL_Q0_KINDS "hmm, lu, emp" /* for messages */

/* False when the name is unknown. */
bool trl_q0_find(const char *name, trl_q0_base *base);
const char *trl_q0_name(trl_q0_base base);

/* What the base distribution is counted from. */
typedef struct trl_q0_data {
    const trl_column_values *columns;
    const uint32_t *label;
    size_t L;
} trl_q0_data;

/* Trains q0 on labelled columns, all but the label's, with add-1 smoothing.  `order` is that of the
 * features (lu is of order 1 anyway).  As trl_hmm_train. */
trl_status trl_q0_train(trl_hmm *h, trl_q0_base base, int order, const trl_q0_data *data,
                        trl_error *err);

/* What `sample` is by default: 100,000 sequences, lambda 0.1, seed 1. */
trl_sample_options trl_sample_options_default(void);

/* A base distribution and its tables. */
typedef struct trl_q0_model {
    trl_q0_base base;
    const trl_hmm *h;
} trl_q0_model;

/* E_q0[f] for every weight into E (trl_design_alloc doubles, overwritten): exactly, except for
 * template lines without a window, which are sampled; *n_sampled (may be NULL) is the number of
 * these lines. */
trl_status trl_q0_expect(const trl_q0_model *q0, const trl_expect_data *x,
                         const trl_sample_options *sample, double *E, size_t *n_sampled,
                         trl_error *err);

/* ---- cache ----------------------------------------------------------------------------------- */

/* A number that changes with anything E depends on: data, template, features, q0, sampling. */
uint64_t trl_q0_fingerprint(trl_q0_base base, const trl_hmm *h, const trl_expect_data *x,
                            const trl_sample_options *sample);

/* A container of kind "eq0":
 *
 *     key     u64 fingerprint, u64 n
 *     expect  double[n]
 */
trl_status trl_expect_write(const char *path, uint64_t fingerprint, const double *E, size_t n,
                            trl_error *err);

/* *found is false when there is no such file or it belongs to something else: compute E and write
 * it.  TRL_EMODEL when the file is not such a cache (it must then not be overwritten) or damaged,
 * TRL_EIO. */
trl_status trl_expect_read(const char *path, uint64_t fingerprint, double *E, size_t n, bool *found,
                           trl_error *err);

#endif
