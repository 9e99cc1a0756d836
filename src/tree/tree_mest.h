/* tree_mest.h -- M-estimation of tree models with the PCFG as q0 [SVL07].
 *
 *     minimise (1/n) sum_i exp(-w . f_i) + w . E_q0[f] + c2 ||w||^2          (c2 = 1 / (2 c))
 *
 * f_i counts the features of gold tree i.  Decoding: log q0 + w . f (TRL_SCORING_PCFG).
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_MEST_H
#define TRL_TREE_MEST_H

#include "train/optimizer.h"
#include "tree/tree_model.h"

typedef struct trl_tree_expect_options {
    size_t   samples;   /* trees drawn for what has no closed form; 0: none */
    size_t   max_words; /* longer samples are drawn again */
    uint64_t seed;
} trl_tree_expect_options;

typedef struct trl_tree_expect_report {
    double mass, length; /* of the PCFG (pcfg_expect.h) */
    size_t rejected;     /* samples that were too long */
    size_t sampled;      /* families that needed samples */
} trl_tree_expect_report;

/* E[trl_tree_weights] of the model's features, per tree: exactly for rules, for families of a tag and
 * its own word, of unary rules alone, and of unary rules over a tag and its word; by samples for all
 * else.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_tree_expect(const trl_tree_model *m, const trl_tree_expect_options *o, double *E,
                           trl_tree_expect_report *report, trl_error *err);

/* inner(w) + w . E as a function; both are borrowed. */
typedef struct trl_mest_function {
    trl_function  inner;
    const double *E;
} trl_mest_function;
trl_function trl_tree_mest_function(trl_mest_function *f);

#endif
