/* tree_labels.h -- what Penn Treebank labels mean to rules over trees. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_LABELS_H
#define TRL_TREE_LABELS_H

#include <stdbool.h>

#include "base/strtab.h"

/* Those before TRL_VERB are phrases, the rest parts of speech. */
typedef enum trl_category {
    TRL_UNKNOWN, /* not looked up yet */
    TRL_CLAUSE,  /* SQ, FRAG, PRN, TOP, "", ...: whatever is not named below */
    TRL_S,
    TRL_NP,
    TRL_NX, /* NX, NML, NAC, QP: parts of an NP */
    TRL_VP,
    TRL_PP,
    TRL_SBAR,
    TRL_ADJP,
    TRL_ADVP,
    TRL_PRT,
    TRL_CONJP,
    TRL_INTJ,
    TRL_LST,
    TRL_UCP,
    TRL_VERB,   /* MD VB VBD VBP VBZ */
    TRL_VERBAL, /* VBG VBN */
    TRL_INF,    /* TO */
    TRL_PREP,   /* IN RP */
    TRL_DET,    /* DT WDT PDT */
    TRL_ADVERB, /* RB RBR RBS */
    TRL_POSSESSIVE,
    TRL_COORD,
    TRL_QUOTE, /* opening */
    TRL_PUNCT,
    TRL_EMPTY, /* -NONE- */
    TRL_WORD   /* any other part of speech */
} trl_category;

static inline bool trl_is_leaf(trl_category cat)
{
    return cat >= TRL_VERB;
}

trl_category trl_category_of_phrase(trl_str label);
trl_category trl_category_of_leaf(trl_str label);

#endif
