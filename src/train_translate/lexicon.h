/* lexicon.h -- candidates of words, counts of orders, and where they occur.
 *
 * A target word (or NULL) is a candidate of a source word when it is its most frequent translation,
 * or makes up at least `count` and a share of at least `share` of them [WTM06, footnote 6].
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LEXICON_MAKE_H
#define TRL_LEXICON_MAKE_H

#include "train_translate/translate_corpus.h"
#include "translate/translate_model.h"

typedef struct trl_candidate_filter {
    uint32_t count;
    double share;
} trl_candidate_filter;

/* Fills candidate, candidate_end, targets and order of the model, which has the names of the
 * corpus, from pairs that are not held out; no classifier is set.  TRL_ENOMEM. */
trl_status trl_lexicon_make(trl_translate_model *m, const trl_translate_corpus *c,
                            const trl_bitext *text, const trl_candidate_filter *filter,
                            trl_error *err);

/* A word or a node of a pair. */
typedef struct trl_place {
    uint32_t pair, at;
} trl_place;

/* Where every source word, or every label of a node with an order, occurs in the training pairs. */
typedef struct trl_places {
    trl_place *place; /* of k: place[end[k-1] .. end[k]) */
    size_t *end;      /* [n] */
    size_t n;
} trl_places; /* zero-initialise; release with _fini */

trl_status trl_places_of_words(trl_places *p, const trl_translate_corpus *c, size_t n_words,
                               trl_error *err);
trl_status trl_places_of_labels(trl_places *p, const trl_translate_corpus *c, size_t n_labels,
                                trl_error *err);
void trl_places_fini(trl_places *p);

#endif
