/* span_pruner.h -- gains of spans and tags from the words around them, for the pruning pass.
 *
 * The coarse PCFG knows words only by their tags.  The span pruner multiplies its numbers by a gain
 * for every span and state, so that the pass becomes a CRF with the PCFG as its base,
 *
 *     p(t | x) ~ p_PCFG(t, x) exp sum_{items (i, j, s) of t} u(i, s) + v(j, s) + z(i, j, s),
 *
 * u, v, z being sums of weights of hashed features of the words around the ends of a span [HDK14];
 * states share weights in TRL_SPAN_PRUNER_CLASSES classes.  Single words have separate gains, by
 * tag.  Trained by conditional likelihood (span_pruner_train.c).  Only items made by words and
 * binary rules have gains.
 *
 * [HDK14] Hall, Durrett, Klein. Less grammar, more features. ACL 2014.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_SPAN_PRUNER_H
#define TRL_SPAN_PRUNER_H

#include "base/arena.h"
#include "model/container.h"
#include "grammar/observation.h"

#define TRL_SPAN_PRUNER_CLASSES 16 /* the most frequent phrases, complete and active */
#define TRL_SPAN_PRUNER_TAGS                                                                       \
    64 /* classes of tags: the most frequent ones have one each, the rest share */

enum { TRL_SPAN_PRUNER_END = 10, TRL_SPAN_PRUNER_PAIR = 9, TRL_SPAN_PRUNER_WORD = 9 };

typedef struct trl_span_pruner {
    uint8_t *class_of;             /* [coarse states]: below TRL_SPAN_PRUNER_CLASSES; of tags below
                                      TRL_SPAN_PRUNER_TAGS */
    uint32_t span_mask, word_mask; /* rows - 1, rows being powers of two */
    const int8_t
        *span; /* [span rows][TRL_SPAN_PRUNER_CLASSES] weights, in units; NULL: no span pruner */
    const int8_t *word; /* [word rows][TRL_SPAN_PRUNER_TAGS] */
    float unit;
    const double *exact; /* in training, instead of both: the weights, spans' first */
    int8_t *owned;       /* both tables, or NULL when they are in a file */
} trl_span_pruner;

/* Gains of a sentence, in an arena. */
typedef struct trl_gains {
    const uint8_t *class_of;
    float *log_span,
        *span; /* [cells][TRL_SPAN_PRUNER_CLASSES], log and linear; not set for single words */
    float *log_word, *word; /* [n][TRL_SPAN_PRUNER_TAGS] */
} trl_gains;

/* Numbers the classes by the counts of the grammar's states.  TRL_ENOMEM. */
trl_status trl_span_pruner_init(trl_span_pruner *s, const trl_grammar *coarse, trl_error *err);
void trl_span_pruner_fini(trl_span_pruner *s);

static inline size_t trl_span_pruner_weights(uint32_t span_mask, uint32_t word_mask)
{
    return ((size_t)span_mask + 1) * TRL_SPAN_PRUNER_CLASSES +
           ((size_t)word_mask + 1) * TRL_SPAN_PRUNER_TAGS;
}

/* Rounds weights (as `exact`) to units; s owns the result.  TRL_ENOMEM. */
trl_status trl_span_pruner_round(trl_span_pruner *s, const double *w, uint32_t span_mask,
                                 uint32_t word_mask, trl_error *err);

/* Writing and reading the sections "sieve" and "sieverow"; reading borrows from the container.
 * Without these sections there is no span pruner.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_span_pruner_save(const trl_span_pruner *s, trl_container_builder *b, trl_error *err);
trl_status trl_span_pruner_load(trl_span_pruner *s, const trl_container *c, trl_error *err);

/* The rows of features of an end of spans, of a span, of a word. */
void trl_span_pruner_end(const trl_seen *x, size_t at, bool right, uint32_t mask,
                         uint32_t row[TRL_SPAN_PRUNER_END]);
void trl_span_pruner_pair(const trl_seen *x, size_t i, size_t j, uint32_t mask,
                          uint32_t row[TRL_SPAN_PRUNER_PAIR]);
void trl_span_pruner_word(const trl_seen *x, size_t i, uint32_t mask,
                          uint32_t row[TRL_SPAN_PRUNER_WORD]);

/* TRL_ENOMEM. */
trl_status trl_span_pruner_gains(const trl_span_pruner *s, const trl_seen *x, trl_gains *out,
                                 trl_arena *arena, trl_error *err);

#endif
