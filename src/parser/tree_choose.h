/* tree_choose.h -- choices of chart edges (tree_local.h): sums, losses and their derivatives.
 *
 * A state's binary rules are summed as a whole, S(A) = sum of exp(binary[r]), once for given
 * weights, and then corrected for the few rules that have features on the words of the span
 * (rule_index.h):
 *
 *     sum of phi = exp(item[A]) (S(A) + sum over those of exp(binary[r]) (exp(edges[r]) - 1))
 *
 * and likewise the derivatives, whose common part is added at the end of a sentence.  Where the
 * correction cancels nearly all of S(A), the rules are summed one by one instead.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_TREE_CHOOSE_H
#define TRL_TREE_CHOOSE_H

#include "parser/rule_index.h"
#include "parser/tree_local.h"

/* What the sentences of a treebank share; borrowed except state_sum. */
typedef struct trl_chooser_shared {
    const trl_tree_features *f;
    const trl_expansions *x;
    const trl_rule_index *lists;
    double *state_sum; /* [n_states]: S(A) */
} trl_chooser_shared;

/* lists: the rule index of f with all its features.  TRL_ENOMEM. */
trl_status trl_chooser_shared_init(trl_chooser_shared *s, const trl_tree_features *f,
                                   const trl_expansions *x, const trl_rule_index *lists,
                                   trl_error *err);
void trl_chooser_shared_fini(trl_chooser_shared *s);

/* For new weights. */
void trl_chooser_shared_prepare(trl_chooser_shared *s, const double *binary_exp);

/* The rules of a state with features at the first word (anchor 0) or the last (1) of spans. */
typedef struct trl_chooser_row {
    size_t place;             /* in memo[anchor] */
    size_t first;             /* rule[first] ... */
    uint32_t n, slot, anchor; /* ga->slot[slot] ... */
} trl_chooser_row;

/* Scratch of one thread; zero-initialise. */
typedef struct trl_chooser {
    const trl_chooser_shared *s;
    trl_tree_gather *ga;
    uint32_t *memo[2]; /* [n + 1][n_states]: row + 1; all 0 between sentences */
    size_t cap_memo;
    trl_chooser_row *row;
    size_t n_rows, cap_rows;
    uint32_t *rule; /* of rows */
    double *factor; /* exp of their slots' scores */
    size_t n_rules, cap_rules, cap_factors;
    trl_listed *found, *merged; /* while a row or a set of unary rules is made */
    size_t cap_found, cap_merged;
    double *mass;    /* [n_states]: part common to a state's binary rules; 0 between sentences */
    uint32_t *state; /* [n_states]: those with mass */
    size_t n_state;
    double *score; /* of unary choices */
    uint32_t *slot;
    size_t cap_score, cap_slot;
} trl_chooser;
void trl_chooser_fini(trl_chooser *c);

/* Begins a sentence, of which ga has the items' scores (at least: trl_tree_gather_items).
 * TRL_ENOMEM. */
trl_status trl_chooser_begin(trl_chooser *c, const trl_chooser_shared *s, trl_tree_gather *ga,
                             trl_error *err);

/* One choice of an item over (i, j) that is not a tag.  Adds -log p to *loss and, when there is an
 * adjoint in ga, its derivatives, which are complete after _end.  `nota`: NOTA is among the
 * choices.  TRL_ENOMEM, TRL_ENUMERIC. */
enum { TRL_CHOOSE_BINARY, TRL_CHOOSE_UNARY, TRL_CHOOSE_NOTA };

typedef struct trl_choice {
    uint32_t item, rule; /* rule: of the first two */
    size_t i, j;
    int what;
    bool nota;
} trl_choice;
trl_status trl_tree_choose(trl_chooser *c, const trl_choice *x, double *loss, trl_error *err);

void trl_chooser_end(trl_chooser *c);

/* A state over the span i .. j and the score of its item. */
typedef struct trl_choose_at {
    uint32_t a;
    double item;
    size_t i, j;
} trl_choose_at;

/* log of the sum over the rules of state a over (i, j), without NOTA; `item`: the score of the
 * item. TRL_ENOMEM. */
trl_status trl_chooser_sum(trl_chooser *c, const trl_choose_at *at, double *log_z, trl_error *err);

/* tree_tables.c: turns gathered scores (ga->t) into logs of the probabilities of choices, without
 * NOTA; those of tags into 0.  TRL_ENOMEM, TRL_ENUMERIC. */
trl_status trl_tree_local_tables(trl_tree_gather *ga, const trl_expansions *x,
                                 const trl_rule_index *lists, trl_arena *arena, trl_error *err);

#endif
