/* latent_posteriors.h -- what a model's grammar with substates of states expects of a sentence. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LATENT_POSTERIORS_H
#define TRL_LATENT_POSTERIORS_H

#include "parser/tree_model.h"

/* Posteriors of constituents over the spans and labels that a skeleton of the fine grammar has, with
 * labels of the fine grammar; out->n is 0 where the model has no such grammar, or that has no tree.
 * tags: of the words, or NULL.  In the arena.  TRL_ENOMEM. */
trl_status trl_latent_posteriors(const trl_tree_model *m, const trl_words *x,
                                 const trl_given_tags *tags, const trl_skeleton *fine,
                                 trl_brackets *out, trl_arena *arena, trl_error *err);

#endif
