/* tune.h -- the penalty chosen on held-out data.
 *
 * A model is trained for every c of a grid, with ||w||^2 / (2 c) added to the objective (c2 = 1 /
 * (2 c) of trl_train_options), from the smallest c to the largest and then without penalty; each
 * run starts from the weights of the one before.  Each model is scored once, when it is trained, on
 * data that no run has seen; the best is kept, of equally good ones that with the smallest c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TUNE_H
#define TRELLIS_TUNE_H

#include "trellis/score.h"
#include "trellis/train.h"

TRL_BEGIN_DECLS

typedef enum trl_tune_measure {
    TRL_TUNE_GUESS = 0, /* F1 when all labels are of a chunk scheme (B-X, I-X, O), else accuracy */
    TRL_TUNE_F1,        /* of chunks */
    TRL_TUNE_PRECISION,
    TRL_TUNE_RECALL,
    TRL_TUNE_ACCURACY, /* of tokens */
} trl_tune_measure;

typedef struct trl_tune_run {
    double c, c2; /* INFINITY and 0: no penalty */
    double score; /* percent; NaN: the run failed numerically, or is the refit */
    bool best;    /* of the runs so far */
    bool refit;   /* the last one, on all data: not scored */
    trl_score_totals held_out;
    bool chunks;             /* all labels are of a chunk scheme */
    trl_train_result result; /* dev_score is `score` */
} trl_tune_run;

/* Called when a run has ended.  A status other than TRL_OK ends the tuning with it. */
typedef trl_status (*trl_tune_fn)(void *ctx, const trl_tune_run *run, trl_error *err);

typedef struct trl_tune_options {
    /* As for trl_train.  c2 is ignored; dev is the held-out data, NULL for a share of the training
     * data; no checkpoints, no patience; training files cannot be standard input.  Files
     * MODEL.tune-* beside the model are removed at the end. */
    trl_train_options train;
    const double *grid; /* values of c > 0, INFINITY: no penalty, in any order; NULL: default */
    size_t n_grid;
    uint64_t hold_out; /* without train.dev: one sequence in N is held out: 10 */
    trl_tune_measure measure;
    bool cold;          /* every run starts from train.init, or from zero */
    bool refit;         /* then train once more on all data, held-out included, with the
                           chosen c */
    trl_tune_fn on_run; /* or NULL */
    void *ctx;
} trl_tune_options;

TRL_API trl_tune_options trl_tune_options_default(void);

#define TRL_TUNE_DEFAULT 8

/* Seven values from 0.1 to 10 at equal steps of log c, and INFINITY. */
TRL_API void trl_tune_default_grid(double c[TRL_TUNE_DEFAULT]);

/* Trains, scores, writes the best model atomically; *best (or NULL) is its run.  Stopped by the
 * progress callback it keeps the best of the runs that ended, or else the one that was stopped,
 * and returns TRL_OK with best->result.stopped set.  TRL_EINVAL for wrong options, TRL_ENUMERIC
 * when no run succeeded, and what trl_train and trl_tagger_new return. */
TRL_API trl_status trl_tune(const trl_tune_options *o, trl_tune_run *best, trl_error *err);

TRL_END_DECLS

#endif
