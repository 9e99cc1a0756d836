/* translate.h -- translation by transducing source trees [WTM06].
 *
 * The source sentence is parsed and its tree made binary; every word becomes a target word or
 * NULL, every node keeps or swaps its children; what the leaves then spell is the translation.
 * Each of these inferences costs c = ln(1 + exp(-h)), h the score of a classifier that sees the
 * whole source sentence; the cheapest translations are found by chart search (docs/translation.md).
 *
 * A model is read-only and may be shared by threads; each thread needs its own translator.
 *
 * [WTM06] Wellington, Turian, Melamed. Scalable purely-discriminative training for word and tree
 * transducers. AMTA 2006.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TRANSLATE_H
#define TRELLIS_TRANSLATE_H

#include "trellis/buf.h"
#include "trellis/model.h"
#include "trellis/options.h"
#include "trellis/trees.h"

TRL_BEGIN_DECLS

typedef struct trl_translate_model trl_translate_model;
typedef struct trl_translator trl_translator;

/* ---- training -------------------------------------------------------------------------------- */

/* Parallel text: files as for trl_bitext_read. */
typedef struct trl_translate_data {
    const char *source, *target; /* target NULL: source has `source ||| target` */
    const char *links;  /* a line of Pharaoh's i-j a pair; NULL: the text is aligned here (HMM,
                           grow-diag-final-and) */
    const char *trees;  /* of the source sentences that are not empty, in order; NULL: they are
                           parsed by `parser` */
    const char *parser; /* a parser's model, which becomes part of the translator's; NULL: it can
                           translate trees only */
    const char *heads;  /* rules for heads; NULL: built in */
} trl_translate_data;

typedef enum trl_translate_words {
    TRL_WORDS_BOOSTED,    /* boosted trees for every pair of words */
    TRL_WORDS_L2,         /* logistic regression with a quadratic penalty */
    TRL_WORDS_FREQUENT,   /* always the most frequent translation */
    TRL_WORDS_GENERATIVE, /* words and orders: a top-down lexicalised transducer, by Viterbi EM */
} trl_translate_words;

/* Something has been done; called by one thread. */
typedef void (*trl_translate_note_fn)(void *ctx, const char *what);

/* Begin with trl_translate_options_default(): later versions have more members. */
typedef struct trl_translate_options {
    size_t size; /* of the struct, as the program was compiled */
    trl_translate_words words;
    uint32_t min_count; /* a translation of a word is a candidate when it is its most frequent */
    double min_share;   /* one, or occurs min_count times and with this share: 3, 0.05 */
    size_t tune;        /* pairs that choose lambda and are not trained on; SIZE_MAX: a tenth,
                           1000 at most */
    double lambda;      /* the end of the path of lambda: 0.5 */
    double decay;       /* of lambda: 0.8 */
    double rate;        /* as in trl_boost_options: 0.3 */
    size_t sample;      /* as in trl_boost_options: 4096 */
    double c2;          /* of TRL_WORDS_L2: 1 */
    size_t features;    /* of TRL_WORDS_L2: keep only so many; 0: all */
    size_t iterations;  /* of TRL_WORDS_GENERATIVE: 5 */
    bool drop_lost; /* words whose links the trees cannot keep become NULL, as in the paper; else
                       they are translated by one of them all the same */
    size_t beam;    /* links to permutations: items of a node; 0: all; 40 */
    size_t memory;  /* bytes of features of a classifier before a file is used: 1 GiB */
    uint64_t seed;
    size_t threads;             /* 0: one per processor; changes nothing but the time */
    trl_translate_note_fn note; /* or NULL */
    void *note_ctx;
    size_t tune_null; /* with so many tuning pairs or more, what leaving a word out costs is tuned
                         to the F of their translations: 100; 0: never */
    const char *checkpoint; /* a file to which links, trees and classifiers are added as they are
                               finished, or NULL; when the disk is full, a note is given and
                               training goes on */
    bool resume;            /* what `checkpoint` has is not made again: the same model */
    bool no_intercept; /* of TRL_WORDS_L2: nothing but features says how frequent a candidate is */
    const char *features_of; /* of TRL_WORDS_L2: a model file or NULL; every classifier keeps as
                                many features as that of the same words has there */
} trl_translate_options;
TRL_API void trl_translate_options_init(trl_translate_options *o, size_t size); /* sizeof *o */

