/* translate_corpus.h -- parallel text with links and source trees, as transductions.
 *
 * Every source word gets the target word that it becomes: the one whose link the tree keeps
 * (tree_align.h); where no link of it is kept, the linked word that is most often linked to it, or
 * NULL (`drop_lost`); NULL where there is no link at all.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSLATE_CORPUS_H
#define TRL_TRANSLATE_CORPUS_H

#include "align/bitext.h"
#include "base/pool.h"
#include "translate/tree_align.h"
#include "translate/word_features.h"

typedef struct trl_translate_pair {
    trl_source source;    /* n_words = 0: the source side is empty */
    uint32_t *target;     /* [n_words] of the bitext's target words; TRL_NO_ID: NULL */
    unsigned char *order; /* [n_nodes] trl_node_order */
    bool held;            /* for tuning, not for training */
} trl_translate_pair;

typedef struct trl_translate_counts {
    uint64_t words, linked; /* source words, those with links */
    uint64_t links, kept;   /* kept by the trees */
    uint64_t orders[3];     /* inner nodes by trl_node_order */
} trl_translate_counts;

typedef struct trl_translate_corpus {
    trl_translate_pair *pair; /* [n] */
    size_t n, n_held;
    trl_translate_counts counts;
} trl_translate_corpus; /* zero-initialise; release with _fini */

/* What a corpus is made of; all borrowed. */
typedef struct trl_translate_text {
    const trl_bitext *text;
    trl_treebank *trees;    /* of the source sentences that are not empty, in order */
    const char *trees_path; /* for messages; or NULL */
    const trl_links *links;
    const trl_head_rules *heads;
    trl_source_names *names; /* words and labels are added; `fixed`: they are not */
    bool fixed;
    size_t held; /* pairs for tuning, spread evenly */
    bool drop_lost;
    size_t beam; /* of tree_align.h */
    trl_pool *pool;
} trl_translate_text;

/* TRL_EPARSE, with the place, for a tree of another sentence, too few or too many trees; TRL_EIO;
 * TRL_ENOMEM. */
trl_status trl_translate_corpus_make(trl_translate_corpus *c, const trl_translate_text *t,
                                     trl_error *err);
void trl_translate_corpus_fini(trl_translate_corpus *c);

/* Prints of all that training sees: two corpora, or texts, with the same print are the same. */
uint64_t trl_translate_corpus_print(const trl_translate_corpus *c);
uint64_t trl_bitext_print(const trl_bitext *b);

/* Links for a bitext from a file of Pharaoh's format.  TRL_EPARSE for bad links and for another
 * number of lines; TRL_EIO; TRL_ENOMEM. */
trl_status trl_links_read(trl_links *l, const char *path, const trl_bitext *b, trl_error *err);
/* The same of text in memory. */
trl_status trl_links_memory(trl_links *l, const trl_text *text, const trl_bitext *b,
                            trl_error *err);

#endif
