/* viterbi_em.h -- estimation of the generative transducer by its best derivations.
 *
 * A derivation of a pair chooses for every source word one of its links or NULL, so that the tree
 * can put the target words into place (tree_align.h).  Its cost is that of the model, and SPURIOUS
 * for every target word that it leaves.  An iteration finds the best derivation of every pair that
 * is not held out, and counts.  Where pruning would make it worse than the one before, that one
 * stays; so
 *
 *     sum of costs of the derivations - log prior
 *
 * never rises.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_VITERBI_EM_H
#define TRL_VITERBI_EM_H

#include "train_translate/journal.h"
#include "train_translate/translate_corpus.h"
#include "translate/generative.h"

#define TRL_SPURIOUS 8.0

typedef struct trl_em_text {
    const trl_translate_corpus *corpus;
    const trl_bitext *text;
    const trl_links *links;
    size_t beam;
    trl_pool *pool;
    trl_journal *journal; /* derivations after every iteration, or NULL */
} trl_em_text;

/* Fills c0 from the transductions of the corpus.  TRL_ENOMEM. */
trl_status trl_em_start(trl_generative *g, const trl_em_text *t, trl_error *err);

/* `iterations` of EM from the counts in g, whose words are source words of the corpus and target
 * words of the text.  objective[k], or NULL: what never rises, after the derivations of iteration k
 * and before their counts; NaN of one that the journal had.  TRL_EMODEL: the journal is damaged;
 * TRL_ENOMEM. */
trl_status trl_viterbi_em(trl_generative *g, const trl_em_text *t, size_t iterations,
                          double *objective, trl_error *err);

#endif
