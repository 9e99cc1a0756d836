/* pcfg_expect.h -- the exact expected number of uses of a PCFG's states and rules per tree, and
 * sampling trees [SVL07, 4].
 *
 * Inside: the probability that a state makes a finite tree, at the two levels of chart.h,
 *
 *     ib(A) = sum over A -> B C of p ia(B) ia(C)         ib(tag) = 1
 *     ia(A) = ib(A) + sum over A -> B of p ib(B)
 *
 * the smallest solution, by iteration from 0.  ia(root) is the mass of all trees, 1 when the
 * grammar is tight.  Ours is slightly deficient: the child of a unary rule must not take another
 * one, while the probabilities of its rules, including unary ones, sum to 1, so that mass is lost
 * there; and mass may be lost in infinite trees.  All that follows is for the distribution over
 * finite trees, that is, for the PCFG with
 *
 *     stay(A) = ib(A) / ia(A)
 *     p'(A -> B) = p ib(B) / ia(A)
 *     p'(A -> B C) = p ia(B) ia(C) / ib(A)
 *
 * which is proper and tight.  Outside: the expected number of A's per tree,
 *
 *     na(B) = [B is the root] + sum over A -> B C, A -> C B of nb(A) p'
 *     nb(B) = na(B) stay(B) + sum over A -> B of na(A) p'
 *
 * a sparse linear system whose matrix I - P^T is an M-matrix: Gauss-Seidel converges whenever the
 * expectations are finite.  The same system with left children only gives the numbers at the start
 * of a sentence.
 *
 * Words: p(word | tag) by relative frequency.  (The smoothed lexicon is not a distribution over
 * words.)
 *
 * [SVL07] Smith, Vail, Lafferty. Computationally efficient M-estimation of log-linear structure
 *         models. ACL 2007.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PCFG_EXPECT_H
#define TRL_PCFG_EXPECT_H

#include "base/rng.h"
#include "chart/prune.h"
#include "parser/tree_local.h"

typedef struct trl_pcfg_expect {
    const trl_grammar *g; /* borrowed, with the lexicon and expansions */
    const trl_lexicon *x;
    const trl_expansions *e;
    double *in_before, *in_after;       /* [n_states] */
    double *stay, *binary, *unary;      /* p' of [n_states], [n_binary], [n_unary] */
    double *before, *after;             /* [n_states]: expected numbers */
    double *first_before, *first_after; /* of them, at the first word */
    uint32_t *word_first, *word;        /* by tag state: word[word_first[t] ...] */
    double *word_p, *word_sum;          /* p(word | tag); running sums */
    double mass;                        /* ia(root) */
    double length;                      /* expected words per tree */
} trl_pcfg_expect;

/* TRL_ENOMEM; TRL_ENUMERIC when the grammar has no finite tree or an infinite expectation. */
trl_status trl_pcfg_expect_init(trl_pcfg_expect *p, const trl_pcfg *pcfg, const trl_expansions *e,
                                trl_error *err);
void trl_pcfg_expect_fini(trl_pcfg_expect *p);

/* Trees of more words are rejected and counted; the words go to word[max_words]. */
typedef struct trl_pcfg_draw {
    size_t max_words;
    uint32_t *word;
    size_t *rejected;
} trl_pcfg_draw;

/* A tree over states and its words (ids of the lexicon).  Trees of more than max_words words are
 * discarded and drawn again; *rejected counts them.  So trees come from the distribution restricted
 * to at most max_words words.  word: room for max_words.  TRL_ENOMEM. */
trl_status trl_pcfg_sample(const trl_pcfg_expect *p, trl_rng *rng, const trl_pcfg_draw *draw,
                           trl_btree *out, trl_error *err);

#endif
