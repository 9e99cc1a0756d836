/* model.h -- trained models: one file, checked once, then read-only.
 *
 * A model of any kind can be opened and says what it is.  Chains are asked here and used by taggers
 * (tagger.h); the others through their own headers, which make of a trl_model, without a copy, a
 * parser's model (trl_parse_model_of), one of graphs (trl_graph_model_of), one of boosted trees
 * (trl_boost_model_of), an aligner (trl_aligner_of) or a translator's (trl_translate_model_of).
 *
 * A model may be used by any number of threads at the same time, each with its own trl_tagger.
 * Later changes of the file do not affect a model in use, unless it was mapped.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_MODEL_H
#define TRELLIS_MODEL_H

#include "trellis/buf.h"
#include "trellis/sequence.h"

TRL_BEGIN_DECLS

typedef struct trl_model trl_model;

/* Reads the file into memory and checks what was read: magic, version, checksum, bounds of
 * everything that is later used as an index.  TRL_EIO, TRL_EMODEL (with a hint when it is some
 * other known file), TRL_EINVAL for NULL, TRL_ENOMEM. */
TRL_API trl_status trl_model_open(const char *path, trl_model **out, trl_error *err);

/* The same without a copy: the file is mapped, and processes share its pages.  As long as the model
 * is open its file must not be changed in place (cp, truncation), which may end the process
 * (SIGBUS) or change the answers; replace it by rename, as trl_train and trl_model_undump do. */
TRL_API trl_status trl_model_map(const char *path, trl_model **out, trl_error *err);

/* The same from memory: the n bytes of a model file.  The first borrows them until the model is
 * freed, and copies them only when they are not 64-byte aligned (trl_train_options.model_out is);
 * the second always copies.  Messages name it <memory>. */
TRL_API trl_status trl_model_from_memory(const void *bytes, size_t n, trl_model **out,
                                         trl_error *err);
TRL_API trl_status trl_model_from_copy(const void *bytes, size_t n, trl_model **out,
                                       trl_error *err);
TRL_API void trl_model_free(trl_model *m); /* accepts NULL */

/* The bytes of the model's file, *n of them (n may be NULL), borrowed, 64-byte aligned: what
 * trl_model_from_memory takes. */
TRL_API const void *trl_model_bytes(const trl_model *m, size_t *n);

/* How scores become a distribution over labellings: each factor normalised on its own, given the
 * labels before it (memm, piecewise-nota), or all of them together. */
typedef enum trl_decoding {
    TRL_DECODE_MODEL, /* as the model says */
    TRL_DECODE_LOCAL,
    TRL_DECODE_GLOBAL,
    TRL_DECODE_SCORES, /* as GLOBAL, and where scores are not log-probabilities (perceptron) they
                          are taken as if: shares of exp(score), which nothing was trained for */
} trl_decoding;

typedef struct trl_model_info {
    const char *kind; /* "chain", "tree", "graph", "boost", "align", "mt"; of the others only the
                         size of the file is known here, all else is 0 or "" */
    const char *objective; /* "likelihood", ... */
    const char *settings;  /* how it was trained: one `name value` pair a line */
    int order;
    trl_format format; /* what it reads */
    size_t n_columns;  /* of the training data, label included; 0 for items */
    size_t n_labels;
    uint64_t n_attributes, n_features, file_size;
    bool is_probability; /* scores give probabilities; false for the perceptron, unless it has a
                            temperature */
    bool is_local;       /* decoded locally by default */
    bool is_calibrated;  /* global decoding uses multipliers, one per source label */
    bool has_q0;         /* a generative model's log-probability is part of the score */
    double temperature;  /* fitted on held-out data (calibrate.h); 0: none was */
} trl_model_info;

TRL_API trl_model_info trl_model_get_info(const trl_model *m);

TRL_API trl_str trl_model_label(const trl_model *m, size_t k);            /* k < n_labels */
TRL_API uint32_t trl_model_find_label(const trl_model *m, trl_str label); /* UINT32_MAX: none */
TRL_API trl_str trl_model_template(const trl_model *m);                   /* "" for items */

/* What an attribute scores: a label, a label and the one before, or also the one before that. */
typedef enum trl_scope {
    TRL_SCOPE_LABEL = 0,
    TRL_SCOPE_PAIR,
    TRL_SCOPE_TRIPLE, /* order 2 */
} trl_scope;

/* The attributes of a scope have numbers of their own, 0 to their number - 1.  Those without a
 * weight other than 0 are not in the model, but for plain transitions. */
TRL_API size_t trl_model_n_attributes(const trl_model *m, trl_scope scope);
TRL_API trl_str trl_model_attribute(const trl_model *m, trl_scope scope, size_t k); /* "": none */
/* UINT32_MAX: none */
TRL_API uint32_t trl_model_find_attribute(const trl_model *m, trl_scope scope, trl_str name);

/* The attribute that is on at every position and stands for plain transitions, named "B" for pairs
 * and "T" for triples; UINT32_MAX: none. */
TRL_API uint32_t trl_model_transitions(const trl_model *m, trl_scope scope);

/* All weights of an attribute: w[label], w[before * n_labels + label] or
 * w[(first * n_labels + second) * n_labels + label], 0 where the model has none.  TRL_EINVAL for an
 * attribute that there is not. */
TRL_API trl_status trl_model_weights(const trl_model *m, trl_scope scope, uint32_t attribute,
                                     double *w, trl_error *err);

/* Receives text: called with pieces in order; a status other than TRL_OK ends the dump with it. */
typedef trl_status (*trl_write_fn)(void *ctx, const char *text, size_t n, trl_error *err);

/* The whole model, of a chain, a graph or a parser, as text (docs/formats.md) that trl_model_undump
 * turns into the same model, bit for bit.  TRL_EINVAL for other kinds, and for models without names
 * or of boosted parsers; TRL_ENOMEM. */
TRL_API trl_status trl_model_dump(const trl_model *m, trl_write_fn write, void *ctx,
                                  trl_error *err);

/* A table of the `top` largest and smallest weights of every label, or of every factor of a graph.
 */
TRL_API trl_status trl_model_dump_top(const trl_model *m, size_t top, trl_write_fn write, void *ctx,
                                      trl_error *err);

/* The same into a buffer, after what it holds. */
TRL_API trl_status trl_model_dump_buf(const trl_model *m, trl_buf *out, trl_error *err);

/* Reads the n bytes of a dump and makes a model of them: what `out` held is replaced by the bytes
 * of the model file, 64-byte aligned; kept on failure.  As trl_model_undump; `name` is for
 * messages. */
TRL_API trl_status trl_model_undump_buf(const char *name, const char *text, size_t n, trl_buf *out,
                                        trl_error *err);

/* Reads a dump ("-": standard input) and writes the model file atomically.  TRL_EPARSE with the
 * place, TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_model_undump(const char *dump_path, const char *model_path, trl_error *err);

TRL_END_DECLS

#endif
