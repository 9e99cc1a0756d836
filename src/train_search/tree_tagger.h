/* tree_tagger.h -- the tagger of a parser, learnt from the tags of a treebank.
 *
 * A maximum entropy Markov model over the rows of search/tag_words.h; training trees get the tags
 * of taggers of other folds (train_chain/tag_lesson.h).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_TAGGER_H
#define TRL_TREE_TAGGER_H

#include "base/pool.h"
#include "search/search_model.h"
#include "search/tag_words.h"
#include "train_search/search_examples.h"
#include "trellis/train.h"

typedef struct trl_tree_tagger_source {
    const trl_train_options *o;    /* threads, cancellation */
    const trl_search_model *model; /* names */
    const trl_tree_set *trees;
    const uint32_t *label;   /* [trees->labels] of names */
    const trl_tree_use *use; /* [trees->n] those of TRL_TREE_TAGS need not be tagged */
} trl_tree_tagger_source;

/* Learns from all trees but those of the fold (tree k of n is in fold k folds / n); folds = 0: from
 * all.
 * The model's bytes replace those of *out. */
trl_status trl_tree_tagger_train(const trl_tree_tagger_source *s, size_t folds, size_t fold,
                                 trl_buf *out, trl_error *err);

/* Tags the trees of the fold; tag[k][word] are labels of names.  A tag without a label there is
 * left as it was.  folds = 0: all trees. */
trl_status trl_tree_tagger_apply(const trl_tree_tagger_source *s, const trl_model *tagger,
                                 size_t folds, size_t fold, uint32_t *const *tag, trl_error *err);

#endif
