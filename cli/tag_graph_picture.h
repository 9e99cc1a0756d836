/* tag_graph_picture.h -- sentences labelled by a model of graphs, as a page or a picture: every
 * sentence once for each kind of labels.
 */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_GRAPH_PICTURE_H
#define CLI_TAG_GRAPH_PICTURE_H

#include "tag_picture.h"
#include "trellis/graph_model.h"

typedef struct graph_picture {
    tag_picture picture;
    const trl_graph_model *m;
    size_t n_layers;
    trl_str *label; /* of all layers, one after the other */
    size_t n_labels;
    text body; /* so far: of SVG what comes before it depends on it */
    uint64_t n_sentences;
    trl_str *word; /* scratch of one sentence */
    uint32_t *path;
    trl_tag_span *span;
    size_t cap;
} graph_picture;

/* One sentence: its n lines (the word comes first), labels [n][layers], and marginals
 * [n][labels of all layers] or NULL. */
typedef struct graph_sentence {
    const char *lines;
    const size_t *end; /* [n] of each line in `lines`; the first starts at `from` */
    size_t from, n;
    const uint32_t *label;
    const double *p;
    double probability; /* of all labels of the graph; NaN: not known */
    bool document;      /* the first of one */
} graph_sentence;

/* Borrows the model.  False: no memory; fini in any case. */
bool graph_picture_init(graph_picture *x, picture as, const trl_graph_model *m);
void graph_picture_fini(graph_picture *x);

/* False: no memory. */
bool graph_picture_add(graph_picture *x, const graph_sentence *s);

/* The whole into `out`. */
void graph_picture_finish(graph_picture *x, const char *title, text *out);

#endif
