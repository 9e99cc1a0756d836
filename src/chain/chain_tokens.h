/* chain_tokens.h -- private: memm, piecewise-nota and pseudolikelihood token by token, in single
 * precision.
 *
 * Where only nodes depend on the position, a term of these objectives (local_term.h) needs the
 * token's node scores and one row of shared scores, its source's: the order of the tokens does not
 * matter, and the training loop chooses one that suits the features (train/task.h).  Rows of
 * sources are numbered
 *
 *     0                     START
 *     1 + y'                the label before
 *     1 + L + y'' L + y'    the two labels before
 *
 * In the pseudolikelihood (order 1) a token's source is both neighbours, a (L + 1) + b with a, b =
 * 0 where there is none and the label + 1 else; its row is edge(y', .) + edge(., y'').
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CHAIN_TOKENS_H
#define TRL_CHAIN_TOKENS_H

#include "chain/chain.h"
#include "chain/nota_instances.h"
#include "feature/corpus.h"
#include "train/task.h"

typedef struct trl_chain_tokens {
    bool both;                    /* sources are both neighbours */
    size_t n, n_sources, n_lanes; /* n = 0: nothing arranged */
    uint32_t *which;              /* [n] row of the gold source */
    uint32_t *gold;               /* [n] */
    float *weight;                /* [n]; NULL: all 1 */
    float *source;                /* [n_sources][stride] scores */
    float **sums;                 /* [n_lanes][n_sources][stride] their adjoints */

    /* NOTA instances, by position. */
    bool any;          /* of the corpus */
    uint64_t *more;    /* [n + 1] where those of a position begin; NULL: none */
    uint32_t *more_at; /* position */
    uint32_t *more_of; /* row of the wrong source */
} trl_chain_tokens;

/* True when the objective can be evaluated this way and there are few enough sources and NOTA
 * instances for it to be the fastest. */
bool trl_chain_tokens_serve(const trl_chain *c, const trl_objective *o, const trl_nota *nota);

/* What the tokens are of; n_lanes at most are used. */
typedef struct trl_tokens_source {
    const trl_objective *o;
    const trl_corpus *corpus;
    const trl_nota *nota;
    size_t n_lanes;
} trl_tokens_source;

/* Sets the order of the tokens and the instances (NULL: none) for the evaluations that follow.
 * TRL_ENOMEM. */
trl_status trl_chain_tokens_arrange(trl_chain_tokens *k, const trl_chain *c,
                                    const trl_tokens_source *from, size_t n, const uint32_t *token,
                                    trl_error *err);
void trl_chain_tokens_fini(trl_chain_tokens *k);

/* Sets the shared scores from a prepared chain; does nothing when n is 0. */
void trl_chain_tokens_prepare(trl_chain_tokens *k, const trl_chain *c);

/* Whose sums and whose scratch an evaluation uses. */
typedef struct trl_tokens_work {
    size_t lane;
    trl_arena *arena;
} trl_tokens_work;

/* The value of a block, its adjoint, and the sums of `lane`.  TRL_ENUMERIC for NaN or +inf among
 * the scores, TRL_ENOMEM. */
trl_status trl_chain_tokens_evaluate(trl_chain_tokens *k, const trl_chain *c,
                                     const trl_tokens_work *work, const trl_token_block *b,
                                     double *value, trl_error *err);

/* Adds the lane's sums to the shared adjoints, and clears them. */
void trl_chain_tokens_finish(trl_chain_tokens *k, const trl_chain *c, size_t lane,
                             trl_tables *adjoint);
void trl_chain_tokens_clear(trl_chain_tokens *k, const trl_chain *c, size_t lane);

#endif
