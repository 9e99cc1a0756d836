/* reranker.h -- the second stage of parsing: one log-linear choice among candidates.
 *
 * The candidates of a sentence (candidates.h) are the outcomes of one choice: a table of scores
 * with one row and a cell for each tree,
 *
 *     score(t) = w . f(t) + v . said(t),       p(t) = exp(score(t)) / sum over the candidates,
 *
 * f(t) being the features of rerank_features.h and said(t) what the first stage says of it.  The
 * tree of a sentence then has the best expected brackets by
 *
 *     (1 - share) p(X, i, j) of the first stage + share (sum of p(t) over candidates with it).
 *
 * In a file: `rmeta`, one `meta` of reranker.c; `rheads`, the head rules as text; `rkeys`
 * u64[slots] and `rweights` f32[slots], the keys of features and their weights, open addressing as
 * of tree_index.h; `rtreecal`, what is told of p(t) (span_calibration.h).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_RERANKER_H
#define TRL_RERANKER_H

#include "parser/candidates.h"
#include "parser/rerank_features.h"
#include "parser/rerank_model.h"

#define TRL_RERANK_MOST 1000 /* trees in a list */

/* Scratch of one thread; zero-initialise. */
typedef struct trl_rerank_scratch {
    trl_rerank_features x;
    bool ready; /* x has been made */
    trl_rerank_keys keys;
    double *p; /* [candidates] */
    size_t cap;
} trl_rerank_scratch;
void trl_rerank_scratch_fini(trl_rerank_scratch *s);

/* p of the candidates of a sentence by m->reranker, in s->p.  TRL_ENOMEM; TRL_ENUMERIC when a score
 * is not finite.
 */
trl_status trl_rerank(const trl_tree_model *m, const trl_words *words, const trl_candidates *c,
                      trl_rerank_scratch *s, trl_error *err);

/* The tree with the best expected brackets when candidate k has the probability p[k], in
 * d->result.  Changes c->brackets.  TRL_ENOMEM. */
trl_status trl_rerank_tree_of(const trl_tree_model *m, double lambda, trl_candidates *c,
                              const double *p, trl_decoder *d, trl_error *err);

/* Scores to probabilities, in place; false: one is not finite. */
bool trl_rerank_softmax(double *score, size_t n);

#endif
