/* word_features.h -- what classifiers of translation see of the source sentence [WTM06, section 4],
 * as numbers.
 *
 * A feature is a key of 64 bits, its kind and a value; its name has the same parts:
 *
 *     word-1=the      words and tags in a window of two words around the focus word; word+1= (no
 *     tag+2=NN        value): the sentence ends before that
 *     any.word=not    words and tags of the whole sentence
 *     top.label=NP    dependencies (source.h): top.label, parent.label, parent.word,
 *                     dependent.label, dependent.word, head.label
 *     node=NP         of a node: its label and its children's, left=DT, right=NP; the features of
 *     left.word=the   the heads of its children have left. or right. before them
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WORD_FEATURES_H
#define TRL_WORD_FEATURES_H

#include "search/span_features.h"
#include "translate/source.h"

#define TRL_WINDOW 2

/* The features of a word, or of an inner node, in place of those that `out` held; one may be there
 * several times.  False: out of memory. */
bool trl_word_features(const trl_source *s, size_t word, trl_feature_keys *out);
bool trl_node_features(const trl_source *s, size_t node, trl_feature_keys *out);

/* The name of a key, appended; the key of a name, false: it has none. */
bool trl_word_key_name(const trl_source_names *names, uint64_t key, trl_buf *out);
/* Is this a key of these names? */
bool trl_word_key_sound(const trl_source_names *names, uint64_t key);
bool trl_word_key_of(const trl_source_names *names, trl_str name, uint64_t *key);

#endif
