/* constraint.h -- what a labelling may be: rules about labels, for taggers.
 *
 * Under a constraint all answers of a tagger are those of the model's distribution given that the
 * labelling obeys every rule:
 *
 *     p(y | rules) = p(y) [y obeys] / sum of p(y') over all y' that obey,
 *
 * exactly, for models of order 1 and 2, decoded globally or locally (p is then the locally
 * normalised distribution itself, and log Z the logarithm of the probability that the rules are
 * obeyed).  Rules become automata over labels; a tagger multiplies those that it needs.
 *
 * A constraint belongs to the labels of one model.  Build it, then use it: it is only read by
 * taggers, of any number of threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_CONSTRAINT_H
#define TRELLIS_CONSTRAINT_H

#include "trellis/model.h"
#include "trellis/scheme.h"
#include "trellis/tagger.h"

TRL_BEGIN_DECLS

typedef struct trl_constraint trl_constraint;

/* In place of a label: what is before the first token and after the last one. */
#define TRL_OUTSIDE UINT32_MAX

/* No rules yet; borrows nothing.  TRL_EINVAL for a model that is not a chain, TRL_ENOMEM. */
TRL_API trl_status trl_constraint_new(const trl_model *m, trl_constraint **out, trl_error *err);
TRL_API void trl_constraint_free(trl_constraint *c); /* accepts NULL */

/* Every function below adds a rule to those that are there.  Labels are numbers of the model.
 * TRL_EINVAL for labels that it does not have, and when no labelling is left; TRL_ENOMEM.  After a
 * failure the constraint can only be freed. */

/* Well-formed in the scheme, as trl_scheme_check has it.  TRL_EINVAL when nothing but O is left. */
TRL_API trl_status trl_constraint_scheme(trl_constraint *c, trl_scheme scheme, trl_error *err);

/* `label` never right after `before`. */
TRL_API trl_status trl_constraint_forbid(trl_constraint *c, uint32_t before, uint32_t label,
                                         trl_error *err);

/* Right after `before` only these; without TRL_OUTSIDE among them it is never the last. */
TRL_API trl_status trl_constraint_follow(trl_constraint *c, uint32_t before, const uint32_t *labels,
                                         size_t n, trl_error *err);

/* Somewhere `label` comes right after `before`. */
TRL_API trl_status trl_constraint_require(trl_constraint *c, uint32_t before, uint32_t label,
                                          trl_error *err);

/* Only pairs of neighbours, first and last labels that the labelled data of the file have.
 * TRL_EPARSE, TRL_EIO as trl_reader_rows. */
TRL_API trl_status trl_constraint_seen(trl_constraint *c, const char *path, trl_format format,
                                       trl_error *err);

/* The whole labelling matches a regular expression over labels (docs/constraints.md).  TRL_EPARSE
 * with the column; TRL_EINVAL, with the number, when its automaton has too many states. */
TRL_API trl_status trl_constraint_pattern(trl_constraint *c, trl_str pattern, trl_error *err);

/* At most `most` spans of the type: chunks as trl_chunks_of finds them, or, of a label without a
 * prefix, runs of it.  0: none at all. */
TRL_API trl_status trl_constraint_max_spans(trl_constraint *c, trl_str type, size_t most,
                                            trl_error *err);

/* At most one span of every type. */
TRL_API trl_status trl_constraint_one_span(trl_constraint *c, trl_error *err);

/* A rule as text: "scheme iob2", "forbid A B", "follow A B|C", "require A B", "pattern O* A",
 * "max-spans PER=2", "one-span"; <s> and </s> are what is before and after a sequence; an empty
 * line and one that starts with '#' are no rules.  TRL_EPARSE with the column. */
TRL_API trl_status trl_constraint_rule(trl_constraint *c, trl_str rule, trl_error *err);

/* The rules that the model keeps since it was trained, if any. */
TRL_API trl_status trl_constraint_kept(trl_constraint *c, const trl_model *m, trl_error *err);

/* How many states a sequence may need under several automata at once: pairs of a state and a
 * label, of all tokens together; 1,000,000 unless told.  The best labellings need few: an automaton
 * is used only after a labelling offended it.  Marginals need all of them. */
TRL_API trl_status trl_constraint_max_states(trl_constraint *c, size_t n, trl_error *err);

/* ---- taggers --------------------------------------------------------------------------------- */

/* From the next answer on; NULL: no rules, nor those that the model keeps.  Borrowed until the
 * tagger is freed or gets another one.  Until then a tagger obeys the rules of its model.  Answers
 * then also return TRL_ECONFLICT, with token and reason, when no labelling obeys, and TRL_EINVAL,
 * with the number, when too many states are needed. */
TRL_API trl_status trl_tagger_constrain(trl_tagger *t, const trl_constraint *c, trl_error *err);

/* About the current sequence, until the next one is set; what was said before about the tokens
 * stays.  A token has one of these labels. */
TRL_API trl_status trl_tagger_allow(trl_tagger *t, size_t position, const uint32_t *labels,
                                    size_t n, trl_error *err);

/* Tokens from .. to-1 are a span of the type, no more and no less. */
TRL_API trl_status trl_tagger_fix_span(trl_tagger *t, size_t from, size_t to, trl_str type,
                                       trl_error *err);

/* The probability that tokens from .. to-1 are a span of the type, no more and no less.  As
 * trl_tagger_marginals; also without rules. */
TRL_API trl_status trl_tagger_span(trl_tagger *t, size_t from, size_t to, trl_str type, double *p,
                                   trl_error *err);

/* ---- files of allowed labels ----------------------------------------------------------------- */

/* Lines `SEQUENCE TOKEN =LABELS`, `SEQUENCE FROM-TO =LABELS` or `SEQUENCE FROM-TO TYPE`, numbers
 * from 1, LABELS with '|' between them; `!LABELS` are those that a token does not have.  Empty
 * lines and those that start with '#' are skipped. */
typedef struct trl_allowed_list trl_allowed_list;

/* TRL_EPARSE with the place, TRL_EIO, TRL_ENOMEM. */
TRL_API trl_status trl_allowed_list_read(const char *path, const trl_model *m,
                                         trl_allowed_list **out, trl_error *err);
TRL_API trl_status trl_allowed_list_memory(const char *name, const void *bytes, size_t n,
                                           const trl_model *m, trl_allowed_list **out,
                                           trl_error *err);
TRL_API void trl_allowed_list_free(trl_allowed_list *a); /* accepts NULL */

/* Applies what it says of sequence number k, from 1, to the tagger's current one.  TRL_EPARSE, with
 * the place, for a token that is not there. */
TRL_API trl_status trl_allowed_list_apply(const trl_allowed_list *a, uint64_t k, trl_tagger *t,
                                          trl_error *err);

/* The largest number of a sequence, and its line; 0: there is none. */
TRL_API uint64_t trl_allowed_list_last(const trl_allowed_list *a, uint64_t *row);

/* The same for one token: cell is LABELS with '|' between them, !LABELS, or "_" for any label.
 * TRL_EPARSE for a label that the model does not have. */
TRL_API trl_status trl_tagger_allow_text(trl_tagger *t, size_t position, trl_str cell,
                                         trl_error *err);

TRL_END_DECLS

#endif