static inline trl_translate_options trl_translate_options_default(void)
{
    trl_translate_options o;
    trl_translate_options_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_translate_option_table(void);

typedef struct trl_translate_result {
    uint64_t pairs, tuned;               /* pairs of sentences; those that chose lambda */
    uint64_t words, linked, links, kept; /* source words, those with links; links, those that the
                                            trees can keep */
    uint64_t orders[3];  /* inner nodes: with a child without target words, kept, swapped */
    uint64_t candidates; /* pairs of words */
    uint64_t classifiers, inferences; /* of words: classifiers; examples of them */
    uint64_t node_classifiers, node_examples;
    uint64_t features, node_features; /* with a parameter, of all classifiers */
    double lambda, tune_loss;         /* chosen, the least; mean loss of an inference there; NaN: no
                                         tuning */
    double seconds;
    double lambda_most;         /* the largest lambda chosen */
    double null_add, null_most; /* the cost c of NULL became c + null_add, and at most null_most (0:
                                   no limit) */
    double tune_f[2]; /* F of the tuning translations, exponents 1 and 2; NaN: no tuning of NULL */
} trl_translate_result;

/* Trains and writes a model file, atomically.  TRL_EPARSE with path:row:col: files of different
 * length, links to words that are not there, trees of other sentences; TRL_EINVAL for options out
 * of range; TRL_EMODEL for a parser's model that is none, and for a checkpoint of other data or
 * options; TRL_EIO; TRL_ENOMEM. */
TRL_API trl_status trl_translate_train(const trl_translate_data *data,
                                       const trl_translate_options *o, const char *model,
                                       trl_translate_result *result, trl_error *err);

/* ---- models ---------------------------------------------------------------------------------- */

/* TRL_EIO, TRL_EMODEL, TRL_ENOMEM. */
TRL_API trl_status trl_translate_model_open(const char *path, trl_translate_model **out,
                                            trl_error *err);
/* The n bytes of a model file, borrowed as by trl_model_from_memory; a trl_model of kind "mt",
 * borrowed. */
TRL_API trl_status trl_translate_model_from_memory(const void *bytes, size_t n,
                                                   trl_translate_model **out, trl_error *err);
TRL_API trl_status trl_translate_model_of(const trl_model *m, trl_translate_model **out,
                                          trl_error *err);
TRL_API void trl_translate_model_free(trl_translate_model *m); /* accepts NULL */

typedef struct trl_translate_info {
    const char *settings; /* how it was trained: one `name value` pair a line */
    bool has_parser;      /* it translates words; else trees only */
    size_t source_words, target_words, candidates, classifiers;
} trl_translate_info;
TRL_API trl_translate_info trl_translate_model_info(const trl_translate_model *m);

/* ---- translating ----------------------------------------------------------------------------- */

/* Begin with trl_translate_limits_default(): later versions have more members. */
typedef struct trl_translate_limits {
    size_t size;  /* of the struct, as the program was compiled */
    double ratio; /* items that cost more than this times the cheapest of their node are dropped;
                     0: none is; 16 */
    size_t most;  /* items kept of a node; 0: all; 40 */
    size_t nbest; /* translations, at least 1 */
    bool explain; /* say what was chosen */
} trl_translate_limits;
TRL_API void trl_translate_limits_init(trl_translate_limits *o, size_t size); /* sizeof *o */

static inline trl_translate_limits trl_translate_limits_default(void)
{
    trl_translate_limits o;
    trl_translate_limits_init(&o, sizeof o);
    return o;
}

/* The options that have a name. */
TRL_API const trl_option_table *trl_translate_limit_table(void);

typedef struct trl_translated {
    trl_str text; /* words separated by blanks */
    double score; /* minus the cost: 0 is the best */
} trl_translated;

/* Borrowed from the translator until its next sentence. */
typedef struct trl_translations {
    const trl_translated *best; /* [n] best first, no text twice */
    size_t n;
    trl_str explanation; /* lines: the tree, words and their candidates, nodes and their orders */
    const char *warning; /* of the parser; NULL: no problem */
} trl_translations;

/* Borrows the model.  TRL_EINVAL for limits out of range; TRL_EMODEL for a damaged parser in it;
 * TRL_ENOMEM. */
TRL_API trl_status trl_translator_new(const trl_translate_model *m, const trl_translate_limits *l,
                                      trl_translator **out, trl_error *err);
TRL_API void trl_translator_free(trl_translator *t); /* accepts NULL */

/* Translates n words (0: an empty translation), or a tree.  TRL_EINVAL for words when the model has
 * no parser; TRL_ENOMEM. */
TRL_API trl_status trl_translate_sentence(trl_translator *t, const trl_str *word, size_t n,
                                          trl_translations *out, trl_error *err);
TRL_API trl_status trl_translate_tree(trl_translator *t, const trl_tree *tree,
                                      trl_translations *out, trl_error *err);

/* How often the word classifiers are right on aligned text. */
typedef struct trl_word_accuracy {
    uint64_t words, right; /* source words; those whose best candidate is the linked word, or NULL
                              where there is none */
    uint64_t known, known_right; /* those with several candidates, the right one among them */
} trl_word_accuracy;
TRL_API trl_status trl_translate_score_words(const trl_translate_model *m,
                                             const trl_translate_data *data, size_t threads,
                                             trl_word_accuracy *out, trl_error *err);

TRL_END_DECLS

#endif
