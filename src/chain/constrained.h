/* constrained.h -- private: the answers of a tagger under a constraint.
 *
 * Rules about neighbours and allowed labels are zeros of the score tables, and the engines of
 * chain.h answer: that is the fast way.  Where automata are needed, a lattice answers
 * (label_lattice.h), and for the best labelling of a chain of order 1 rows of labels
 * (label_best.h).  The best labellings are looked for under no automaton first, then under those
 * that the labellings found offend, until none does: what is best under fewer rules and obeys all
 * is best under all.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_CONSTRAINED_H
#define TRL_CONSTRAINED_H

#include "chain/label_best.h"
#include "chain/tagger_parts.h"

/* What a tagger has for it; NULL: no rules, nothing said about tokens. */
struct trl_constrained {
    const trl_constraint *c; /* borrowed, or own */
    trl_constraint *own;     /* without rules, or with those of the model */
    bool has_rules;          /* c has any */
    trl_chain chain, rows;   /* those of the tagger with forbidden pairs; L = 0: not made */
    trl_chain flat;          /* of order 1, all scores 0, with them */
    bool *allowed;           /* [T][L] of the sequence */
    char *joint;             /* [T] */
    size_t allowed_cap, joint_cap;
    bool has_allowed, has_joint; /* of the current sequence */
    bool *tracked;               /* [c->n_automata] */
    trl_lattice lattice;
    trl_best_rows best;
    double *arc; /* of the lattice, their probabilities, in the arena, after sums with pairs
                          of labels were taken over it; else NULL */
};

/* Whether answers are other than without. */
bool trl_constrained_is_on(const trl_tagger *t);

/* A scored chain, and a tagger under whose rules its labellings are. */
typedef struct trl_constrained_ask {
    trl_tagger *t;
    const trl_chain *chain; /* without rules */
    const trl_tables *tables;
} trl_constrained_ask;

trl_status trl_constrained_nbest(const trl_constrained_ask *ask, const trl_chain_list *list,
                                 trl_error *err);
trl_status trl_constrained_viterbi(const trl_constrained_ask *ask, uint32_t *y, double *score,
                                   trl_error *err);

/* The labelling that obeys with the largest sum of p[t][stride], marginals of its labels. */
trl_status trl_constrained_posterior(trl_tagger *t, const double *p, uint32_t *y, trl_error *err);

trl_status trl_constrained_infer(const trl_constrained_ask *ask, int want, trl_chain_marginals *out,
                                 trl_error *err);

bool trl_constrained_obeys(const trl_tagger *t, const uint32_t *y);

/* A new sequence is set. */
void trl_constrained_reset(trl_tagger *t);
void trl_constrained_free(struct trl_constrained *x);

/* The rules that the model keeps, if any, for a new tagger.  TRL_EMODEL, TRL_ENOMEM. */
trl_status trl_constrained_by_model(trl_tagger *t, trl_error *err);

#endif
