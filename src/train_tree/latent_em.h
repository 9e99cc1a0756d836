/* latent_em.h -- learns the substates of states of a grammar (chart/latent.h) [MMT05, PBTK06].
 *
 * Every state has one substate at first.  Then, again and again, all substates of states that have
 * enough tokens are split in two halves that differ by a little noise, and EM over the given trees,
 * with sums over the substates of their nodes, makes them different:
 *
 *     E  c(A_x -> B_y C_z) = expected number of uses in all trees
 *     M  p(A_x -> B_y C_z) = (c(A_x -> B_y C_z) + b p(A -> B_y C_z)) / (c(A_x) + b)
 *
 * b pulls substates that few tokens have towards the mean of their state; words of a tag, likewise,
 * have a share of the mean of its substates.  The same numbers with any number of threads.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_LATENT_EM_H
#define TRL_LATENT_EM_H

#include "base/pool.h"
#include "chart/latent.h"

/* A tree of the grammar and its words. */
typedef struct trl_latent_tree {
    trl_btree tree;
    uint32_t *word, *class_; /* [words], of the lexicon; one block at word, owned */
} trl_latent_tree;
void trl_latent_tree_fini(trl_latent_tree *t);

/* Numbers of the nodes of a tree, and room for them. */
typedef struct trl_latent_scratch {
    float (*in)[TRL_LATENT_MOST], (*out)[TRL_LATENT_MOST]; /* [nodes] */
} trl_latent_scratch;

/* The log of the tree's probability by l, whose numbers of words are p(w | T_x) here; adds the
 * expected uses of every number to count[l->at.n].  -inf: it has none, and nothing is added. */
double trl_latent_count(const trl_latent *l, const trl_latent_tree *x, trl_latent_scratch *a,
                        float *count);

typedef struct trl_latent_options {
    unsigned most;       /* substates of a state at most */
    unsigned iterations; /* of EM after every split */
    double tokens;       /* of a state for each of its substates, at least */
    double prior;        /* b */
    double words;        /* share of the mean of all substates in p(w | T_x) */
    uint64_t seed;
    /* After every iteration: the log-likelihood of before it; NULL: nobody is told. */
    void (*tell)(void *ctx, unsigned most, unsigned iteration, double log_likelihood);
    void *ctx;
} trl_latent_options;
trl_latent_options trl_latent_options_default(void);

/* Learns l, whose g, x and pcfg are set.  TRL_ENOMEM, TRL_ECANCEL. */
trl_status trl_latent_learn(trl_latent *l, const trl_latent_tree *tree, size_t n,
                            const trl_latent_options *o, trl_pool *pool, trl_error *err);

#endif
