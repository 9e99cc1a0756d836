/* function_labels.h -- function labels (SBJ, TMP ...) of the nodes of a tree that is there already.
 *
 * A class is all function tags of a label: "", "SBJ", "LOC-PRD".  Each node chooses one of the
 * classes that its category had in the training trees, by a log-linear model of its own:
 *
 *     p(class | node) = exp(sum of w[f, class] over the features f of the node) / sum over classes
 *
 * so the parser and its scores are the same with and without.  Sections of a model file:
 *
 *     fncl....  the classes, a string table (strtab_io.h); class 0 is ""
 *     fnft....  the features, a string table
 *     fnfirst   u32[features + 1]: where the weights of each begin
 *     fnclass   u32[weights]: their classes, ascending within a feature
 *     fnweight  f32[weights]
 *     fnheads   the head rules, text
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FUNCTION_LABELS_H
#define TRL_FUNCTION_LABELS_H

#include "model/container.h"
#include "parser/function_features.h"

typedef struct trl_function_labels {
    trl_strview class, feature;
    const uint32_t *first, *of;
    const float *weight;
    const double *exact;          /* instead of weight, while they are learnt; or NULL */
    trl_head_rules *heads;        /* owned */
    const trl_observer *observer; /* borrowed */
    /* what was made in memory, not read from a file */
    trl_strtab own_class, own_feature;
    uint32_t *own_first, *own_of;
    float *own_weight;
} trl_function_labels; /* all zero: no function labels */

static inline bool trl_has_functions(const trl_function_labels *f)
{
    return f->class.n > 0;
}

void trl_function_labels_fini(trl_function_labels *f);

/* Of one node: the classes that its category has, and their scores. */
typedef struct trl_function_scores {
    const uint32_t *class; /* [n] */
    size_t n;              /* 0: the category was not in the training trees */
    double *score;         /* [all classes]; of others than `class` of no meaning */
} trl_function_scores;

/* Sums the weights of a node's features id[0 .. n), TRL_NO_ID for unknown ones; id[0] is that of
 * its category.  s->score is the caller's. */
void trl_function_score(const trl_function_labels *f, const uint32_t *id, size_t n,
                        trl_function_scores *s);

/* Scratch of one thread; zero-initialise. */
typedef struct trl_function_chooser {
    trl_function_reader reader;
    double *score; /* [classes] */
    size_t cap_score;
    uint32_t *class; /* [nodes] the result */
    size_t cap_class;
} trl_function_chooser;

/* The best class of every node, 0 for words' nodes and the root, in c->class; of equal ones the
 * first.  TRL_ENOMEM. */
trl_status trl_function_choose(const trl_function_labels *f, const trl_tree *tree,
                               trl_function_chooser *c, trl_error *err);
void trl_function_chooser_fini(trl_function_chooser *c);

/* Sections of a file; f must not change until it is written.  TRL_ENOMEM. */
trl_status trl_function_labels_save(const trl_function_labels *f, trl_container_builder *b,
                                    trl_error *err);

/* If the file has any; the container must outlive f.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_function_labels_load(trl_function_labels *f, const trl_container *c, trl_error *err);

#endif
