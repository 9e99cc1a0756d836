/* parseval_match.h -- two sides of a sentence against each other. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PARSEVAL_MATCH_H
#define TRL_PARSEVAL_MATCH_H

#include "score/parseval_side.h"
#include "trellis/parseval.h"

/* Scratch memory, reused; zero-initialise. */
typedef struct trl_matcher {
    struct trl_match_key *key; /* live test brackets by span */
    int32_t *mark;             /* for crossing, and the words that may be quotes */
    size_t cap_key, cap_mark;
} trl_matcher;

void trl_matcher_fini(trl_matcher *m);

/* Gives the test words the tags of the gold words: one by one when both have the same number of
 * words, or the same number without those deleted for length (traces); otherwise nothing is
 * changed. */
void trl_side_copy_tags(const trl_side *gold, trl_side *test, const trl_label_table *labels);

typedef enum trl_alignment {
    TRL_ALIGNED,
    TRL_NO_WORDS,     /* in the test tree */
    TRL_LENGTHS,      /* a, b: numbers of words */
    TRL_WORDS_DIFFER, /* at words a and b of their leaves */
} trl_alignment;

/* Two trees of a sentence and the table of their labels. */
typedef struct trl_side_pair {
    trl_side *gold;
    trl_side *test;
    const trl_label_table *labels;
} trl_side_pair;

/* Deletes words and says whether the remaining ones are the same.  TRL_ENOMEM. */
trl_status trl_side_align(trl_matcher *m, const trl_side_pair *pair, trl_alignment *how, size_t *a,
                          size_t *b, trl_error *err);

/* The words left on one side, in order; some come twice, see parseval_match.c. */
typedef struct trl_side_walk {
    const trl_side *side;
    size_t leaf; /* of the word last returned */
    uint32_t copy;
} trl_side_walk; /* set `side`, all else zero */

const trl_leaf *trl_side_next(trl_side_walk *w); /* NULL: no more */

/* Fills before, start, end and live.  *n_live: how many brackets count.  TRL_ENOMEM. */
trl_status trl_side_settle(trl_side *s, const trl_label_table *labels, uint32_t *n_live,
                           trl_error *err);

/* Counts in two aligned sides: match, gold, test, crossing, words, tags of *out; calls
 * trl_side_settle and marks the brackets that match.  TRL_ENOMEM. */
trl_status trl_side_match(trl_matcher *m, const trl_side_pair *pair, bool labelled,
                          trl_parseval_sentence *out, trl_error *err);

/* Appends both sides as a table (parseval_details.c).  They are settled, and, when `scored`,
 * matched.  When memory runs out, out->failed is set. */
void trl_side_details(const trl_side *gold, const trl_side *test, const trl_label_table *labels,
                      bool scored, trl_buf *out);

#endif
