/* tag_lesson.h -- a tagger learnt from the tags of a treebank, with some of its trees left out.
 *
 * A parser that is to live with a tagger's mistakes must learn with them: its training trees get
 * the tags of taggers that have not seen them, each fold those of a tagger of all other folds.
 * Folds are whole stretches of the treebank: new text is of other documents, too.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TAG_LESSON_H
#define TRL_TAG_LESSON_H

#include "base/buf.h"
#include "grammar/tree_set.h"
#include "trellis/dataset.h"
#include "trellis/train.h"

/* By cross-validation on the words of MASC up to 15 words: docs/results/boosting.md. */
#define TRL_TAG_PENALTY 0.25

typedef struct trl_tag_lesson {
    const trl_tree_set *trees;
    size_t folds, fold; /* the trees of this fold are left out; folds = 0: none */
    /* The rows of a tree's words, the last column being tag[]; borrowed until the next call. */
    trl_status (*rows)(void *ctx, const trl_tree *t, const trl_str *tag, trl_rows *out,
                       trl_error *err);
    void *ctx;
    const trl_buf *template;       /* what the tagger asks of the rows */
    const trl_train_options *from; /* the parser's: seed, cancellation */
} trl_tag_lesson;

/* Whether a tree is in a fold: tree k of n is in fold k folds / n. */
static inline bool trl_tree_in_fold(size_t tree, size_t n, size_t folds, size_t fold)
{
    return tree * folds / n == fold;
}

/* tag[word] = the tag that the tree has there. */
void trl_tree_read_tags(const trl_tree *t, trl_str *tag);

/* Learns by the objective, optimiser, limits and threads of `how`; the other options are the
 * lesson's.  The model's bytes replace those of *out.  TRL_ECANCEL, TRL_ENOMEM and what
 * trl_train_chain says. */
trl_status trl_tag_lesson_learn(const trl_tag_lesson *l, trl_train_options how, trl_buf *out,
                                trl_error *err);

#endif
