/* tune_lists.h -- what 'trellis tune' searches: lists on the command line. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TUNE_LISTS_H
#define CLI_TUNE_LISTS_H

#include "train_settings.h"
#include "trellis/tune.h"

#define TUNE_MOST_VALUES 1000
#define TUNE_MOST_NAMES 50

typedef struct tune_lists {
    double grid[TUNE_MOST_VALUES], c1[TUNE_MOST_VALUES];
    uint64_t passes[TUNE_MOST_VALUES];
    size_t n_grid, n_c1, n_passes;
    const char *objective[TUNE_MOST_NAMES];
    size_t n_objectives;
    char words[2000]; /* of the objectives */
    trl_tune_template tpl[TUNE_MOST_NAMES];
    text text[TUNE_MOST_NAMES]; /* of the templates */
    size_t n_templates;
} tune_lists;

/* As they were given; NULL: not. */
typedef struct tune_given {
    const char *grid, *c1, *passes, *objectives;
    const string_list *templates;
} tune_given;

/* Values with commas between.  False: said. */
bool tune_lists_read(tune_lists *x, const tune_given *given);

/* Reads the files of templates; a single one stays where `s` has it.  False: said. */
bool tune_lists_templates(tune_lists *x, const string_list *paths, train_settings *s);

/* Puts the lists that were given into the options. */
void tune_lists_set(const tune_lists *x, trl_tune_options *o);
void tune_lists_fini(tune_lists *x);

#endif
