/* lexicon.h -- words and the tags they may have; the classes of unknown words [KM03].
 *
 * Word ids: 0 .. n_words-1 the words of the training data, by first occurrence.  Every word also
 * has a class (capitals, digits, dashes, suffixes; whether it starts the sentence), so that unknown
 * and rare words can be told apart: ids 0 .. n_classes-1, class 0 being "any other", given to
 * classes never seen.  Read-only after _finish.
 *
 * p(word | tag) comes from p(tag | word) by Bayes' rule [KM03].  b is the tag t without its
 * annotation, c(.) counts tokens, r(.) tokens of rare words only, k the word's class:
 *
 *     p(b | w)    = c(w, b) / c(w)                              w frequent
 *                   (c(w, b) + r(k, b) / r(k)) / (c(w) + 1)     w rare or unknown
 *     q(t | b)    = c(t) / c(b)                                 w frequent
 *                   (r(k, t) + 5 c(t) / c(b)) / (r(k, b) + 5)   w rare or unknown
 *     p(t | w, b) = ((1 - u) c(w, t) + 2 q(t | b)) / (c(w, b) + 2)
 *                   q(t | b)                                  t not seen
 *     p(w | t)    = p(b | w) p(t | w, b) max(c(w), 1) / c(t)
 *
 * In a smoothed grammar every word counts as rare here, but of the class of a frequent one only the
 * base tags of at least 5 % count: so any word may have a tag it was not seen with.
 *
 * A tag that the grammar has, though it was not seen (grammar_marks.c), has half a token; u is the
 * sum of q(t | b) over those of b, 0 for most.
 *
 * For every word the tags' probabilities sum to 1, so the sum over known words of p(w | t) is 1 on
 * average over the tokens, not for each t.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LEXICON_H
#define TRL_LEXICON_H

#include "grammar/grammar.h"

/* The words of a sentence, borrowed. */
typedef struct trl_words {
    const trl_str *word;
    size_t n;
} trl_words;

typedef struct trl_lexicon {
    trl_strtab words, classes;
    uint32_t *word_count; /* [n_words] */
    uint32_t rare; /* words seen at most this often may have any tag their class was seen with */

    /* tag states (of the grammar's) that word w was seen with, ascending: tag[first[w] ..
     * first[w+1]-1], with counts; likewise for classes, counted over rare words only (over words
     * seen once when `rare` is 0, over all when none is rare); class 0 counts all of these words */
    uint32_t *word_first, *word_tag;
    double *word_tag_count;
    uint32_t *class_first, *class_tag;
    double *class_tag_count;

    double *state_count; /* [n_states]: tokens of each tag state, below 1: not seen; 0 for others */
    double *state_rare;  /* [n_states]: of them, rare words */
    size_t n_states;
    double n_tokens;
    void *building;
    struct trl_lexicon_bases *bases; /* the same by base tag, made by _finish and _load */
} trl_lexicon;

/* TRL_ENOMEM.  Release with _fini also after a failed _add or _finish. */
trl_status trl_lexicon_init(trl_lexicon *x, uint32_t rare, trl_error *err);
void trl_lexicon_fini(trl_lexicon *x);

/* Counts the words of one encoded tree.  TRL_ENOMEM. */
trl_status trl_lexicon_add(trl_lexicon *x, const trl_btree *t, const trl_str *word, trl_error *err);
/* `g` is the grammar of these trees.  TRL_EINVAL when no word was added; TRL_ENOMEM. */
trl_status trl_lexicon_finish(trl_lexicon *x, const trl_grammar *g, trl_error *err);

/* The id or TRL_NO_ID; the class (never fails).  `at`: position in the sentence. */
uint32_t trl_lexicon_word(const trl_lexicon *x, trl_str word);
uint32_t trl_lexicon_class(const trl_lexicon *x, trl_str word, size_t at);

/* The name of a word's class, at most 63 bytes: "UNK-LC-ed", ... */
void trl_word_class(trl_str word, size_t at, char name[64]);

/* log p(word | tag state) for all tag states the word may have: for a frequent word those whose
 * base tag it was seen with (annotated variants it was not seen with are smoothed towards the base
 * tag's [KM03]); for a rare or unknown one, and in a smoothed grammar for all, also those of its
 * class.  Fills tags[] (ascending) and
 * logp[] (both with room for n_states) and returns how many; at least 1. */
size_t trl_lexicon_tags(const trl_lexicon *x, const trl_grammar *g, uint32_t word, uint32_t cls,
                        uint32_t *tags, double *logp);

/* Sections with a two-character prefix; loading copies and checks every index.  `x` must live until
 * the container is written.  TRL_EINVAL (prefix), TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_lexicon_save(const trl_lexicon *x, const char *prefix, trl_container_builder *b,
                            trl_error *err);
trl_status trl_lexicon_load(trl_lexicon *x, const char *prefix, const trl_grammar *g,
                            const trl_container *c, trl_error *err);

/* log p(rule | parent) by relative frequency; rules with count 0 (relaxed) count as if seen
 * `smooth` times (-inf when that is 0).  binary_logp[n_binary], unary_logp[n_unary]. */
void trl_pcfg_rules(const trl_grammar *g, double smooth, double *binary_logp, double *unary_logp);

#endif
