/* latent_posteriors.h -- what a model's grammar with substates of states expects of a sentence. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LATENT_POSTERIORS_H
#define TRL_LATENT_POSTERIORS_H

#include "parser/tree_model.h"

/* A sentence, pruned. */
typedef struct trl_latent_question {
    const trl_words *words;
    const trl_given_tags *tags; /* of the words; or NULL */
    const trl_skeleton *fine;   /* of the fine grammar */
    double max_work;            /* chart.h; 0: no limit */
} trl_latent_question;

/* Posteriors of constituents over the spans and labels that the skeleton has, with labels of the
 * fine grammar, the mean of the model's grammars; out->n is 0 where it has none, where none has a
 * tree, or where that would take more than max_work.  In the arena.  TRL_ENOMEM. */
trl_status trl_latent_posteriors(const trl_tree_model *m, const trl_latent_question *x,
                                 trl_brackets *out, trl_arena *arena, trl_error *err);

#endif
