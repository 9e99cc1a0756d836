/* explain_graph.h -- why a variable of a graph has its label: the factors that it is part of. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_GRAPH_H
#define CLI_EXPLAIN_GRAPH_H

#include "options.h"
#include "output.h"
#include "trellis/graph_model.h"

typedef struct explain_graph_options {
    const char *model;   /* its path, for messages */
    const char *against; /* a label, or NULL: the runner-up; layers that have it not are left out */
    size_t unit, token;  /* 0: all; the unit is a sentence or document */
    size_t top;          /* rows; 0: all */
    bool json;
} explain_graph_options;

/* With a model of kind graph; `out` is open.  False: said. */
bool explain_graph(const explain_graph_options *o, const trl_model *m, const operands *files,
                   output *out);

#endif
