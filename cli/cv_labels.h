/* cv_labels.h -- out-of-fold labels: kept as they come, fold by fold, printed in the order of the
 * data. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_CV_LABELS_H
#define CLI_CV_LABELS_H

#include "output.h"
#include "trellis/cv.h"

typedef struct cv_labels {
    text bytes;    /* the labels of a sequence, a NUL after each */
    size_t *begin; /* [n] where those of sequence k begin */
    size_t *count; /* [n] labels of a token, or trees */
    size_t n, cap;
} cv_labels; /* zero-initialise */

/* False: no memory. */
bool cv_labels_keep(cv_labels *x, const trl_cv_labels *labels);
void cv_labels_fini(cv_labels *x);

/* Reads the files again and writes what is in them with the labels: columns as they are, with a
 * column (of graphs, one for each layer) appended; items as true label, tab, predicted label; trees
 * one a line.  False: said. */
bool cv_labels_write(const cv_labels *x, const trl_train_options *train, output *o);

#endif
