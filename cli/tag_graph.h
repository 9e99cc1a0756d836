/* tag_graph.h -- trellis tag with a model of graphs: one predicted column for every layer. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_GRAPH_H
#define CLI_TAG_GRAPH_H

#include "options.h"
#include "tag_print.h"
#include "trellis/graph_model.h"

typedef struct tag_graph_settings {
    const char *model, *to; /* to NULL: standard output */
    const char *method;     /* NULL: automatic */
    const char *known;      /* names of layers, separated by commas; NULL: none */
    double damping;
    tag_style style;
    size_t threads;
    bool verbose;
} tag_graph_settings;

/* All of it; the exit code. */
int tag_graph(const tag_graph_settings *s, const trl_graph_model *m, const operands *args);

#endif
