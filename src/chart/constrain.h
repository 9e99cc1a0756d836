/* constrain.h -- a user's constraints on a sentence's tree, applied to its skeleton.
 *
 *     tag      word i has the tag X
 *     span     words i .. j-1 are a constituent.  One word always is: its tag
 *     label    ... and one labelled X; one word may have X as its tag instead
 *     not      words i .. j-1 are not a constituent. One word: only its tag is over it
 *
 * Labels are those without annotation.  Every tree of the edited skeleton obeys all constraints,
 * and every tree of the old one that obeys them is still there.  An active state is not a
 * constituent.  Pruning does not know the constraints: when no tree is left, a lower threshold may
 * help.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CONSTRAIN_H
#define TRL_CONSTRAIN_H

#include "chart/chart.h"

typedef enum trl_constraint_type {
    TRL_CONSTRAIN_TAG,
    TRL_CONSTRAIN_SPAN,
    TRL_CONSTRAIN_LABEL,
    TRL_CONSTRAIN_NOT,
} trl_constraint_type;

typedef struct trl_constraint {
    trl_constraint_type type;
    size_t i, j;    /* of a tag: i alone */
    uint32_t label; /* in g->labels; TRL_NO_ID: a label that no tree has */
} trl_constraint;

/* What is known of a sentence. */
typedef struct trl_constraints {
    const trl_constraint *list;
    size_t n_list;
} trl_constraints;

/* Edits s, whose arrays may be replaced by others in the arena, and filters it.  *complete is
 * false when no tree is left.  A fixed tag that the word cannot have by the lexicon is added.
 * TRL_EINVAL: a span that is not in the sentence; TRL_ENOMEM. */
trl_status trl_constrain(const trl_grammar *g, const trl_constraints *known, trl_skeleton *s,
                         bool *complete, trl_arena *arena, trl_error *err);

#endif
