/* span_calibration.h -- probabilities of constituents and trees that mean what they say.
 *
 * Posteriors of a chart are those of the trees in it: they do not know of trees that pruning or the
 * grammar left out, and are too sure.  What is told of a constituent is the share of right ones
 * among those with its posterior in held-out trees: a function that never falls, by isotonic
 * regression [ZE02] over bins of equally many, linear in between.
 *
 * Trees have a function of the same kind, which is nowhere above p: so what is told of all trees of
 * a sentence adds up to at most 1.  The rest is the share of trees that are in no chart.
 *
 * [ZE02] Zadrozny, Elkan. Transforming classifier scores into accurate multiclass probability
 * estimates. KDD 2002.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPAN_CALIBRATION_H
#define TRL_SPAN_CALIBRATION_H

#include "model/container.h"
#include "trellis/calibrate.h"

#define TRL_SPAN_CALIBRATION_TAG "spancal"
#define TRL_TREE_CALIBRATION_TAG "treecal"
#define TRL_LIST_CALIBRATION_TAG "rtreecal" /* of trees by a second stage */

typedef struct trl_span_calibration {
    size_t n; /* 0: posteriors stay */
    struct {
        double p, share; /* p ascends from 0 to 1; share does not fall */
    } knot[TRL_SPAN_KNOTS];
} trl_span_calibration;

double trl_span_calibrated(const trl_span_calibration *s, double p);

/* The same for a log probability; -inf and NaN stay. */
double trl_log_calibrated(const trl_span_calibration *s, double log_p);

/* Those of three treebanks, by cross-validation (docs/parser.md): of constituents and of trees. */
extern const trl_span_calibration trl_span_calibration_usual, trl_tree_calibration_usual;
/* Of constituents, where grammars with substates are asked. */
extern const trl_span_calibration trl_span_calibration_latent;

/* A posterior and whether the constituent is right. */
typedef struct trl_span_outcome {
    double p;
    bool right;
} trl_span_outcome;

/* Sorts x.  False for no outcomes. */
bool trl_span_calibration_fit(trl_span_outcome *x, size_t n, trl_span_calibration *out);

/* The same for trees: at most p, and above 0 from p > 0 on. */
bool trl_tree_calibration_fit(trl_span_outcome *x, size_t n, trl_span_calibration *out);

/* The section `tag`, double[n][2]; without it there is none.  Those of trees must be at most p.
 * TRL_ENOMEM, TRL_EMODEL. */
trl_status trl_span_calibration_save(const trl_span_calibration *s, const char *tag,
                                     trl_container_builder *b, trl_error *err);
trl_status trl_span_calibration_load(trl_span_calibration *s, const char *tag,
                                     const trl_container *c, trl_error *err);

#endif
