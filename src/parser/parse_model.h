/* parse_model.h -- private to the parser: what a public model holds. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSE_MODEL_H
#define TRL_PARSE_MODEL_H

#include "parser/tree_model.h"
#include "trellis/parser.h"

struct trl_parse_model {
    trl_container *file;
    trl_tree_model m;
    trl_strtab labels; /* as they are shown: m.fine.labels with the treebank's own root */
    char *settings;
    bool is_probability; /* scores give probabilities; false for the perceptron */
    uint64_t size;
};

#endif
