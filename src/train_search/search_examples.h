/* search_examples.h -- training examples of a boosted parser: every inference that could follow a
 * state of a gold derivation [TM06, section 2.1].
 *
 * Features do not depend on the label, so one row of features serves all labels: an example is a
 * row and a label.  Every state has the value 1: half for the inference that is right, half shared
 * by the others [section 3]; or every example has the value 1.  TOP is an answer only for the whole
 * sentence.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SEARCH_EXAMPLES_H
#define TRL_SEARCH_EXAMPLES_H

#include "search/search_model.h"

typedef struct trl_search_row {
    uint32_t label; /* that is right for this span; TRL_NO_ID: none is */
    uint32_t spans; /* of its state; bit 31: it is the whole sentence */
} trl_search_row;

typedef struct trl_search_examples {
    trl_boost_data *data; /* NULL: there are none */
    trl_search_row *row;  /* [data->n] */
    size_t n_rows;
    uint64_t n_states, n_examples;
    size_t n_labels;
    bool uniform;
} trl_search_examples; /* zero-initialise; release with _fini */

/* What a tree is for. */
typedef enum trl_tree_use {
    TRL_TREE_LEARN,  /* examples */
    TRL_TREE_CHOOSE, /* held out: examples that choose the points of the paths */
    TRL_TREE_TAGS    /* too long for the parser: its tagger alone learns from it */
} trl_tree_use;

typedef struct trl_search_source {
    const trl_search_model *model; /* groups, names, heads */
    const trl_tree_set *trees;
    const uint32_t *label;      /* [trees->labels] of names; TRL_NO_ID: not there */
    const uint32_t *const *tag; /* [trees->n][words] of names */
    const trl_tree_use *use;    /* [trees->n] */
    trl_tree_use want;          /* the trees to take */
    bool uniform;
    size_t memory;              /* bytes before a file is used */
    const trl_boost_data *like; /* features as there: others are dropped; NULL: all */
    size_t threads;             /* 0: one */
} trl_search_source;

/* Examples of the trees, with an answer for every phrase label; the same with any number of
 * threads.  Must not move afterwards.
 * TRL_ENOMEM, TRL_EIO. */
trl_status trl_search_examples_make(trl_search_examples *x, const trl_search_source *s,
                                    trl_error *err);
void trl_search_examples_fini(trl_search_examples *x);

#endif
