/* graph_dev.h -- scoring weights in training on held-out graphs. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_DEV_H
#define TRL_GRAPH_DEV_H

#include "feature/project.h"
#include "graph_model/graph_spec.h"
#include "graph_model/graph_unit.h"
#include "train_graph/train_graph.h"

typedef struct trl_graph_dev {
    trl_graph_corpus corpus; /* filled by the caller before init */
    trl_design design;       /* the training design's weights, these graphs' rows */
    const trl_graph_spec *spec;
    trl_pool *pool;
    trl_infer_plan **plan; /* [corpus.n] */
    trl_infer_work **work; /* [threads] */
    trl_arena *arenas;     /* [threads] */
    uint32_t *predicted;   /* [all variables] */
    size_t *first;         /* [corpus.n + 1] variables */
    char *bytes;           /* NUL-terminated labels */
    const char **gold;     /* [all variables] */
    const char **name;     /* labels of training, layer after layer */
    size_t name_at[TRL_LAYERS_MAX];
    size_t *sentence; /* [n_sentences + 1] tokens */
    size_t n_sentences;
    trl_tables shared;
    const double *w; /* of the current scoring */
    bool chunks;     /* all labels of the layer that is scored are B-X, I-X, O: F1 of chunks */
    bool ready;
} trl_graph_dev;

/* All pointers are borrowed for the call, the training for as long as the dev set lives. */
typedef struct trl_graph_dev_setup {
    const trl_graph_spec *spec;
    const trl_strtab *labels; /* [n_layers] of training */
    const trl_graph_unit *unit;
    size_t n_units;
    const trl_infer_options *infer;
    trl_graph_training *training;
} trl_graph_dev_setup;

trl_status trl_graph_dev_init(trl_graph_dev *d, const trl_graph_dev_setup *s, trl_error *err);
void trl_graph_dev_fini(trl_graph_dev *d);

/* Decodes with weights w; *score is the chunk F1 of the layer that the model file names (accuracy
 * where its labels are not chunks), or the accuracy of all layers together, in percent. */
trl_status trl_graph_dev_score(trl_graph_dev *d, const double *w, double *score, trl_error *err);

/* "F1", "accuracy". */
const char *trl_graph_dev_measure(const trl_graph_dev *d);

#endif
