/* train_translate.h -- from transductions to a model: candidates, classifiers, the penalty. */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TRAIN_TRANSLATE_H
#define TRL_TRAIN_TRANSLATE_H

#include "train_translate/journal.h"
#include "train_translate/learn.h"
#include "train_translate/lexicon.h"
#include "train_translate/viterbi_em.h"

typedef struct trl_train_translate_options {
    trl_candidate_filter filter;
    trl_learn_options words;     /* of words; of orders, but these are never linear */
    size_t features;             /* of linear words: only the heaviest; 0: all */
    const trl_boost_model *like; /* of linear words: trl_keep_as_many; or NULL */
    bool tune_null;              /* trl_tune_null */
    trl_pool *pool;
    trl_journal *journal; /* finished classifiers, or NULL */
} trl_train_translate_options;

typedef struct trl_train_translate_result {
    size_t candidates;                  /* pairs of words */
    size_t word_classifiers, orders;    /* classifiers */
    uint64_t inferences, node_examples; /* examples of words: places and candidates; of orders */
    uint64_t compound;                  /* features with a parameter, of words */
    uint64_t order_compound;            /* of orders */
    double lambda[2]; /* the least and the largest chosen; 0: nothing held out, or linear */
    double held_f[2]; /* of the held-out translations, exponents 1 and 2; NaN: not tuned */
    double held_loss; /* mean of the held-out inferences of words; NaN: none */
} trl_train_translate_result;

/* Fills the model, whose names are those of the corpus; heads, parser and settings are the
 * caller's.  TRL_EMODEL: the journal is damaged; TRL_ENOMEM, TRL_EIO. */
trl_status trl_train_translate(trl_translate_model *m, const trl_translate_corpus *c,
                               const trl_bitext *text, const trl_train_translate_options *o,
                               trl_train_translate_result *result, trl_error *err);

/* Fills the model with a generative transducer instead: all translations are candidates, EM of
 * `iterations`.  TRL_ENOMEM. */
trl_status trl_train_generative(trl_translate_model *m, const trl_em_text *t, size_t iterations,
                                trl_train_translate_result *result, trl_error *err);

/* Puts the classifiers of all jobs together as m->boost, names given by `name`; parts move. */
typedef struct trl_learnt_parts {
    trl_learnt *learnt; /* [n] */
    size_t n;
    trl_buf *name; /* [n] the names of its parts, each with a NUL after it */
} trl_learnt_parts;
trl_status trl_learnt_merge(trl_translate_model *m, trl_learnt_parts *parts, trl_error *err);

#define TRL_SIZES 64 /* classes of classifiers by the power of two of their places */

typedef struct trl_tune_text {
    const trl_translate_corpus *corpus;
    const trl_bitext *text;
    const unsigned char *size; /* [classifiers] < TRL_SIZES; not for trl_tune_null */
} trl_tune_text;

/* Chooses for the classifiers of each size the lambda with the least loss of the held-out words (of
 * the held-out orders for those), keeps the trees up to it, and says the least and the largest
 * of them and the mean loss.  TRL_ENOMEM. */
trl_status trl_tune_lambda(trl_translate_model *m, const trl_tune_text *t,
                           trl_train_translate_result *result, trl_error *err);

/* Chooses m->null by the held-out pairs: the largest sum of F with the exponents 1 and 2
 * (trellis/translation.h), and says what F are then.  TRL_ENOMEM. */
trl_status trl_tune_null(trl_translate_model *m, const trl_tune_text *t, trl_pool *pool,
                         trl_train_translate_result *result, trl_error *err);

/* cut.c: keeps the `most` heaviest weights of the linear classifiers of words.  TRL_ENOMEM. */
trl_status trl_keep_heaviest(trl_translate_model *m, size_t n_parts, size_t most, trl_error *err);

/* The same for each of them: as many as the classifier of the same name has features in `like`, or
 * none where it has no such classifier. */
trl_status trl_keep_as_many(trl_translate_model *m, size_t n_parts, const trl_boost_model *like,
                            trl_error *err);

#endif
