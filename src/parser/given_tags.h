/* given_tags.h -- tags that a user gives to words, with weights: each adds its log weight to the
 * score of a tree that has it, and a word with tags given has one of these.
 *
 *     p(tree) ~ exp(score(tree)) * product of the weights of its tags
 *
 * The coarse chart, the PCFG that prunes after it and the chart that is parsed all count them. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_GIVEN_TAGS_H
#define TRL_GIVEN_TAGS_H

#include "chart/chart.h"
#include "chart/coarse.h"
#include "grammar/observation.h"

/* A word, its tag (a label of the fine grammar) and the log of the weight. */
typedef struct trl_given_tag {
    size_t word;
    uint32_t label;
    double score;
} trl_given_tag;

/* Those of one sentence; zero-initialise. */
typedef struct trl_given_tags {
    size_t n;              /* words; 0: no tags are given */
    size_t n_labels;       /* of the fine grammar */
    double *label;         /* [n][n_labels]; -inf: not given */
    trl_tag_scores coarse; /* the same by coarse state */
    uint8_t *given;        /* [n]: any? */
    double *state;         /* [n][coarse states] */
    size_t cap_label, cap_given, cap_state;
} trl_given_tags;

typedef struct trl_given_grammars {
    const trl_grammar *fine, *coarse;
} trl_given_grammars;

typedef struct trl_given_list {
    const trl_given_tag *tag;
    size_t n;
} trl_given_list;

/* Is the label that of a part of speech? */
bool trl_grammar_has_tag(const trl_grammar *g, uint32_t label);

/* Replaces what t held; every word and label is in range.  TRL_EINVAL: a label that is not a tag of
 * both grammars, or that the word was given before; TRL_ENOMEM. */
trl_status trl_given_tags_set(trl_given_tags *t, const trl_given_grammars *g, size_t n,
                              const trl_given_list *list, trl_error *err);
void trl_given_tags_fini(trl_given_tags *t);

/* Tags of a sentence of n words. */
typedef struct trl_given_words {
    size_t n;
    trl_given_list list;
} trl_given_words;

/* The same for words that have none by `first` (NULL: all words); the others keep those of `first`,
 * which is of as many words or of none. */
trl_status trl_given_tags_join(trl_given_tags *t, const trl_given_grammars *g,
                               const trl_given_tags *first, const trl_given_words *others,
                               trl_error *err);

/* Adds the scores to those of the tag items of a chart over the fine grammar.  Of no effect without
 * tags. */
void trl_given_tags_add(const trl_given_tags *t, const trl_grammar *fine, const trl_skeleton *s,
                        double *item);

/* The same from a list, by word. */
void trl_given_list_add(const trl_given_list *list, const trl_grammar *fine, const trl_skeleton *s,
                        double *item);

/* The best tags in place of the usual ones of words, for features. */
void trl_given_tags_observe(const trl_given_tags *t, trl_seen *seen);
void trl_given_list_observe(const trl_given_list *list, trl_seen *seen);

/* A tree that was made without them: a word whose tag was not given gets the likeliest that was. */
void trl_given_tags_keep(const trl_given_tags *t, trl_node *node, size_t n_nodes);

#endif
