/* prune.h -- which items a sentence's chart has: coarse to fine [CJ05], then only parts of complete
 * trees.
 *
 * Coarse: inside-outside with a small PCFG (no annotation, markov order 0); a fine state over a
 * span lives when the posterior of its coarse projection there is above a threshold, separately
 * before and after the unary rule.  With threshold 0 everything that the coarse grammar can build
 * lives, and nothing that the fine grammar can build is lost: the coarse grammar has a projection
 * of every fine rule.
 *
 * Filter [FKM08, 3.1]: a boolean inside-outside of the fine grammar drops what is part of no
 * complete tree.  It changes no sum.
 */
/* SPDX-License-Identifier: MIT */
#ifndef TRL_PRUNE_H
#define TRL_PRUNE_H

#include "base/store.h"
#include "chart/chart.h"
#include "grammar/lexicon.h"

/* A PCFG: scores of a grammar's rules and words.  Borrowed, except for the arrays it makes. */
typedef struct trl_pcfg {
    const trl_grammar *g;
    const trl_lexicon *x;
    double *binary_exp; /* [n_binary] */
    double *unary;      /* [n_unary], log */
    uint32_t *no_class; /* [n_binary]: all 0 */
} trl_pcfg;

trl_status trl_pcfg_init(trl_pcfg *p, const trl_grammar *g, const trl_lexicon *x, trl_error *err);
void trl_pcfg_fini(trl_pcfg *p);

/* A grammar and the lexicon of its tags. */
typedef struct trl_words_grammar {
    const trl_grammar *g;
    const trl_lexicon *x;
} trl_words_grammar;

/* Every possible item: tags of the lexicon over single words, every phrase and active state over
 * spans.  logp (may be NULL) gets log p(word | tag) of the tag items.  In the arena. */
trl_status trl_skeleton_full(const trl_words_grammar *by, const trl_words *w, trl_skeleton *s,
                             double **logp, trl_arena *arena, trl_error *err);

/* Runs the PCFG over a full skeleton: chart with inside and outside, in the arena; chart->log_z may
 * be -inf. */
trl_status trl_pcfg_chart(const trl_pcfg *p, const trl_skeleton *s, double *logp, trl_chart *chart,
                          trl_arena *arena, trl_error *err);

/* The fine states of each coarse state.  A tag that nothing projects to has no entry. */
typedef struct trl_coarse_map {
    uint32_t *first; /* [coarse states + 1] */
    uint32_t *state; /* fine states by coarse state */
    size_t n_fine;   /* fine states */
} trl_coarse_map;

trl_status trl_coarse_map_init(trl_coarse_map *m, const trl_grammar *fine,
                               const trl_grammar *coarse, trl_error *err);
void trl_coarse_map_fini(trl_coarse_map *m);

/* The items of a chart, after trl_chart_outside, whose posterior is above the threshold, separately
 * before and after the unary rule.  In the arena. */
trl_status trl_prune_chart(const trl_chart *c, double threshold, trl_skeleton *out,
                           trl_arena *arena, trl_error *err);

/* Adds the items of a tree that are missing.  Result in the arena. */
trl_status trl_skeleton_add_tree(trl_skeleton *s, const trl_btree *tree, trl_arena *arena,
                                 trl_error *err);

/* Drops items, and TRL_BEFORE and TRL_AFTER marks, that are part of no complete tree; in place.
 * *complete is false (and nothing is dropped) when there is no tree at all.  Scratch in the arena.
 */
trl_status trl_filter(const trl_grammar *g, trl_skeleton *s, bool *complete, trl_arena *arena,
                      trl_error *err);

/* A copy, one block at out->first: in the store, or (NULL) on the heap, to be released with
 * trl_free(out->first).  TRL_ENOMEM. */
trl_status trl_skeleton_copy(const trl_skeleton *s, trl_store *store, trl_skeleton *out,
                             trl_error *err);

#endif
