/* observation.h -- what features observe of a word: itself, its class, its cluster, its usual tag,
 * ...
 *
 * Every type of observation is a number per position, 0 where there is nothing to observe;
 * positions before and after the sentence have the values TRL_SEEN_START and TRL_SEEN_END for every
 * type.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_OBSERVE_H
#define TRL_OBSERVE_H

#include "grammar/lexicon.h"

enum trl_seen_type {
    TRL_SEEN_WORD,    /* a word of the training data */
    TRL_SEEN_LOWER,   /* the same in lower case */
    TRL_SEEN_CLASS,   /* class of unknown words */
    TRL_SEEN_FORM,    /* the word when it is frequent, else its class */
    TRL_SEEN_TAG,     /* the base tag the word, or its class, has most often */
    TRL_SEEN_SUFFIX2, /* last two and three bytes */
    TRL_SEEN_SUFFIX3,
    TRL_SEEN_CLUSTER, /* cluster, whole and by the first bits of its path */
    TRL_SEEN_CLUSTER4,
    TRL_SEEN_CLUSTER6,
    TRL_SEEN_TYPES,
    /* of a span, not of a word */
    TRL_SEEN_LENGTH = TRL_SEEN_TYPES, /* in classes: 1 2 3 4 5 6-7 8-10 11-15 16-20 21- */
    TRL_SEEN_HEAVY,                   /* length class and distance to the end [CJ05 after JOH01] */
    TRL_SEEN_SHAPE, /* capitals, small letters, digits, punctuation as it is [HDK14] */
    TRL_SEEN_SHORT, /* the length below 3, else nothing [SM05b] */
};

#define TRL_SEEN_START 1u
#define TRL_SEEN_END 2u
#define TRL_SEEN_FIRST 3u /* the first free value of every type */
#define TRL_SEEN_MARGIN 3 /* positions -3 .. n+2 may be read */

typedef struct trl_observer {
    const trl_grammar *g;
    const trl_lexicon *x;
    uint32_t frequent; /* words seen at least this often have a form of their own */
    trl_strtab lower, suffix2, suffix3;
    uint32_t *lower_of; /* [words] */
    uint32_t *tag_of_word, *tag_of_class;
    /* The cluster's number + 1 at three depths (whole, 4 bits, 6 bits), 0: unknown; NULL: none. */
    void (*cluster)(const void *self, trl_str word, uint32_t at[3]);
    const void *clusters;
} trl_observer;

/* Derives everything from lexicon and grammar (both borrowed).  TRL_ENOMEM. */
trl_status trl_observer_init(trl_observer *o, const trl_grammar *g, const trl_lexicon *x,
                             uint32_t frequent, trl_error *err);
void trl_observer_fini(trl_observer *o);

typedef struct trl_seen {
    size_t n;
    uint32_t *at;   /* [TRL_SEEN_TYPES][n + 2 TRL_SEEN_MARGIN] */
    uint8_t *shape; /* [n]: one byte a word */
} trl_seen;

static inline size_t trl_seen_stride(size_t n)
{
    return n + 2 * TRL_SEEN_MARGIN;
}

/* Fills s (memory: trl_seen_size bytes at s->at, owned by the caller). */
size_t trl_seen_size(size_t n);
void trl_observe(const trl_observer *o, const trl_str *word, size_t n, void *memory, trl_seen *s);

/* The value of `type` at position p, -TRL_SEEN_MARGIN <= p < n + TRL_SEEN_MARGIN. */
static inline uint32_t trl_seen_at(const trl_seen *s, int type, ptrdiff_t p)
{
    return s->at[(size_t)type * trl_seen_stride(s->n) + (size_t)(p + TRL_SEEN_MARGIN)];
}

/* Of the span (i, j). */
uint32_t trl_seen_span(const trl_seen *s, int type, size_t i, size_t j);

#endif
