/* label_rules.h -- private: the constraint object.
 *
 * Rules about two neighbours, and about the first and the last label, are masks; all others are
 * automata.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LABEL_RULES_H
#define TRL_LABEL_RULES_H

#include "chain/label_automaton.h"
#include "model/chain_model.h"
#include "trellis/constraint.h"

#define TRL_RULES_MAX_STATES 1000000

struct trl_constraint {
    trl_label_set set;
    char *names;        /* what set.name points into */
    bool *pair;         /* [L][L] allowed */
    bool *first, *last; /* [L] allowed */
    bool has_pairs;     /* some pair is not */
    trl_label_automaton *automaton;
    size_t n_automata, cap;
    size_t max_states;
};

/* For L labels; borrows nothing. */
trl_status trl_constraint_of_labels(const trl_strview *labels, size_t L, trl_constraint **out,
                                    trl_error *err);
trl_status trl_constraint_of(const trl_chain_model *m, trl_constraint **out, trl_error *err);

/* Adds the rules that the model keeps, lines `rule RULE` of its settings; *any: there are some.
 * TRL_EMODEL for a rule that is none, TRL_ENOMEM. */
trl_status trl_constraint_of_settings(trl_constraint *c, const char *settings, bool *any,
                                      trl_error *err);

/* The scheme of that name, or that a rule, which need be none, asks for; TRL_SCHEME_NONE: no
 * scheme.
 */
trl_scheme trl_scheme_named(trl_str name);
trl_scheme trl_scheme_of_rule(trl_str rule);

/* Label number of a name; TRL_OUTSIDE: there is none. */
uint32_t trl_constraint_label(const trl_constraint *c, trl_str name);

/* Only what `seen` has: [L + 1][L + 1], row L what is first, column L what is last. */
trl_status trl_constraint_only(trl_constraint *c, const bool *seen, trl_error *err);

/* Labels with '|' between them into set[L]; after a '!' all others.  False: *bad is not a label. */
bool trl_labels_of_text(const trl_constraint *c, trl_str text, bool *set, trl_str *bad);

/* Appends the label as a rule has it: in quotes when it needs them.  False: it cannot be written,
 * having both kinds of quotes, or there is no memory. */
bool trl_label_put(trl_buf *out, trl_str label);

#endif
