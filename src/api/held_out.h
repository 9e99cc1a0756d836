/* held_out.h -- private: what a model of any kind is worth on data that it was not trained on. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_HELD_OUT_H
#define TRL_HELD_OUT_H

#include "train_chain/held_score.h"
#include "trellis/cv.h"
#include "trellis/parseval.h"
#include "trellis/score.h"
#include "trellis/train.h"

/* Counts of all answers that were added. */
typedef struct trl_held_counts {
    trl_score *score;    /* chains and graphs */
    trl_parseval *trees; /* trees */
    bool rewrites;       /* labels are of a scheme: chunks are those of trl_chunks_of */
    uint64_t words, right_tags;
    uint64_t tokens, right_tokens, right_sequences; /* whole labels */
    bool all_chunks, any_chunk;
} trl_held_counts;

/* TRL_ENOMEM. */
trl_status trl_held_counts_init(trl_held_counts *c, const trl_train_options *o, trl_error *err);
void trl_held_counts_fini(trl_held_counts *c);
trl_status trl_held_counts_add(trl_held_counts *c, const trl_held_answer *a, trl_error *err);

/* Are all labels those of a chunk scheme? */
bool trl_held_counts_chunks(const trl_held_counts *c);
trl_score_totals trl_held_counts_totals(const trl_held_counts *c);

/* All measures in percent, value[n] by name[n]: "accuracy", "sequences", "precision", "recall",
 * "f1"; of trees "precision", "recall", "f1", "exact", "tags".  Those of chunks are NaN where
 * labels are none. */
typedef struct trl_held_measures {
    size_t n;
    const char *name[TRL_CV_MEASURES];
    double value[TRL_CV_MEASURES];
} trl_held_measures;
trl_held_measures trl_held_counts_measures(const trl_held_counts *c);

/* Mean of v[0], v[stride], ..., n of them, and the deviation of the sample; NaN of a single one. */
void trl_spread(const double *v, size_t n, size_t stride, double *mean, double *deviation);

/* What cross-validation asks of options (trl_cv_options.train).  TRL_EINVAL. */
trl_status trl_cv_check_train(const trl_train_options *t, trl_error *err);

/* Answers of a model of the kind that o has. */
trl_status trl_held_out_run(const trl_train_options *o, const trl_model *m,
                            const trl_held_data *data, trl_held_fn fn, void *ctx, trl_error *err);

#endif
