/* tagger.h -- labelling sequences with a chain model.
 *
 * A tagger is the working memory of one thread: load a sequence, then ask any number of questions
 * about it.  Nothing is allocated any more once the longest sequence has been seen.  Attributes the
 * model does not know are ignored (and counted).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRELLIS_TAGGER_H
#define TRELLIS_TAGGER_H

#include "trellis/model.h"

TRL_BEGIN_DECLS

typedef struct trl_tagger trl_tagger;

/* Borrows the model until freed.  TRL_ENOMEM, TRL_EINVAL for a model of another kind. */
TRL_API trl_status trl_tagger_new(const trl_model *m, trl_tagger **out, trl_error *err);
TRL_API void trl_tagger_free(trl_tagger *t); /* accepts NULL */

/* Sets the decoding from the next answer on; the default is the model's.  A model whose factors
 * were calibrated against each other is decoded globally with its multipliers.  TRL_ENOMEM. */
TRL_API trl_status trl_tagger_set_decoding(trl_tagger *t, trl_decoding how, trl_error *err);

/* Loads a sequence, which is not borrowed.  A sequence of columns may have the label column of the
 * training data or not: it is ignored.  TRL_EPARSE (with the place) when a column that the template
 * uses is missing; TRL_EINVAL for a sequence of the other format or with no tokens; TRL_ENOMEM. */
TRL_API trl_status trl_tagger_set_rows(trl_tagger *t, const trl_rows *seq, trl_error *err);
TRL_API trl_status trl_tagger_set_items(trl_tagger *t, const trl_items *seq, trl_error *err);

/* Answers about the current sequence of n tokens.  Label numbers are the model's. */

/* The most probable labelling, and its score (natural log, up to log Z). */
TRL_API trl_status trl_tagger_viterbi(trl_tagger *t, uint32_t *labels, double *score,
                                      trl_error *err);

/* For every token the label of largest marginal; under a constraint (constraint.h) the labels, of
 * all labellings that obey, whose marginals have the largest sum.  As trl_tagger_marginals. */
TRL_API trl_status trl_tagger_posterior(trl_tagger *t, uint32_t *labels, trl_error *err);

/* The n best labellings, best first: labels[rank * n_tokens + position], their scores;
 * *found <= n. */
TRL_API trl_status trl_tagger_nbest(trl_tagger *t, size_t n, uint32_t *labels, double *scores,
                                    size_t *found, trl_error *err);

/* P(label at every position): p[position * n_labels + label].  TRL_EINVAL when the model's scores
 * are not log-probabilities (perceptron). */
TRL_API trl_status trl_tagger_marginals(trl_tagger *t, double *p, trl_error *err);

/* P(label before, label) of every two neighbours:
 * p[((position - 1) * n_labels + before) * n_labels + label] from position 1 on, (n_tokens - 1) *
 * n_labels^2 numbers.  As trl_tagger_marginals. */
TRL_API trl_status trl_tagger_pair_marginals(trl_tagger *t, double *p, trl_error *err);

/* log Z: a labelling's probability is exp(score - log_z).  As trl_tagger_marginals; TRL_ENUMERIC
 * when a score is beyond 1e9, where the difference has no digits left. */
TRL_API trl_status trl_tagger_log_z(trl_tagger *t, double *log_z, trl_error *err);

/* The score of a given labelling; -INFINITY when it does not obey the constraint. */
TRL_API trl_status trl_tagger_score(trl_tagger *t, const uint32_t *labels, double *score,
                                    trl_error *err);

/* A chunk of tokens [begin, end) (scheme.h), and how probable it is: summed over all labellings in
 * which it is a whole chunk of that type, and over those in which it is a whole chunk of any. */
typedef struct trl_tag_span {
    size_t begin, end;
    trl_str type; /* borrowed from the model */
    double p, boundaries;
} trl_tag_span;

/* The chunks of a labelling with their probabilities, in order: span[0 .. *n), at most one for each
 * token.  Exact, whatever the order and the decoding.  As trl_tagger_pair_marginals; TRL_EINVAL
 * also for a label that there is not. */
TRL_API trl_status trl_tagger_spans(trl_tagger *t, const uint32_t *labels, trl_tag_span *span,
                                    size_t *n, trl_error *err);

/* All spans whose probability is at least `least`, by where they begin and end, then by type:
 * (*out)[0 .. *n), borrowed from the tagger until its next spans.  TRL_EINVAL unless 0 < least
 * <= 1; as trl_tagger_pair_marginals. */
TRL_API trl_status trl_tagger_spans_above(trl_tagger *t, double least, const trl_tag_span **out,
                                          size_t *n, trl_error *err);

/* The entropy of the distribution over labellings, and of that over the labels of every token,
 * token[n_tokens] unless NULL: in nats, 0 where all is sure.  As trl_tagger_pair_marginals. */
TRL_API trl_status trl_tagger_entropy(trl_tagger *t, double *sequence, double *token,
                                      trl_error *err);

/* An attribute that is on at a token: trl_model_weights of it, times its value, is what it adds to
 * the scores of labels, of pairs or of triples there. */
typedef struct trl_contribution {
    trl_scope scope;
    uint32_t attribute; /* its number in that scope */
    trl_str name;       /* borrowed from the model */
    double value;
} trl_contribution;

/* The n attributes of a token that the model knows: those of labels first, then of pairs and
 * triples, in the order of the template or of the item; plain transitions are the last of their
 * scope.  Borrowed from the tagger until the next call.  The sequence is loaded as by
 * trl_tagger_set_rows and _set_items, and other questions may follow.  The contributions of all
 * tokens add up to the score of a labelling, as trl_tagger_score has it of a model that is decoded
 * globally without multipliers and has no temperature, by which that score is divided; what a
 * generative model (trl_model_info.has_q0) adds is not among them.  TRL_EINVAL also for a position
 * that there is not. */
TRL_API trl_status trl_tagger_explain_rows(trl_tagger *t, const trl_rows *seq, size_t position,
                                           const trl_contribution **out, size_t *n, trl_error *err);
TRL_API trl_status trl_tagger_explain_items(trl_tagger *t, const trl_items *seq, size_t position,
                                            const trl_contribution **out, size_t *n,
                                            trl_error *err);

TRL_API uint64_t trl_tagger_attributes(const trl_tagger *t); /* attributes looked up so far, */
TRL_API uint64_t trl_tagger_unknown(const trl_tagger *t); /* ... of which the model did not know */

TRL_END_DECLS

#endif
