/* explain_trees.h -- why a tree has a constituent: the best derivation against the best one without
 * it, or with another label there. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_EXPLAIN_TREES_H
#define CLI_EXPLAIN_TREES_H

#include "options.h"
#include "output.h"
#include "trellis/parser.h"

typedef struct explain_trees_options {
    const char *model;   /* its path, for messages */
    const char *against; /* a label, or NULL */
    size_t span[2];      /* words from 1, both in it; 0: every constituent */
    size_t sentence;     /* 0: all */
    size_t top;          /* rows; 0: all */
    bool json;
} explain_trees_options;

/* With a model of kind tree; `out` is open.  False: said. */
bool explain_trees(const explain_trees_options *o, const trl_model *m, const operands *files,
                   output *out);

#endif
