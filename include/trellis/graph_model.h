/* graph_model.h -- trained models of factor graphs, and labelling with them.
 *
 * A graph model is what trl_train writes for the kind "graph": a model file (docs/graphs.md), label
 * sets, weights.  A token has one label variable for each of its layers.  A model is read-only and
 * may be used by any number of threads, each with its own tagger.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_GRAPH_MODEL_H
#define TRELLIS_GRAPH_MODEL_H

#include "trellis/graph.h"
#include "trellis/model.h"
#include "trellis/shrink.h"

TRL_BEGIN_DECLS

typedef struct trl_graph_model trl_graph_model;

/* As trl_model_open, trl_model_from_memory and trl_model_free. */
TRL_API trl_status trl_graph_model_open(const char *path, trl_graph_model **out, trl_error *err);
TRL_API trl_status trl_graph_model_from_memory(const void *bytes, size_t n, trl_graph_model **out,
                                               trl_error *err);
/* Of a trl_model of kind "graph", which is borrowed, without a copy. */
TRL_API trl_status trl_graph_model_of(const trl_model *m, trl_graph_model **out, trl_error *err);
TRL_API void trl_graph_model_free(trl_graph_model *m); /* accepts NULL */

/* The model with fewer weights (options->prune or ->keep) into a file, which is replaced
 * atomically; those that are always on are all kept.  `report` may be NULL.  TRL_EINVAL for bits,
 * fingerprints and other options that are none; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_graph_model_shrink(const trl_graph_model *m,
                                          const trl_shrink_options *options, const char *path,
                                          trl_shrink_report *report, trl_error *err);

typedef struct trl_graph_model_info {
    const char *objective;
    const char *settings; /* how it was trained: one `name value` pair a line */
    trl_str text;         /* the model file */
    size_t n_columns;     /* of the training data */
    size_t n_layers, n_factors;
    uint64_t n_attributes, n_features, file_size;
    bool is_probability; /* false for the perceptron */
    bool document;       /* a graph is a document, not a sentence */
    bool attributes;     /* it reads labels ---- attributes, not columns */
} trl_graph_model_info;

TRL_API trl_graph_model_info trl_graph_model_get_info(const trl_graph_model *m);

typedef struct trl_graph_layer {
    const char *name;
    size_t column; /* of its labels in the training data */
    size_t n_labels;
} trl_graph_layer;

TRL_API trl_graph_layer trl_graph_model_layer(const trl_graph_model *m, size_t layer);
TRL_API trl_str trl_graph_model_label(const trl_graph_model *m, size_t layer, size_t k);
/* UINT32_MAX: none */
TRL_API uint32_t trl_graph_model_find_label(const trl_graph_model *m, size_t layer, trl_str label);

/* All weights as text, or, `top` above 0, the `top` largest and smallest of every factor as a
 * table.
 */
TRL_API trl_status trl_graph_model_dump(const trl_graph_model *m, size_t top, trl_write_fn write,
                                        void *ctx, trl_error *err);

/* ---- labelling ------------------------------------------------------------------------------- */

typedef struct trl_graph_tagger trl_graph_tagger;

typedef struct trl_graph_tagger_options {
    bool automatic;          /* exact where infer.max_cells allow it, else belief propagation */
    trl_infer_options infer; /* method (unless automatic) and its settings */
    uint64_t known;          /* layers (bits) whose labels are known: see below */
} trl_graph_tagger_options;

/* automatic, 2^22 numbers in the cliques' tables, else as trl_infer_options_default with damping
 * 0.1 and tolerance 1e-6. */
TRL_API trl_graph_tagger_options trl_graph_tagger_options_default(void);

/* Borrows the model.  TRL_EINVAL for options out of range, TRL_ENOMEM. */
TRL_API trl_status trl_graph_tagger_new(const trl_graph_model *m,
                                        const trl_graph_tagger_options *options,
                                        trl_graph_tagger **out, trl_error *err);
TRL_API void trl_graph_tagger_free(trl_graph_tagger *t); /* accepts NULL */

/* The tokens of the next graph: sentence by sentence; nothing is borrowed.  `attr` (labels ----
 * attributes; else NULL): those of token k are attr[begin[k]] .. attr[begin[k + 1] - 1], the cells
 * are labels.  The columns of labels are only read where they are known: '_' or '?' stands for one
 * that is not, unless it is a label.  TRL_EPARSE (with the place): a column that is needed is
 * missing; TRL_ENOMEM. */
TRL_API void trl_graph_tagger_clear(trl_graph_tagger *t);
TRL_API trl_status trl_graph_tagger_add(trl_graph_tagger *t, const trl_rows *sentence,
                                        trl_error *err);
TRL_API trl_status trl_graph_tagger_add_items(trl_graph_tagger *t, const trl_rows *sentence,
                                              const size_t *begin, const trl_attr *attr,
                                              trl_error *err);

typedef struct trl_graph_answer {
    bool exact;     /* the labelling is the best one, or the probabilities are exact */
    bool converged; /* else what the messages stood at when their budget ended */
    double score;   /* of the labelling; natural log, up to log Z */
    double log_z;   /* NaN: not known */
    trl_value_status log_z_status;
} trl_graph_answer;

/* The best labelling: label[token * n_layers + layer].  TRL_EINVAL: no token, a method that has no
 * labellings; TRL_EPARSE (with the place): a known label that the model has not; TRL_ENUMERIC: the
 * known labels are impossible; TRL_ENOMEM. */
TRL_API trl_status trl_graph_tagger_best(trl_graph_tagger *t, uint32_t *label,
                                         trl_graph_answer *answer, trl_error *err);

/* P(label) of every variable, those of a variable after each other: variable token * n_layers +
 * layer starts where the one before ends.  TRL_EINVAL also for a model without probabilities. */
TRL_API trl_status trl_graph_tagger_marginals(trl_graph_tagger *t, double *p,
                                              trl_graph_answer *answer, trl_error *err);

/* Max-marginals of every variable (trl_infer_max_marginals), laid out in the same way; of any
 * model. TRL_EINVAL: a method other than exact and bp. */
TRL_API trl_status trl_graph_tagger_max_marginals(trl_graph_tagger *t, double *m,
                                                  trl_graph_answer *answer, trl_error *err);

/* The graph itself, with the model's scores as tables; to be freed by the caller. */
TRL_API trl_status trl_graph_tagger_graph(trl_graph_tagger *t, trl_graph **out, trl_error *err);

TRL_API uint64_t trl_graph_tagger_attributes(const trl_graph_tagger *t); /* looked up so far, */
TRL_API uint64_t trl_graph_tagger_unknown(const trl_graph_tagger *t);    /* ... and not known */

TRL_END_DECLS

#endif
