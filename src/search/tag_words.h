/* tag_words.h -- attributes of words for the tagger of a parser [Rat96, table 1].
 *
 *     a word seen often   the word itself
 *     any other word      its first and last 1 to 4 bytes; whether it has a digit, an upper case
 *                         letter, a hyphen
 *     all                 the two words before and the two after
 *
 * The tags before are the chain's own (order 2).
 *
 * [Rat96] Ratnaparkhi. A maximum entropy model for part-of-speech tagging. EMNLP 1996.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TAG_WORDS_H
#define TRL_TAG_WORDS_H

#include "base/buf.h"
#include "base/strtab.h"

/* Words that are seen at least so often are their own attribute. */
#define TRL_TAG_FREQUENT 5

/* Room for the attributes of a sentence.  Zero-initialise; release with _fini. */
typedef struct trl_tag_words {
    const trl_strtab *words; /* borrowed */
    size_t n_frequent;       /* words 0 .. n_frequent-1 of the table are */
    trl_buf text;
    trl_attr *attr;
    size_t *begin;
    size_t attr_cap, begin_cap;
} trl_tag_words;

/* The attributes of the sentence, without labels, borrowed until the next call.  TRL_ENOMEM. */
trl_status trl_tag_words_make(trl_tag_words *t, const trl_str *word, size_t n, trl_items *out,
                              trl_error *err);
void trl_tag_words_fini(trl_tag_words *t);

#endif
