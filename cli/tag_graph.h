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
    const char *title; /* of a page or picture */
} tag_graph_settings;

/* All of it, with a model that is freed; the exit code.  `raw`: the input is text;
 * `format`: as the user says. */
int tag_graph_run(const tag_graph_settings *s, trl_model *m, bool raw, trl_format format,
                  const operands *args);

/* tag_graph_method.c: the method of a name; the layers, as bits, that are known.  CLI_USAGE, said.
 */
int tag_graph_method(const char *name, trl_infer_method *out);
int tag_graph_known(const tag_graph_settings *s, const trl_graph_model *m, uint64_t *out);

/* With another model: CLI_USAGE when there are options for graphs or their format, which is said.
 */
int tag_graph_unused(const tag_graph_settings *s, trl_format format);

#endif
