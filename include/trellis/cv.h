/* cv.h -- cross-validation: how good models of these options are on data that they have not seen.
 *
 * The training data are dealt into k folds.  For every fold a model is trained on the others, as
 * trl_train does on a file without the sequences of the fold, to the same bits, and scored on it.
 * The mean over folds says how good, the standard deviation how sure.  Every sequence is labelled
 * once, by the model that has not seen it.
 *
 * Sequences (graphs, trees) are dealt in random order, those of one group together, a group to the
 * fold that has the fewest sequences.  The same data, seed and groups make the same folds.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_CV_H
#define TRELLIS_CV_H

#include "trellis/train.h"

TRL_BEGIN_DECLS

#define TRL_CV_MEASURES 8

/* A fold has been scored. */
typedef struct trl_cv_fold {
    uint64_t number; /* from 0 */
    uint64_t folds;
    uint64_t n_held, n_all;        /* sequences, graphs or trees in it, and in all folds */
    double value[TRL_CV_MEASURES]; /* percent, in the order of trl_cv_result.measure; NaN: it has no
                                      such measure */
    const char *name[TRL_CV_MEASURES]; /* static; NULL after the last one */
    trl_train_result result;
} trl_cv_fold;

/* The labels of a sequence that the model of its fold gave it.  Of graphs label[t * n_layers + k]
 * is the one of layer k; of trees n_tokens is 1 and label[0] the tree on a line. */
typedef struct trl_cv_labels {
    uint64_t sequence; /* its number in all files together, from 0 */
    uint64_t fold;
    size_t n_tokens, n_layers;
    const trl_str *label; /* [n_tokens][n_layers], borrowed during the call */
} trl_cv_labels;

/* A status other than TRL_OK ends the run with it. */
typedef trl_status (*trl_cv_fold_fn)(void *ctx, const trl_cv_fold *fold, trl_error *err);
typedef trl_status (*trl_cv_labels_fn)(void *ctx, const trl_cv_labels *labels, trl_error *err);

/* Begin with trl_cv_options_default(): later versions have more members. */
typedef struct trl_cv_options {
    size_t size; /* of the struct, as the program was compiled */
    /* As for trl_train, from files (not standard input: they are read for every fold).  Of model,
     * model_out, rescue, checkpoint, resume, hold_out, leave_out and q0_cache none may be given,
     * and no partial labels, which are not scored.  Borrowed.  Its seed deals the folds, too. */
    const trl_train_options *train;
    uint64_t folds;     /* at least 2: 5 */
    bool documents;     /* sequences of one document (-DOCSTART-, # newdoc) stay together; a file
                           begins one */
    const char *groups; /* path: line k names the group of sequence (graph, tree) k of all files; or
                           NULL */
    trl_cv_fold_fn on_fold;     /* or NULL */
    trl_cv_labels_fn on_labels; /* or NULL: fold by fold, each in the order of the files */
    void *ctx;
} trl_cv_options;

TRL_API void trl_cv_options_init(trl_cv_options *o, size_t size); /* sizeof *o */

static inline trl_cv_options trl_cv_options_default(void)
{
    trl_cv_options o;
    trl_cv_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_cv_option_table(void);

/* Percent.  A fold without a measure (F1 where labels are no chunks) makes all of it NaN. */
typedef struct trl_cv_measure {
    const char *name; /* chains, graphs: "accuracy" of tokens, "sequences" all right, "precision",
                         "recall", "f1" of chunks; trees: "precision", "recall", "f1" of brackets as
                         EVALB counts, with the gold tags of words, "exact" trees, "tags" right */
    double mean, deviation; /* over folds; the deviation of the sample, divided by k - 1 */
    double all;             /* of all sequences together */
} trl_cv_measure;

typedef struct trl_cv_result {
    uint64_t folds, n_units, n_groups; /* sequences, graphs or trees; groups, or n_units again */
    size_t n_measures;
    trl_cv_measure measure[TRL_CV_MEASURES];
    double seconds; /* of training, all folds */
} trl_cv_result;

/* TRL_EINVAL for wrong options; TRL_EPARSE, with the file, for fewer groups than folds or a file of
 * groups of another length; TRL_ECANCEL when a callback of `train` asked to stop; what trl_train
 * and taggers return. */
TRL_API trl_status trl_cv(const trl_cv_options *o, trl_cv_result *result, trl_error *err);

TRL_END_DECLS

#endif
