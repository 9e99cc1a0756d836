/* tag_words.h -- words as the tagger of a parser sees them.
 *
 * A row for every word: itself and, where there are clusters, what the question cluster asks of it
 * (span_features.h; "-" where there is no answer).  The tagger's template is the shipped one for
 * parts of speech: what [Rat96, table 1] asks of words, there with spelling for rare words alone,
 * here for all; small letters, shapes and pairs of words.
 *
 * [Rat96] Ratnaparkhi. A maximum entropy model for part-of-speech tagging. EMNLP 1996.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TAG_WORDS_H
#define TRL_TAG_WORDS_H

#include "search/span_features.h"

/* Room for the rows of a sentence.  Zero-initialise with `names`; release with _fini. */
typedef struct trl_tag_words {
    const trl_search_names *names; /* borrowed */
    trl_str *cell;
    size_t cell_cap;
} trl_tag_words;

/* The rows of the sentence, borrowed until the next call; the last column is the tag, unless tag is
 * NULL.  TRL_ENOMEM. */
trl_status trl_tag_words_make(trl_tag_words *t, const trl_str *word, const trl_str *tag, size_t n,
                              trl_rows *out, trl_error *err);
void trl_tag_words_fini(trl_tag_words *t);

/* The template, appended; out->failed: out of memory. */
void trl_tag_words_template(const trl_search_names *names, trl_buf *out);

#endif
