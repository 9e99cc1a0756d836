/* word_tagger.h -- the tagger of a parser: what words alone say of their tags.
 *
 * A chain model, learnt from the tags of the treebank, whose probabilities count as factors:
 *
 *     p(tree | words) ~ exp(score(tree)) * product over its words of p(tag | words)
 *
 * in the charts that prune as well as in the one that is parsed, and likewise while the weights are
 * learnt, there by taggers that have not seen the tree.  Tags of less than TRL_TAG_LEAST are ruled
 * out.  A tagger sees a row for every word: itself and, where there are clusters, the first 4, 6
 * and 10 bits of its cluster's path and all of it ("-" where there is none).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_WORD_TAGGER_H
#define TRL_WORD_TAGGER_H

#include "cluster/clusters.h"
#include "parser/given_tags.h"
#include "trellis/tagger.h"

#define TRL_TAG_LEAST 1e-3

/* Zero-initialise: no tagger. */
typedef struct trl_word_tagger {
    trl_model *model;                 /* NULL: there is none */
    size_t n_labels;                  /* of the tagger */
    uint32_t *label;                  /* [n_labels] of the fine grammar; TRL_NO_ID: not a tag */
    const trl_cluster_view *clusters; /* borrowed */
} trl_word_tagger;

/* The tagger of a file's bytes, which stay borrowed, as are the clusters.  TRL_EMODEL, TRL_ENOMEM:
 * t is then as it was. */
trl_status trl_word_tagger_open(trl_word_tagger *t, trl_str bytes, const trl_given_grammars *g,
                                const trl_cluster_view *clusters, trl_error *err);
void trl_word_tagger_fini(trl_word_tagger *t);

/* Rows of words, the cells reused; release `cell` with trl_free. */
typedef struct trl_tag_rows {
    trl_str *cell;
    size_t cap;
} trl_tag_rows;

/* The rows of a sentence, borrowed until the next call; the last column is the tag, unless tag is
 * NULL.  TRL_ENOMEM. */
trl_status trl_tag_rows_make(trl_tag_rows *r, const trl_cluster_view *clusters, const trl_words *w,
                             const trl_str *tag, trl_rows *out, trl_error *err);

/* The template of a tagger, appended: the shipped one for parts of speech and, with `clusters`,
 * those of the word and its neighbours. */
void trl_tag_rows_template(bool clusters, trl_buf *out);

/* Finds tags; scratch of one thread.  Zero-initialise; release with _fini. */
typedef struct trl_tag_finder {
    const trl_model *model; /* of `tagger` */
    trl_tagger *tagger;
    trl_tag_rows rows;
    double *p;
    trl_given_tag *tag; /* [n] those found, by word; the score is log p */
    size_t n, cap_p, cap_tag;
} trl_tag_finder;
void trl_tag_finder_fini(trl_tag_finder *f);

/* Finds the tags of a sentence: f->tag.  TRL_ENOMEM. */
trl_status trl_tag_find(trl_tag_finder *f, const trl_word_tagger *t, const trl_words *w,
                        trl_error *err);

#endif
