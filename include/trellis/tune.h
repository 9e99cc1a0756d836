/* tune.h -- options of training chosen on data that the models have not seen.
 *
 * A model is trained for every setting: each combination of a variant of the options, a template,
 * an objective, a number of passes, a c1 and a c, with ||w||^2 / (2 c) (c2 = 1 / (2 c) of
 * trl_train_options) and c1 ||w||_1 added to the objective; for each of the others from the
 * smallest c to the largest and then without penalty.  Each run along c starts from the weights of
 * the one before.  Each model is scored once, when it is trained: on dev, on every Nth sequence,
 * which no run has seen, or by cross-validation on all folds.  The best is kept, of equally good
 * ones the first.
 *
 * Halving: all settings are trained for a few iterations, the best third of them goes on, from
 * where it was, for three times as many, and so on; the last ones, three at most, run to their end.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TUNE_H
#define TRELLIS_TUNE_H

#include "trellis/cv.h"
#include "trellis/score.h"
#include "trellis/train.h"

TRL_BEGIN_DECLS

typedef enum trl_tune_measure {
    TRL_TUNE_GUESS = 0, /* F1 of trees, and when all labels are of a chunk scheme (B-X, I-X, O);
                           else accuracy */
    TRL_TUNE_F1,        /* of chunks, of brackets */
    TRL_TUNE_PRECISION,
    TRL_TUNE_RECALL,
    TRL_TUNE_ACCURACY, /* of tokens; of trees, of tags */
} trl_tune_measure;

/* In callbacks and results; later versions may have more members at the end. */
typedef struct trl_tune_run {
    double c, c2; /* INFINITY and 0: no penalty */
    double score; /* percent; with folds the mean; NaN: the run failed numerically, or is the refit
                   */
    bool best;    /* of the runs so far; with halving, of those that ran to their end */
    bool refit;   /* the last one, on all data: not scored */
    trl_score_totals held_out; /* chains and graphs; with folds, of all of them together */
    bool chunks;               /* all labels are of a chunk scheme */
    trl_train_result result;   /* dev_score is `score`; with folds, of the last one, but seconds of
                                  all */
    double c1;
    const char *objective, *template_name; /* of train, or of the lists */
    uint64_t passes;                       /* max_iter */
    uint64_t round;                        /* of halving, from 0 */
    double deviation; /* of the score over folds, as trl_cv_measure; NaN without folds */
    size_t n_measures;
    trl_cv_measure measure[TRL_CV_MEASURES]; /* without folds, deviation is NaN and all is the mean
                                              */
    /* Of the best run with folds, else NaN: the strongest penalty whose score is within one
     * standard error (deviation / sqrt(folds)) of the best, all else being that of the best run. */
    double simple_c, simple_c1, simple_score;
    const char *variant; /* as in the list; NULL without */
} trl_tune_run;

/* Called when a run has ended.  A status other than TRL_OK ends the tuning with it. */
typedef trl_status (*trl_tune_fn)(void *ctx, const trl_tune_run *run, trl_error *err);

typedef struct trl_tune_template {
    const char *name, *text; /* as template_name and template_text of trl_train_options */
    size_t size;
} trl_tune_template;

/* Begin with trl_tune_options_default(): later versions have more members.  Lists that are NULL
 * stand for what `train` says. */
typedef struct trl_tune_options {
    size_t size; /* of the struct, as the program was compiled */
    /* As for trl_train.  c2 is ignored; dev is the held-out data, NULL for a share of the training
     * data, or folds; no checkpoints, no patience; training files cannot be standard input.  model
     * may be NULL with folds: then nothing is written.  Borrowed. */
    const trl_train_options *train;
    const double *grid; /* values of c > 0, INFINITY: no penalty, in any order; NULL: default */
    size_t n_grid;
    uint64_t hold_out; /* without train->dev and folds: one sequence in N is held out: 10 */
    trl_tune_measure measure;
    bool cold;          /* every run starts from train->init, or from zero; trees always do */
    bool refit;         /* then train once more on all data, held-out included, with the
                           chosen setting; always with folds */
    trl_tune_fn on_run; /* or NULL */
    void *ctx;
    const double *c1; /* values of c1 >= 0, in any order */
    size_t n_c1;
    const char *const *objectives;
    size_t n_objectives;
    const trl_tune_template *templates;
    size_t n_templates;
    const uint64_t *passes; /* values of max_iter > 0 */
    size_t n_passes;
    uint64_t folds; /* 0: none; not with train->dev */
    bool documents; /* as in trl_cv_options */
    const char *groups;
    bool halving;
    /* Options of training by name, "NAME=VALUE NAME=VALUE ...", flags "NAME" alone; "": as `train`
     * says.  Whatever `train` does not list here may be tried: "markov=1 prune=1e-3", "relaxed". */
    const char *const *variants;
    size_t n_variants;
} trl_tune_options;

TRL_API void trl_tune_options_init(trl_tune_options *o, size_t size); /* sizeof *o */

static inline trl_tune_options trl_tune_options_default(void)
{
    trl_tune_options o;
    trl_tune_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name; lists have none. */
TRL_API const trl_option_table *trl_tune_option_table(void);

#define TRL_TUNE_DEFAULT 8

/* Seven values from 0.1 to 10 at equal steps of log c, and INFINITY. */
TRL_API void trl_tune_default_grid(double c[TRL_TUNE_DEFAULT]);

/* How many settings there are: what the product of the lists is. */
TRL_API size_t trl_tune_settings(const trl_tune_options *o);

/* Trains, scores, writes the best model atomically; *best (or NULL) is its run.  Stopped by the
 * progress callback it keeps the best of the runs that ended, or else the one that was stopped,
 * and returns TRL_OK with best->result.stopped set; with folds TRL_ECANCEL, and nothing is written.
 * TRL_EINVAL for wrong options, TRL_ENUMERIC when no run succeeded, and what trl_train, trl_cv and
 * taggers return. */
TRL_API trl_status trl_tune(const trl_tune_options *o, trl_tune_run *best, trl_error *err);

TRL_END_DECLS

#endif
