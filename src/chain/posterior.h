/* posterior.h -- what a distribution over labellings says of spans, and its entropy.
 *
 * The distribution comes as the joint probabilities of a state and the label after it, so that
 * chains of order 1 (states are labels) and 2 (pairs of labels), and chains under automata (nodes
 * of a lattice), are one case: a label leads from a state to exactly one other.
 *
 *     P(q at t-1, j at t) = joint[t][q L + j]        P(y_0 = j) = first[j]
 *
 * A *span* is a chunk (trellis/scheme.h): whether a label continues the chunk of the label before
 * depends on the two alone.  P of a span is the sum over all labellings in which it is a whole
 * chunk of that type: its first label does not continue, all others do, and what follows does not.
 * With r_t(q) = P(a chunk starts at b and is still open in state q at t)
 *
 *     r_b(q')     = sum of joint[b][q L + j] over q, j that lead to q', j not continuing q
 *     r_{t+1}(q') = sum of r_t(q) P(j | q) over q, j that lead to q', j continuing q
 *     P([b, e))   = sum_q r_{e-1}(q) P(no continuation | q)
 *
 * All probabilities are linear, entropies in nats.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_POSTERIOR_H
#define TRL_POSTERIOR_H

#include "chain/label_lattice.h"
#include "trellis/scheme.h"
#include "trellis/tagger.h"

/* All borrowed. */
typedef struct trl_posterior {
    size_t T, L, Q;         /* positions, labels, the most states of a position */
    const double *first;    /* [L] */
    const uint32_t *start;  /* [L] the state after label j at the first position */
    const size_t *states;   /* [T] how many there are at a position */
    const double **joint;   /* [T], from 1 on: [states[t - 1]][L] */
    const uint32_t **next;  /* [T], from 1 on: [states[t - 1]][L] the state at t after label j in
                               state q; any where its probability is 0 */
    const uint32_t **label; /* [T] [states[t]] the last label of a state */
} trl_posterior;

/* The distribution of a chain, in the arena, of marginals with TRL_WANT_EDGE_ROWS, which it
 * borrows.  TRL_ENOMEM. */
trl_status trl_posterior_of_chain(const trl_chain *c, const trl_chain_marginals *m, size_t T,
                                  trl_arena *arena, trl_posterior *out, trl_error *err);

/* The same of a lattice, of sums with `node` and `arc`, which it borrows.  TRL_ENOMEM. */
trl_status trl_posterior_of_lattice(const trl_lattice *g, const trl_lattice_sums *sums,
                                    trl_arena *arena, trl_posterior *out, trl_error *err);

/* Which labels make chunks, by their names. */
typedef struct trl_chunking {
    uint32_t *type; /* [L] the first label of the same type; TRL_NO_ID: outside of chunks */
    trl_str *name;  /* [L] the type's name, borrowed from the labels */
    size_t *begin;  /* [L + 1] into then */
    uint32_t *then; /* the labels that continue the chunk of label i, from begin[i] on */
    size_t L;
} trl_chunking; /* zero-initialise */

/* O(L^2).  TRL_ENOMEM. */
trl_status trl_chunking_init(trl_chunking *k, const trl_str *label, size_t L, trl_error *err);
void trl_chunking_fini(trl_chunking *k);

/* Receives spans: p is that of the span with its type, boundaries of the span with any type. */
typedef struct trl_span_taker {
    trl_status (*take)(void *ctx, const trl_tag_span *span, trl_error *err);
    void *ctx;
} trl_span_taker;

/* All spans of at least probability `least` > 0, by where they begin, then where they end, then by
 * type.  Exact: a start is given up where what is still open is below `least`.
 * O(T Q L) beside O(Q L) for a position that spans reach.  TRL_ENOMEM, and what `take` returns. */
trl_status trl_posterior_spans(const trl_posterior *p, const trl_chunking *k, double least,
                               trl_arena *arena, const trl_span_taker *to, trl_error *err);

/* The probabilities of the span [begin, end) with the type of label `type`, into span->p and
 * span->boundaries.  TRL_ENOMEM. */
trl_status trl_posterior_span(const trl_posterior *p, const trl_chunking *k, uint32_t type,
                              trl_arena *arena, trl_tag_span *span, trl_error *err);

/* H(y_0) + sum_t H(y_t | state at t-1): every term is >= 0, nothing cancels. */
double trl_posterior_entropy(const trl_posterior *p);

/* -sum p log p of n probabilities. */
double trl_entropy(const double *p, size_t n);

#endif
