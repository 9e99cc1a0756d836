/* compare.h -- what 'trellis compare' of two systems and of several share. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "score_trees.h"
#include "text.h"
#include "trellis/compare.h"

typedef enum by_measure { BY_GUESS, BY_F1, BY_ACCURACY } by_measure;

typedef struct compare_settings {
    trl_bootstrap_options bootstrap;
    by_measure by;
    const char *columns;
    size_t column[2];
    bool json;
    tree_score_settings trees;

    bool named;                    /* the kind of files is the first operand */
    bool of_trees, of_translation; /* what is compared; set by run, not by an option */
    uint64_t left_out;
    bool colour, narrow; /* of the terminal */
} compare_settings;

typedef struct measure_name {
    const char *shown, *key;
} measure_name;

/* By trl_measure. */
const measure_name *compare_measures(const compare_settings *s);

/* What the bootstrap tests. */
trl_measure compare_decisive(const compare_settings *s, const trl_comparison *r);

void compare_add_p(text *t, double p); /* after two blanks, in eight columns */

/* GOLD, A and B; what was left out is said. */
trl_status compare_read(compare_settings *s, trl_compare *c, const char *const *path,
                        trl_error *err);

/* compare_many.c: path[0] against itself in n - 1 versions, every pair of them; the exit code. */
int compare_many(compare_settings *s, const char *const *path, size_t n);

#endif
