/* learning_curve.h -- 'trellis train --learning-curve': the score on held-out data by the size of
 * the training data. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_LEARNING_CURVE_H
#define CLI_LEARNING_CURVE_H

#include "trellis/train.h"

#define MOST_FRACTIONS 64

typedef struct learning_fractions {
    double at[MOST_FRACTIONS]; /* rising, all below 1 */
    size_t n;
} learning_fractions;

/* "0.1,0.25,0.5".  False: said. */
bool learning_fractions_read(const char *list, learning_fractions *f);

/* A point: a run on some of the data. */
typedef struct learning_point {
    double fraction;
    uint64_t sequences, tokens; /* that it was trained on */
    trl_train_result result;
} learning_point;

typedef struct learning_curve {
    learning_fractions fractions;
    const char *svg; /* a plot; NULL: none */
    bool quiet;
} learning_curve;

/* Trains on each fraction, a part of the next larger one, as `o` says but for the model, which is
 * not kept.  `all` is the run on all data, which has been done.  Prints a table; the exit code. */
int learning_curve_run(const learning_curve *c, const trl_train_options *o,
                       const learning_point *all);

#endif
