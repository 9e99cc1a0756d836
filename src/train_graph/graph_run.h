/* graph_run.h -- private: the state of one run of trl_train on graphs.
 *
 * The stages of a run are listed in graph_run.c.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_RUN_H
#define TRL_GRAPH_RUN_H

#include "graph_model/graph_spec.h"
#include "graph_model/graph_unit.h"
#include "graph_model/unroll.h"
#include "train/stages.h"
#include "train_graph/graph_dev.h"
#include "train_graph/train_graph.h"

typedef struct trl_graph_run {
    const trl_train_options *o;
    trl_infer_options infer;
    trl_graph_spec *spec;
    const char *spec_name; /* for messages */
    trl_graph_unit *unit;  /* [n_units] until they are unrolled */
    size_t n_units, unit_cap, n_columns;
    uint64_t n_tokens, n_sentences, n_read;
    trl_strtab labels[TRL_LAYERS_MAX];
    size_t n_labels[TRL_LAYERS_MAX];
    trl_graph_corpus corpus;
    trl_graph_training training;
    bool trains; /* training is initialised */
    trl_graph_dev dev;
    double started;
    struct trl_spill *spill; /* of the data, with o->memory_limit; else NULL */
} trl_graph_run;

/* graph_data.c: the model file; training data to units, label sets and the corpus; held-out data.
 */
trl_status trl_graph_run_read_spec(trl_graph_run *j, trl_error *err);
trl_status trl_graph_run_read(trl_graph_run *j, trl_error *err);
trl_status trl_graph_run_unroll(trl_graph_run *j, trl_error *err);
trl_status trl_graph_run_read_dev(trl_graph_run *j, trl_error *err);

/* graph_start.c: weights of an earlier model, of a graph or a chain. */
trl_status trl_graph_run_start(trl_graph_run *j, trl_error *err);

/* graph_run.c: tells the caller; true when it asks to stop. */
bool trl_graph_run_report(const trl_graph_run *j, const char *stage, const char *note);

trl_status trl_train_graph(const trl_train_options *o, trl_train_result *result, trl_error *err);

#endif
