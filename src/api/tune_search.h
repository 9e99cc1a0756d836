/* tune_search.h -- private: the settings of a search and one run of each. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TUNE_SEARCH_H
#define TRL_TUNE_SEARCH_H

#include "api/folds.h"
#include "api/held_out.h"
#include "trellis/tune.h"

/* A setting, the models that its runs have made, and its last run. */
typedef struct trl_tune_trial {
    trl_tune_run run; /* c, c2, c1, objective, template_name, passes before it has run */
    const trl_tune_template *tpl;     /* NULL: that of the options */
    const trl_train_options *variant; /* the options with the variant's in them */
    bool first;                       /* of a path along c: there is nothing before it */
    trl_buf *model;                   /* [splits]; empty: none */
} trl_tune_trial;

typedef struct trl_tune_search {
    trl_tune_options o;
    trl_train_options train;
    trl_tune_trial *trial; /* [n] in the order in which they run */
    size_t n;
    trl_folds folds;            /* k is 0 without */
    uint8_t *held;              /* [folds.n] */
    size_t splits;              /* folds.k, or 1 */
    trl_train_options *variant; /* [n_variants], `train` with changes; NULL: none */
    char **text;                /* [n_variants]: what they borrow */
} trl_tune_search;

/* All settings.  TRL_ENOMEM, TRL_EINVAL (variants). */
trl_status trl_tune_search_init(trl_tune_search *s, trl_error *err);
void trl_tune_search_fini(trl_tune_search *s);
void trl_tune_trial_forget(const trl_tune_search *s, trl_tune_trial *t); /* its models */

/* Options of a run of the trial on all data. */
trl_train_options trl_tune_search_options(const trl_tune_search *s, const trl_tune_trial *t);

/* Do runs start from the weights of those before?  Sdca cannot. */
bool trl_tune_search_is_warm(const trl_tune_search *s, const trl_tune_trial *t);

/* Trains and scores on every split, t->run and t->model; from `before` (may be t itself), or NULL.
 * max_iter 0: as the setting says.  A run that fails numerically has the score NaN and no models.
 */
trl_status trl_tune_search_run(trl_tune_search *s, trl_tune_trial *t, trl_tune_trial *before,
                               uint64_t max_iter, trl_error *err);

#endif
