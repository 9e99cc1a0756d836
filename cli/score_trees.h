/* score_trees.h -- trellis score trees, and the options it shares with trellis compare trees. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_SCORE_TREES_H
#define CLI_SCORE_TREES_H

#include "options.h"
#include "trellis/parseval.h"

typedef struct tree_score_settings {
    const char *params;
    size_t max_length, max_errors; /* TREE_AS_PARAMS: as the parameters say */
    bool unlabelled, gold_tags, details, functions;
} tree_score_settings;

#define TREE_AS_PARAMS SIZE_MAX

#define TREE_PARAMS_OPTION(settings, field)                                                        \
    {                                                                                              \
        "params", 'p', OPTION_STRING, OPTION_FIELD(settings, field.params),                        \
            .value = "NAME|FILE", .help = "EVALB's parameters: collins, new, none, or a .prm file" \
    }
#define TREE_UNLABELLED_OPTION(settings, field)                                                    \
    {                                                                                              \
        "unlabelled", .type = OPTION_FLAG, OPTION_FIELD(settings, field.unlabelled),               \
                      .help = "compare spans, not their labels"                                    \
    }
#define TREE_GOLD_TAGS_OPTION(settings, field)                                                     \
    {                                                                                              \
        "gold-tags", .type = OPTION_FLAG, OPTION_FIELD(settings, field.gold_tags),                 \
                     .help = "give the predicted words the true parts of speech first"             \
    }

tree_score_settings tree_score_defaults(void);
trl_parseval_options tree_score_options(const tree_score_settings *s);

/* The errors of a scorer, a line each, on standard error. */
void tree_score_errors(const trl_parseval *p);

/* trellis score trees GOLD [TEST]; the exit code. */
int score_trees(const tree_score_settings *s, bool json, const operands *args);

#endif
