/* bigrams.h -- which words are neighbours, and how often.
 *
 * Pairs are counted within sentences; the edge of a sentence stands before its first and after its
 * last word and is not a word itself.  Afterwards words are ranked: most frequent first, words of
 * the same count by their bytes, so that the order of the sentences does not matter. A word below
 * the minimum count, or without any pair that is kept, is left out; pairs with it are not counted.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CLUSTER_BIGRAMS_H
#define TRL_CLUSTER_BIGRAMS_H

#include "base/strtab.h"
#include "text/input.h"

typedef struct trl_pair {
    uint32_t word, count;
} trl_pair;

typedef struct trl_bigrams {
    trl_strtab word; /* by rank once finished */
    uint64_t *count; /* [word.n] occurrences */
    size_t count_cap;
    uint64_t tokens, sentences, n_pairs; /* pairs: also with edges; of kept words once finished */
    size_t left_out;                     /* words not kept */

    uint64_t *key, *times; /* hash table of pairs while counting: (first << 32 | second) + 1,
                              TRL_NO_ID for an edge */
    size_t n_keys, n_slots;

    /* Once finished: pairs of word a on side s (0: what follows it, 1: what precedes it) are
     * pair[s][begin[s][a] .. begin[s][a + 1]), itself left out: that count is self[a]. */
    size_t *begin[2];
    trl_pair *pair[2];
    uint32_t *self;     /* [word.n] */
    uint32_t *edge[2];  /* [word.n] how often a sentence ends or begins with it */
    uint32_t *total[2]; /* [word.n] all pairs on that side, including those with itself and edges */
} trl_bigrams;          /* zero-initialise */

/* One sentence.  TRL_ENOMEM: only good for _fini. */
trl_status trl_bigrams_add(trl_bigrams *b, const trl_str *word, size_t n, trl_error *err);

/* A whole file: one sentence a line, words separated by blanks; or columns, of which `column`
 * (0 the first) has the words.  TRL_EPARSE with path:row:col for a NUL byte, ragged columns or
 * too few of them; TRL_EIO, TRL_ENOMEM. */
trl_status trl_bigrams_text(trl_bigrams *b, trl_input *in, trl_error *err);
trl_status trl_bigrams_columns(trl_bigrams *b, trl_input *in, size_t column, trl_error *err);

/* Ranks the words and lists the pairs.  TRL_EINVAL when no pair is left or there are 2^32 or
 * more; TRL_ENOMEM.  After a failure b is only good for _fini. */
trl_status trl_bigrams_finish(trl_bigrams *b, uint64_t min_count, trl_error *err);
void trl_bigrams_fini(trl_bigrams *b);

#endif
