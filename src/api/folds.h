/* folds.h -- private: the folds of cross-validation. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FOLDS_H
#define TRL_FOLDS_H

#include "trellis/train.h"

typedef struct trl_folds {
    uint64_t k;
    uint32_t *fold; /* [n] of every sequence, graph or tree of the data */
    size_t n, cap;
    uint32_t *group; /* [n] */
    size_t group_cap;
    size_t n_groups;
} trl_folds; /* zero-initialise */

typedef struct trl_folds_options {
    uint64_t k;
    bool documents;
    const char *groups; /* path or NULL */
} trl_folds_options;

/* Reads the data of `train` once.  TRL_EPARSE with the file: fewer groups than folds, or a file of
 * groups of another length; what reading returns. */
trl_status trl_folds_make(trl_folds *f, const trl_train_options *train,
                          const trl_folds_options *how, trl_error *err);
void trl_folds_fini(trl_folds *f);

#endif
