/* term_index.h -- the scores of all classifiers of a model at once, from the few features that an
 * example has.
 *
 * The trees of a classifier are a sum over distinct compound features: conjunctions of atomic
 * features, some negated.  Those of negated ones alone hold unless one of the features is there:
 * all of them are counted in advance, and every feature has a list of those that it takes back.
 * Every other one waits at the rarest of its features that must be there, and is looked at only
 * when that is.  Nothing is visited that the example's features do not lead to.
 *
 * A model numbers its features by falling count, so the rarest has the largest number; in another
 * order the scores are the same and take longer.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_BOOST_TERM_INDEX_H
#define TRL_BOOST_TERM_INDEX_H

#include "boost/model.h"

/* A compound feature that waits: literals literal, then rest[begin .. end) must hold, too. */
typedef struct trl_boost_waiting {
    double theta;
    uint32_t part;
    uint32_t literal;
    uint32_t begin, end;
} trl_boost_waiting;

/* One of negated features alone. */
typedef struct trl_boost_absence {
    double theta;
    uint32_t part;
} trl_boost_absence;

/* Zero-initialise; release with _fini.  Not changed by scoring. */
typedef struct trl_boost_term_index {
    size_t n_parts, n_features;
    double *base; /* [n_parts] the scores of an example without features */
    trl_boost_waiting *waiting;
    uint64_t *waiting_end; /* [n_features] */
    uint32_t *rest;
    trl_boost_absence *absence;
    size_t n_absences;
    uint32_t *taken_back; /* absences */
    uint64_t *taken_end;  /* [n_features] */
} trl_boost_term_index;

/* TRL_ENOMEM; TRL_EMODEL: too large. */
trl_status trl_boost_term_index_make(const trl_boost_model *m, trl_boost_term_index *out,
                                     trl_error *err);
void trl_boost_term_index_fini(trl_boost_term_index *x);

/* Working memory of one thread.  Zero-initialise; release with _fini. */
typedef struct trl_boost_present {
    unsigned char *holds; /* [2 n_features] of literals: terms.h */
    uint32_t *seen;       /* [n_absences] the example that took it back */
    uint32_t now;
} trl_boost_present;

bool trl_boost_present_init(trl_boost_present *s, const trl_boost_term_index *x);
void trl_boost_present_fini(trl_boost_present *s);

/* The scores of an example into h[n_parts].  feature[n]: its features, each below n_features, some
 * perhaps several times; on return each once, in the first places. */
void trl_boost_scores(const trl_boost_term_index *x, trl_boost_present *s, uint32_t *feature,
                      size_t n, double *h);

#endif
