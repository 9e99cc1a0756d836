/* graph_model.h -- graph models: what is in a container of kind "graph"; writing, loading.
 *
 * Sections (little-endian; NN is the number of a layer or a factor, two digits):
 *
 *     info      u32 layers, u32 factors, u32 flags (1: scores are log-probabilities up to a
 *               constant), u32 zero, u64 columns of the training data,
 *               u32[TRL_FAMILIES_MAX] number of each factor's constant attribute (2^32 - 1: none)
 *     objectiv  name of the objective, NUL-terminated
 *     settings  how it was trained, `name value` lines, NUL-terminated
 *     model     text of the model file
 *     lbNN...   labels of a layer (strtab_io.h)
 *     faNN...   weights of a factor (chain_model.h: names, tags, classes, weights, cells)
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GRAPH_MODEL_PRIVATE_H
#define TRL_GRAPH_MODEL_PRIVATE_H

#include "graph_model/graph_spec.h"
#include "model/model_family.h"
#include "trellis/graph_model.h"

#define TRL_GRAPH_KIND "graph"

struct trl_graph_model {
    trl_container *container;
    trl_graph_spec *spec;
    const char *objective, *settings;
    bool is_probability;
    size_t n_columns, n_text; /* n_text: columns that features or conditions need */
    trl_strview labels[TRL_LAYERS_MAX];
    size_t n_labels[TRL_LAYERS_MAX];
    trl_model_family family[TRL_FAMILIES_MAX];
};

/* All pointers are borrowed for the call. */
typedef struct trl_graph_model_parts {
    const trl_graph_spec *spec;
    const char *objective, *settings;
    bool is_probability;
    size_t n_columns;
    const trl_strtab *labels; /* [n_layers] */
    const trl_corpus *corpus; /* names */
    const trl_design *design;
    const double *w;
    const trl_weight_rows *rows; /* [n_factors] in place of corpus, design and w; NULL: none */
    const char *rescue;
} trl_graph_model_parts;

/* Replaces the file atomically; to memory when `path` is NULL (*out, *size; release with trl_free).
 * TRL_EIO, TRL_ENOMEM, TRL_ENUMERIC for a weight beyond a float's range. */
trl_status trl_graph_model_write(const trl_graph_model_parts *p, const char *path,
                                 unsigned char **out, size_t *size, trl_error *err);

#endif
