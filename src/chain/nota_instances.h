/* nota_instances.h -- which wrong sources get a none-of-the-above instance (obj_nota.c), for a
 * corpus.
 *
 *     all             every wrong source: exhaustive
 *     sample:P        each wrong source with probability P; the same ones for the same seed
 *     marginal:T@K    after K iterations: those with P(source of t = q | x) > T under the weights
 *                     at that point, by joint inference
 *
 * The sets are fixed until they are made again.  Stored as one bit per source and token (L bits,
 * rounded up to words, or L^2 in order 2); `all` needs no bits.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_NOTA_H
#define TRL_NOTA_H

#include "base/pool.h"
#include "chain/objective.h"
#include "feature/corpus.h"
#include "feature/design.h"

typedef enum trl_nota_method { TRL_NOTA_ALL, TRL_NOTA_SAMPLE, TRL_NOTA_MARGINAL } trl_nota_method;

typedef struct trl_nota_options {
    trl_nota_method method;
    double p;       /* sample: 0 < p <= 1 */
    double theta;   /* marginal: 0 <= theta < 1; 0.2 */
    uint64_t after; /* marginal: iterations before the selection; 20 */
} trl_nota_options;

/* `all`, `sample:P`, `marginal`, `marginal:THETA`, `marginal:THETA@K`.  TRL_EINVAL with a sentence
 * and, as a hint, the valid forms; *out is then unchanged. */
trl_status trl_nota_parse(const char *text, trl_nota_options *out, trl_error *err);

#define TRL_NOTA_USUAL "marginal:0.2@20" /* the default; docs/objectives.md has the measurement */

typedef struct trl_nota {
    size_t L, n_tokens;
    int order;
    bool all;
    size_t words;         /* per token */
    uint64_t *bits;       /* [n_tokens][words]; NULL with `all` or while there are none */
    uint64_t n_instances; /* pairs of a token and a wrong source */
} trl_nota;

/* No instances yet: the model is the MEMM.  `c` and its labels are only read now. */
void trl_nota_init(trl_nota *n, const trl_corpus *c, int order);
void trl_nota_fini(trl_nota *n);

/* Each replaces what was there; after a failure the old sets stand.  TRL_ENOMEM. */
void trl_nota_take_all(trl_nota *n, const trl_corpus *c);
trl_status trl_nota_take_sample(trl_nota *n, const trl_corpus *c, double p, uint64_t seed,
                                trl_error *err);

/* The weights that marginals are of. */
typedef struct trl_nota_weights {
    const trl_design *d;
    const double *w;
} trl_nota_weights;

/* Sources with a larger marginal are taken; local: of a locally normalised model. */
typedef struct trl_nota_threshold {
    double theta;
    bool local;
} trl_nota_threshold;

/* `local`: marginals of the locally normalised model, which is what the MEMM before the selection
 * is; else of the scores as one CRF.  One pass over the corpus. */
trl_status trl_nota_take_marginal(trl_nota *n, const trl_corpus *c, const trl_nota_weights *by,
                                  const trl_nota_threshold *least, trl_pool *pool, trl_error *err);

/* The view of the sequence that starts at token `from`.  Borrows. */
trl_nota_view trl_nota_at(const trl_nota *n, size_t from);

#endif
