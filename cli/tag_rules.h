/* tag_rules.h -- the constraints of 'trellis tag': from options to what taggers obey. */
/* SPDX-License-Identifier: MIT */
#ifndef CLI_TAG_RULES_H
#define CLI_TAG_RULES_H

#include "options.h"
#include "trellis/constraint.h"

struct tag_sequence;

/* As the user gave them. */
typedef struct tag_rule_options {
    int scheme; /* of tag_scheme_names */
    string_list forbid, follow, require, pattern, max_spans;
    bool one_span;
    const char *seen, *rules, *constraints; /* files; NULL: none */
    size_t column;                          /* 0: none */
    size_t max_states;                      /* 0: as the library has it */
    int unsatisfiable;                      /* of tag_unsatisfiable_names */
} tag_rule_options;

extern const char *const tag_scheme_names[], *const tag_unsatisfiable_names[];

/* Ready for taggers, any number of them. */
typedef struct tag_rules {
    trl_constraint *constraint;
    trl_allowed_list *allowed; /* NULL: none */
    size_t column;             /* 0: none */
    bool lenient;              /* sequences that cannot obey are labelled without */
} tag_rules;

/* Whether there are any. */
bool tag_rules_given(const tag_rule_options *o);

/* False: said.  To be followed by fini in any case. */
bool tag_rules_init(tag_rules *r, const tag_rule_options *o, const trl_model *m, trl_format format);
void tag_rules_fini(tag_rules *r);

/* A tagger obeys them from now on. */
trl_status tag_rules_use(const tag_rules *r, trl_tagger *t, trl_error *err);

/* What column and file say about the sequence that the tagger has. */
trl_status tag_rules_about(const tag_rules *r, const struct tag_sequence *seq, trl_tagger *t,
                           trl_error *err);

/* Puts the sequence's place into the error; returns its code. */
trl_status tag_rules_place(const struct tag_sequence *seq, trl_error *err);

/* Warns when the file speaks of more sequences than there were. */
void tag_rules_end(const tag_rules *r, const tag_rule_options *o, uint64_t n_sequences,
                   uint64_t n_free);

#endif
