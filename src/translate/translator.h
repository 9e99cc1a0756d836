/* translator.h -- translations of source trees by a model.  One for every thread. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRANSLATOR_H
#define TRL_TRANSLATOR_H

#include "translate/transducer.h"
#include "translate/translate_model.h"

typedef struct trl_tree_translator {
    const trl_translate_model *m; /* borrowed */
    trl_arena arena;              /* of one sentence */
    trl_feature_keys keys;
    uint32_t *mark; /* [features of boost] the last thing that had it */
    size_t n_mark;
    uint32_t stamp;
    uint64_t totals[2]; /* nodes kept and swapped in training */
} trl_tree_translator;  /* zero-initialise; release with _fini */

/* A target of trl_word_option that is not a word of the model is the source word at place
 * target - targets.n, as it is. */
typedef struct trl_tree_translation {
    const trl_word_option *option; /* as in trl_transducer */
    const uint32_t *option_end;
    const double (*order)[2];
    const trl_transduced *best; /* [n] */
    size_t n;
} trl_tree_translation;

trl_status trl_tree_translator_init(trl_tree_translator *t, const trl_translate_model *m,
                                    trl_error *err);
void trl_tree_translator_fini(trl_tree_translator *t);

/* Translates a tree, made with the names of the model.  All of *out is valid until the next call.
 * TRL_ENOMEM. */
trl_status trl_tree_translate(trl_tree_translator *t, const trl_source *s,
                              const trl_translate_limits *limits, trl_tree_translation *out,
                              trl_error *err);

/* Marks the features of a word, or of an inner node.  False: out of memory.  Then h of a candidate
 * of the word; `total`: the counts of all of them. */
bool trl_translator_mark_word(trl_tree_translator *t, const trl_source *s, size_t word);
bool trl_translator_mark_node(trl_tree_translator *t, const trl_source *s, size_t node);
double trl_translator_h(const trl_tree_translator *t, const trl_candidate *x, uint64_t total);

#endif
