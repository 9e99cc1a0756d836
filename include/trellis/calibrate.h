/* calibrate.h -- probabilities that mean what they say.
 *
 * A model that is too sure of itself, or not sure enough, becomes better by one number, its
 * temperature T, by which scores are divided before they become probabilities [GPSW17]:
 *
 *     p(y) = exp(s(y) / T) / Z(T)     T = argmax of the log-likelihood of held-out data
 *
 * It changes no best labelling.  Marginals, probabilities of spans and of labellings, and entropies
 * all come from the distribution with it, once it is in the model.  Held-out: not what the
 * model was trained on, of which it is too sure.  For a perceptron, whose scores are no
 * log-probabilities, it is the only way to have probabilities at all.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_CALIBRATE_H
#define TRELLIS_CALIBRATE_H

#include "trellis/dataset.h"
#include "trellis/model.h"

TRL_BEGIN_DECLS

/* Labelled sequences: a file ("-": standard input is read more than once and will not do) or, where
 * it is not NULL, a data set. */
typedef struct trl_held_out {
    const char *path;
    trl_format format; /* TRL_FORMAT_GUESS: the model's */
    const trl_dataset *set;
} trl_held_out;

typedef struct trl_temperature_fit {
    double temperature;
    double before, after; /* log-likelihood a token: as the model is without a temperature (the
                             perceptron: T = 1), and with this one */
    uint64_t sequences, tokens; /* used */
    uint64_t left_out;          /* sequences with a label that the model does not have */
} trl_temperature_fit;

/* Fits T to 5 digits by about 20 passes over the data, in the model's decoding; a temperature that
 * the model already has is not looked at.  TRL_EINVAL for a model of another kind than a chain, for
 * data without a sequence to use, or whose likelihood grows with ever smaller or larger T (all
 * labels right, or scores that say nothing); TRL_EPARSE, TRL_EIO as readers; TRL_ENUMERIC;
 * TRL_ENOMEM. */
TRL_API trl_status trl_temperature_find(const trl_model *m, const trl_held_out *data,
                                        trl_temperature_fit *out, trl_error *err);

/* The bytes of the model file with that temperature, or, for 0, without one, in place of what `out`
 * held; kept on failure.  TRL_EINVAL for a model of another kind, a temperature below 0 or
 * beyond 1e9 or its inverse; TRL_ENOMEM. */
TRL_API trl_status trl_model_set_temperature(const trl_model *m, double temperature, trl_buf *out,
                                             trl_error *err);

/* The same into a file, which is replaced atomically.  TRL_EIO. */
TRL_API trl_status trl_model_save_temperature(const trl_model *m, double temperature,
                                              const char *path, trl_error *err);

#define TRL_SPAN_KNOTS 34 /* at most */

/* A parser's probabilities of constituents (`spans` of trl_parse).  Its charts do not hold the
 * trees that pruning and grammar left out, so that posteriors are too sure: with it, what is told
 * of a constituent with posterior p is `share`, linear between n knots, the share of right ones in
 * held-out trees.  Trees stay as they are. */
typedef struct trl_span_fit {
    size_t n;
    double p[TRL_SPAN_KNOTS],
        share[TRL_SPAN_KNOTS]; /* p ascends from 0 to 1, share does not fall */
    double before, after;      /* Brier score of a constituent: of p, and of its share */
    uint64_t trees, spans;     /* used */
} trl_span_fit;

/* Fits it on held-out trees, parsed without the one that the model has.  TRL_EINVAL for a model of
 * another kind or without probabilities, and for no trees; TRL_EPARSE, TRL_EIO as readers;
 * TRL_ENOMEM. */
TRL_API trl_status trl_span_fit_find(const trl_model *m, const char *trees, trl_span_fit *out,
                                     trl_error *err);

/* The model file with it, or, for NULL, without one; replaced atomically.  TRL_EINVAL, TRL_EIO. */
TRL_API trl_status trl_model_save_span_fit(const trl_model *m, const trl_span_fit *fit,
                                           const char *path, trl_error *err);

/* The same together with a function for whole trees (log_probability of trl_parsed), of the same
 * form; its share is never above p, so that what is told of all trees of a sentence adds up to at
 * most 1: the rest is the share of trees that are in no chart.  It is fitted on the trees that the
 * parser chooses, by its second stage where it has one; tree.n 0: there is none, `spans` of it is
 * their number. */
typedef struct trl_parse_fit {
    trl_span_fit span, tree;
} trl_parse_fit;

/* As trl_span_fit_find and trl_model_save_span_fit. */
TRL_API trl_status trl_parse_fit_find(const trl_model *m, const char *trees, trl_parse_fit *out,
                                      trl_error *err);
TRL_API trl_status trl_model_save_parse_fit(const trl_model *m, const trl_parse_fit *fit,
                                            const char *path, trl_error *err);

TRL_END_DECLS

#endif
