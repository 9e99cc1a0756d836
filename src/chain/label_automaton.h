/* label_automaton.h -- deterministic automata over labels: what a labelling may be.
 *
 * An automaton reads a labelling from left to right.  A labelling is accepted when the state after
 * its last label is final; a missing transition (TRL_DEAD) ends in refusal.  States from which no
 * final state can be reached are left out, so that a live state always has a future.
 *
 * Spans of a type X are chunks as trl_chunks_of finds them in labels PREFIX-X.  Labels without a
 * prefix are spans too: neighbours of the same label are one.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_AUTOMATON_H
#define TRL_LABEL_AUTOMATON_H

#include "text/scheme_tag.h"
#include "trellis/status.h"

#define TRL_DEAD UINT32_MAX

typedef struct trl_label_automaton {
    size_t n_states, L; /* state 0 is the first */
    uint32_t *next;     /* [n_states][L]; TRL_DEAD: not allowed */
    bool *final;        /* [n_states] */
} trl_label_automaton;

/* The labels of a model, taken apart. */
typedef struct trl_label_set {
    size_t L;
    trl_str *name; /* [L] */
    trl_scheme_tag *tag;
} trl_label_set;

/* Whether j, right after i, goes on with the span of i. */
bool trl_label_continues(const trl_label_set *s, size_t i, size_t j);

/* Whether the label is part of a span of the type. */
bool trl_label_is_of(const trl_label_set *s, size_t y, trl_str type);

/* Room for n states, all transitions dead, no state final.  TRL_ENOMEM. */
trl_status trl_automaton_init(trl_label_automaton *a, size_t n, size_t L, trl_error *err);
void trl_automaton_fini(trl_label_automaton *a);

/* At most `most` spans of the type: 3 most + 1 states.  TRL_ENOMEM. */
trl_status trl_automaton_max_spans(trl_label_automaton *a, const trl_label_set *s, trl_str type,
                                   size_t most, trl_error *err);

/* Somewhere label `second` follows label `first`.  TRL_ENOMEM. */
trl_status trl_automaton_bigram(trl_label_automaton *a, size_t L, uint32_t first, uint32_t second,
                                trl_error *err);

/* The labellings that a regular expression over labels describes (docs/constraints.md).
 * TRL_EPARSE with the column; TRL_EINVAL, with the number, for more than max_states states, and
 * when nothing matches; TRL_ENOMEM. */
trl_status trl_automaton_pattern(trl_label_automaton *a, const trl_label_set *s, trl_str pattern,
                                 size_t max_states, trl_error *err);

/* Makes transitions to states without a future dead.  False: state 0 is one of them.  TRL_ENOMEM
 * through *st. */
bool trl_automaton_trim(trl_label_automaton *a, trl_status *st, trl_error *err);

bool trl_automaton_accepts(const trl_label_automaton *a, const uint32_t *y, size_t n);

#endif
