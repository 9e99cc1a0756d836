/* learn.h -- classifiers over the same examples: those of the candidates of a word, or that of the
 * order of nodes with a label.
 *
 * Rows of features are made once and shared.  Whatever learns, the result is ensembles of trees:
 * a linear model is an intercept and a tree of one split for every weight.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSLATE_LEARN_H
#define TRL_TRANSLATE_LEARN_H

#include "translate/translate_model.h"

typedef enum trl_word_learner {
    TRL_LEARN_BOOSTED,
    TRL_LEARN_L2,
    TRL_LEARN_NOTHING
} trl_word_learner;

typedef struct trl_learn_options {
    trl_word_learner learner;
    trl_boost_options boost; /* of TRL_LEARN_BOOSTED; where lambda ends is set here */
    double lambda_end;       /* where lambda ends */
    double c2;               /* of TRL_LEARN_L2: loss + c2 ||w||^2, the intercept apart */
    bool no_intercept;       /* of TRL_LEARN_L2: it is 0 */
    size_t memory;           /* bytes of features before a file is used */
} trl_learn_options;

/* Examples, row by row.  Zero-initialise; release with _fini. */
typedef struct trl_example_rows {
    size_t n, *end; /* [n] */
    uint32_t *feature;
    size_t n_active, end_cap, feature_cap;
    trl_key_index index; /* keys to features, in order of appearance */
    uint64_t *key;       /* [index.n] the reverse */
    uint32_t *seen;      /* [index.n] the row it was last seen in, + 1 */
    size_t key_cap, seen_cap;
} trl_example_rows;

trl_status trl_example_rows_add(trl_example_rows *r, const trl_feature_keys *keys, trl_error *err);
void trl_example_rows_fini(trl_example_rows *r);

/* What was learnt: part k is the classifier of answers k, its features numbers of `key`. */
typedef struct trl_learnt {
    trl_boost_part *part; /* [n] own, own_point, n_points, best are set, name is not */
    size_t n;
    uint64_t *key; /* [n_keys] */
    size_t n_keys;
    uint64_t examples; /* rows times classifiers */
} trl_learnt;          /* zero-initialise; release with _fini */

/* y: [n_classifiers][rows] +1 or -1, each with both.  TRL_ENOMEM, TRL_EIO. */
trl_status trl_learn(trl_learnt *out, const trl_example_rows *r, const signed char *y,
                     size_t n_classifiers, const trl_learn_options *o, trl_error *err);
void trl_learnt_fini(trl_learnt *l);

/* As bytes, appended; false: out of memory.  Back: TRL_EMODEL for bytes that are damaged;
 * TRL_ENOMEM; keys are not looked at. */
bool trl_learnt_save(const trl_learnt *l, trl_buf *out);
trl_status trl_learnt_load(trl_learnt *l, const void *p, size_t n, trl_error *err);

/* One linear classifier: w[n_features] and w[n_features], the intercept, of `n` rows. */
typedef struct trl_linear_problem {
    size_t n, n_features;
    const size_t *end;
    const uint32_t *feature;
    const signed char *y;
    double c2;
    bool no_intercept; /* trl_linear_fit leaves it at 0 */
} trl_linear_problem;
/* F and its gradient g, both with n_features + 1 elements at least. */
double trl_linear_objective(const trl_linear_problem *p, const double *w, double *g);
/* Minimises from w = 0; w has n_features + 65 elements, 64-byte aligned.  TRL_ENOMEM. */
trl_status trl_linear_fit(const trl_linear_problem *p, double *w, trl_error *err);

#endif
