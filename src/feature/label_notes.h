/* label_notes.h -- what is known of the labels of a corpus: its tokens' notes (text/label_text.h).
 *
 * Every different text is a note, parsed once; a token has the number of its note.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_NOTES_H
#define TRL_LABEL_NOTES_H

#include "base/strtab.h"
#include "text/label_text.h"

typedef struct trl_label_notes {
    trl_strtab texts; /* of all notes */
    uint8_t *kind;    /* [notes] a trl_label_kind */
    double *weight;   /* [notes] of the token */
    size_t *begin;    /* [notes + 1] into label and p */
    uint32_t *label;
    double *p;       /* 1, or the probability of a soft label */
    uint32_t *of;    /* [tokens] */
    uint32_t *every; /* [labels] 0, 1, ..; see trl_label_notes_close */
    size_t n_labels;
    bool partial, soft, weights; /* some token has a set or none; a distribution; a weight */
    size_t kind_cap, weight_cap, begin_cap, label_cap, p_cap, of_cap;
    trl_label_text text;
} trl_label_notes;

/* What is known of one token. */
typedef struct trl_label_note {
    trl_label_kind kind;
    size_t n;
    const uint32_t *label; /* [n] those that it may have */
    const double *p;       /* [n] SOFT: their probabilities; else NULL */
    double weight;
} trl_label_note;

/* TRL_ENOMEM. */
trl_status trl_label_notes_new(trl_label_notes **out, trl_error *err);
void trl_label_notes_free(trl_label_notes *x); /* accepts NULL */

/* The number of a note; new names of labels are added to `labels`.  TRL_EPARSE with a sentence, and
 * in *col the place in the text, from 0; TRL_ENOMEM. */
trl_status trl_label_notes_add(trl_label_notes *x, trl_strtab *labels, trl_str text,
                               uint32_t *number, size_t *col, trl_error *err);

/* Token number t gets that note; tokens come in their order.  False: no memory. */
bool trl_label_notes_set(trl_label_notes *x, size_t t, uint32_t number);

/* A label that stands in where only one can be named: the first one, or the likeliest; of a token
 * of which nothing is known, 0. */
uint32_t trl_label_notes_stand_in(const trl_label_notes *x, uint32_t number);

/* When all tokens are there: from here on notes can be asked for. */
trl_status trl_label_notes_close(trl_label_notes *x, size_t n_labels, trl_error *err);

static inline trl_label_note trl_label_note_of(const trl_label_notes *x, uint32_t number)
{
    const size_t at = x->begin[number];
    const bool any = x->kind[number] == TRL_LABEL_ANY;
    return (trl_label_note){.kind = (trl_label_kind)x->kind[number],
                            .n = any ? x->n_labels : x->begin[number + 1] - at,
                            .label = any ? x->every : x->label + at,
                            .p = x->kind[number] == TRL_LABEL_SOFT ? x->p + at : NULL,
                            .weight = x->weight[number]};
}

/* Is there a note that is more than a known label of weight 1?  NULL: no. */
static inline bool trl_label_notes_matter(const trl_label_notes *x)
{
    return x && (x->partial || x->soft || x->weights);
}

/* The tokens first .. first + n: is each of them a known label of weight 1? */
bool trl_label_notes_plain(const trl_label_notes *x, size_t first, size_t n);

#endif
