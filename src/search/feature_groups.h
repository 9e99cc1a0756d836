/* feature_groups.h -- which atomic features an inference has, as a readable table.
 *
 * A feature says "among these items there is one whose ... is X".  A table has one group of items a
 * line, and what is asked of them; `#` starts a comment:
 *
 *     children[1]    label word tag class     the first child
 *     children[-1]   label word tag class     the last child
 *     children[..2]  label                    any of the first two
 *     children[-2..] label                    any of the last two
 *     left[*]        label                    any item to the left of the new one
 *     words[*]       count                    how many words it has
 *
 *     children       the items below the new one
 *     grandchildren  the items below those
 *     left, right    the other roots of the state; the nearest is number 1
 *     passed         roots right of its first child that no later item can begin with, but one
 *                    before could have: those up to the newest root, from left to right
 *     words          the words of the new item
 *     modifiers      its words that are the head of no child
 *     before, after  the words to the left and to the right; the nearest is number 1
 *
 *     label          of the item: a phrase label, or the tag of a word
 *     word, tag      of the item's head
 *     class          the first two letters of that tag: NN of NNS
 *     cluster        of that word: the first 4, 6 and 10 bits of its path, and all; words without
 *                    a cluster have none
 *     count          the number of items is at least 2, 3, ... 12; only for [*]
 *
 * Where a numbered item is not there, its label, word, tag and class are "(none)".  Nothing depends
 * on the label of the new item: features of a state and a span serve the classifiers of all labels.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_FEATURE_GROUPS_H
#define TRL_FEATURE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trellis/sequence.h"

typedef enum trl_group_source {
    TRL_GROUP_CHILDREN,
    TRL_GROUP_GRANDCHILDREN,
    TRL_GROUP_LEFT,
    TRL_GROUP_RIGHT,
    TRL_GROUP_PASSED,
    TRL_GROUP_WORDS,
    TRL_GROUP_MODIFIERS,
    TRL_GROUP_BEFORE,
    TRL_GROUP_AFTER,
    TRL_GROUP_SOURCES
} trl_group_source;

typedef enum trl_group_question {
    TRL_ASK_LABEL,
    TRL_ASK_WORD,
    TRL_ASK_TAG,
    TRL_ASK_CLASS,
    TRL_ASK_CLUSTER,
    TRL_ASK_COUNT,
    TRL_ASK_QUESTIONS
} trl_group_question;

#define TRL_GROUPS_MAX 64
#define TRL_GROUP_COUNT_MOST 12
#define TRL_GROUP_NAME 40

typedef struct trl_feature_group {
    trl_group_source source;
    int from, to;              /* items from..to, 1-based, negative from the end; 0..0: all */
    bool numbered;             /* one item: its absence is a feature too */
    unsigned questions;        /* bits 1 << trl_group_question */
    char name[TRL_GROUP_NAME]; /* as written: "children[-2..]" */
} trl_feature_group;

typedef struct trl_feature_groups {
    trl_feature_group group[TRL_GROUPS_MAX];
    size_t n;
} trl_feature_groups;

/* Reads a table; `name` appears in messages.  TRL_EPARSE with name:row:col for an unknown group or
 * question, a group twice, too many. */
trl_status trl_feature_groups_parse(const char *name, trl_str text, trl_feature_groups *out,
                                    trl_error *err);

/* The built-in table.  Static. */
const char *trl_feature_groups_builtin(void);

const char *trl_group_question_name(trl_group_question q); /* static */

#endif
