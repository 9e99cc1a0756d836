/* tree_mest.h -- M-estimation of tree models with the PCFG as q0 [SVL07].
 *
 *     minimise (1/n) sum_i exp(-w . f_i) + w . E_q0[f] + c2 ||w||^2          (c2 = 1 / (2 c))
 *
 * f_i counts the features of gold tree i.  Decoding: log q0 + w . f (TRL_SCORING_PCFG).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_MEST_H
#define TRL_TREE_MEST_H

#include "base/rng.h"
#include "mest/obj_mest.h"
#include "parser/tree_model.h"
#include "train_tree/tree_task.h"

typedef struct trl_tree_expect_options {
    size_t samples;   /* trees drawn for features without a closed form; 0: none */
    size_t max_words; /* longer samples are drawn again */
    uint64_t seed;
    trl_pool *pool;
} trl_tree_expect_options;

typedef struct trl_tree_expect_report {
    double mass, length; /* of the PCFG (pcfg_expect.h) */
    size_t rejected;     /* samples that were too long */
    size_t sampled;      /* families that needed samples */
} trl_tree_expect_report;

/* Samples are drawn in blocks, each with its own random numbers. */
#define TRL_SAMPLE_BLOCK 250
static inline trl_rng trl_sample_rng(uint64_t seed, size_t block)
{
    return trl_rng_seed(seed * 1000003u + block);
}

/* E[trl_tree_weights] of the model's features, per tree: exactly for rules, for families of a tag
 * and its own word, of unary rules alone, and of unary rules over a tag and its word; by samples
 * for all else.  Any number of threads gives the same bits.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_tree_expect(const trl_tree_model *m, const trl_tree_expect_options *o, double *E,
                           trl_tree_expect_report *report, trl_error *err);

/* Examples. */
typedef struct trl_tree_examples {
    const trl_tree_example *example;
    size_t n;
} trl_tree_examples;

/* The objective over the examples' gold trees, E [trl_tree_weights] being borrowed with the
 * pool.  Training needs no charts and no feature look-ups
 * after this.  TRL_EINVAL, TRL_ENOMEM. */
trl_status trl_tree_mest_new(const trl_tree_features *f, const trl_tree_examples *x,
                             const double *E, trl_pool *pool, trl_mest **out, trl_error *err);

#endif
